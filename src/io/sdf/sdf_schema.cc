#include <fmt/format.h>

#include <set>

#include "io/sdf/sdf_reader.h"
#include "io/text.h"
#include "io/xml_schema.h"

/// Which elements and attributes are honoured, have no effect on motion, or are missing. docs/formats/sdf.md lists the missing ones.
namespace kansetsu::io::sdf {
namespace {

constexpr std::string_view kAnyNumber =
    " model include frame joint link collision visual sensor light plugin gripper actor population road state "
    "joint_state light_state physics texture ";

constexpr ElementRule kSdfRules[] = {
    {"sdf", "version xmlns xmlns:xacro xmlns:gz xmlns:drake", "", "", "world model", "light", "actor"},
    {"world", "name", "", "", "gravity magnetic_field physics model include frame joint",
     "audio gui light scene spherical_coordinates atmosphere plugin", "wind actor road population state"},
    {"physics", "name default type", "", "", "max_step_size gravity magnetic_field",
     "real_time_factor real_time_update_rate max_contacts dart simbody bullet ode"},
    {"include", "placement_frame", "", "merge=false", "uri name pose placement_frame static", "plugin"},
    {"model", "name canonical_link placement_frame", "", "", "static self_collide pose link joint frame model include",
     "allow_auto_disable audio_sink", "enable_wind=false gripper plugin"},
    {"frame", "name attached_to", "", "", "pose"},
    {"link", "name", "", "", "pose inertial collision visual gravity self_collide",
     "must_be_base_link sensor light projector audio_source audio_sink battery particle_emitter",
     "kinematic=false velocity_decay enable_wind=false plugin"},
    {"pose", "relative_to frame degrees rotation_format", "", ""},
    {"inertial", "auto", "", "", "mass pose inertia density", "auto_inertia_params", "fluid_added_mass"},
    {"inertia", "", "", "", "ixx ixy ixz iyy iyz izz"},
    {"collision", "name", "", "", "pose geometry surface density max_contacts", "laser_retro auto_inertia_params", ""},
    {"visual", "name", "", "", "pose geometry material",
     "cast_shadows laser_retro transparency visibility_flags meta plugin"},
    {"material", "", "", "", "diffuse",
     "script shader render_order lighting ambient specular emissive double_sided pbr shininess"},
    {"geometry", "", "", "", "box sphere cylinder capsule ellipsoid plane mesh empty", "",
     "heightmap image polyline cone"},
    {"box", "", "", "", "size"},
    {"sphere", "", "", "", "radius"},
    {"cylinder", "", "", "", "radius length"},
    {"capsule", "", "", "", "radius length"},
    {"ellipsoid", "", "", "", "radii"},
    {"plane", "", "", "", "normal size"},
    {"mesh", "optimization", "", "", "uri scale convex_decomposition", "", "submesh"},
    {"surface", "", "", "", "friction bounce contact", "soft_contact"},
    {"friction", "", "", "", "ode:friction_ode bullet:friction_bullet torsional"},
    {"friction_ode", "", "", "", "mu mu2", "fdir1", "slip1=0 slip2=0"},
    {"friction_bullet", "", "", "", "friction friction2", "fdir1 rolling_friction"},
    {"torsional", "", "", "", "coefficient use_patch_radius patch_radius", "surface_radius ode"},
    {"bounce", "", "", "", "restitution_coefficient", "threshold"},
    {"contact", "", "", "", "collide_bitmask collide_without_contact",
     "category_bitmask poissons_ratio elastic_modulus collide_without_contact_bitmask ode bullet"},
    {"joint", "name type", "", "",
     "parent child pose axis axis2 thread_pitch screw_thread_pitch gearbox_ratio gearbox_reference_body",
     "physics sensor", "plugin"},
    {"axis", "", "", "", "xyz use_parent_model_frame limit dynamics mimic", "initial_position", ""},
    {"axis2", "", "", "", "xyz use_parent_model_frame limit dynamics mimic", "initial_position", ""},
    {"xyz", "expressed_in", "", ""},
    {"limit", "", "", "", "lower upper effort velocity", "stiffness dissipation"},
    {"dynamics", "", "", "", "damping friction spring_reference spring_stiffness"},
    {"mimic", "joint axis", "", "", "multiplier offset reference"},
};

const Schema& sdf_rules() {
  static const Schema kTable = make_schema(kSdfRules);
  return kTable;
}

/// Elements and attributes with a namespace are for other programs; Drake's may affect the motion.
bool is_foreign(std::string_view name) { return name.find(':') != std::string_view::npos; }

void tell_foreign(Reader& reader, const Element& child) {
  const std::string_view name = child.Name();
  if (!name.starts_with("drake:") || name == "drake:rotor_inertia" || name == "drake:gear_ratio") return;
  reader.report.missing(child, kUnsupportedElement, fmt::format("<{}> is not supported and ignored", tag_of(child)));
}

void check_attributes(Reader& reader, const Element& element, const SchemaRule& rule) {
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next()) {
    const auto entry = rule.attributes.find(std::string_view(a->Name()));
    if (entry == rule.attributes.end()) {
      if (is_foreign(a->Name())) continue;
      reader.report.missing(
          element, kUnknownAttribute,
          fmt::format("attribute {} of <{}> is not known and ignored", quote(a->Name()), tag_of(element)));
    } else if (entry->second.what == SchemaEntry::kMissing && !says_nothing(a->Value(), entry->second.other)) {
      reader.report.missing(
          element, kUnsupportedAttribute,
          fmt::format("attribute '{}' of <{}> is not supported and ignored", a->Name(), tag_of(element)));
    }
  }
}

}  // namespace

/// Recursion is limited by the depth of the XML documents.
void check_schema(Reader& reader, const Element& element, std::string_view kind) {
  const auto found = sdf_rules().find(kind);
  if (found == sdf_rules().end()) return;  // a value: text alone
  check_attributes(reader, element, found->second);
  std::set<std::string_view> seen;
  for (const Element* child = element.FirstChildElement(); child; child = child->NextSiblingElement()) {
    const std::string_view tag = child->Name();
    const auto entry = found->second.children.find(tag);
    if (entry == found->second.children.end()) {
      if (is_foreign(tag))
        tell_foreign(reader, *child);
      else
        reader.report.missing(*child, kUnknownElement,
                              fmt::format("<{}> in <{}> is not known and ignored", tag_of(*child), tag_of(element)));
      continue;
    }
    const bool many = kAnyNumber.find(" " + std::string(tag) + " ") != std::string_view::npos;
    if (!seen.insert(tag).second && !many)
      reader.report.missing(*child, kRepeated,
                            fmt::format("second <{}> in one <{}>; the first is used", tag_of(*child), tag_of(element)));
    const char* text = child->GetText();
    if (entry->second.what == SchemaEntry::kMissing && !says_nothing(text ? text : "", entry->second.other)) {
      reader.report.missing(*child, kUnsupportedElement, fmt::format("<{}> is not supported and ignored", tag));
    } else if (entry->second.what == SchemaEntry::kHonoured) {
      check_schema(reader, *child, entry->second.other.empty() ? tag : std::string_view(entry->second.other));
    }
  }
}

}  // namespace kansetsu::io::sdf
