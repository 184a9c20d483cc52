#include <fmt/format.h>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"
#include "io/xml_schema.h"

/// Which elements and attributes are honoured, have no effect on motion, or are missing. docs/formats/mjcf.md lists the missing ones.
namespace kansetsu::io::mjcf {
namespace {

constexpr std::string_view kBodyParts = "inertial joint freejoint geom site body frame attach";
constexpr std::string_view kBodyIdle = "camera light";
constexpr std::string_view kBodyMissing = "composite flexcomp plugin";
constexpr std::string_view kActuatorKinds =
    "general:actuator motor:actuator position:actuator velocity:actuator intvelocity:actuator damper:actuator "
    "cylinder:actuator muscle:actuator adhesion:actuator";
constexpr std::string_view kActuatorsMissing = "orientation pid dcmotor plugin";

constexpr ElementRule kRules[] = {
    {"mujoco", "model", "", "",
     "compiler option default asset worldbody equality:equality_section contact tendon:tendon_section "
     "actuator:actuators sensor keyframe",
     "size visual statistic custom", "deformable extension"},
    {"compiler",
     "angle coordinate eulerseq autolimits inertiafromgeom inertiagrouprange meshdir assetdir texturedir "
     "balanceinertia "
     "boundmass boundinertia settotalmass strippath fitaabb",
     "discardvisual usethread saveinertial savecompiled savecanonical passthrough conflict convexhull fusestatic",
     "alignfree=false exactmeshinertia=false", "", "lengthrange", ""},
    {"option", "timestep gravity integrator magnetic density viscosity wind",
     "cone jacobian solver iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance "
     "ccd_iterations "
     "ccd_tolerance mpr_iterations mpr_tolerance sdf_iterations sdf_initpoints apirate impratio sleep_tolerance "
     "o_margin o_solref "
     "o_solimp o_friction",
     "actuatorgroupdisable collision=all", "flag", "", ""},
    {"flag", "gravity contact constraint limit frictionloss spring damper passive equality actuation clampctrl",
     "warmstart autoreset diagexact energy eulerdamp fwdinv invdiscrete island midphase multiccd nativeccd refsafe "
     "sensor sleep ipc",
     "filterparent=enable override=disable"},
    {"default", "class", "", "",
     "default mesh material joint geom site pair equality tendon general:actuator motor:actuator position:actuator "
     "velocity:actuator "
     "intvelocity:actuator damper:actuator cylinder:actuator muscle:actuator adhesion:actuator",
     "texture camera light orientation pid dcmotor plugin", ""},
    {"asset", "", "", "", "mesh material model hfield", "texture skin", ""},
    {"hfield", "name file nrow ncol size elevation", "content_type", ""},
    {"mesh", "name class file scale vertex face inertia refpos refquat",
     "content_type smoothnormal maxhullvert texcoord normal material octree_maxdepth", "builtin=none params", "", "",
     "plugin"},
    {"material", "name class rgba texture",
     "texrepeat texuniform emission specular shininess reflectance metallic roughness", "", "", "layer", ""},
    {"model", "name file", "content_type", ""},
    {"worldbody", "name childclass", "", "", kBodyParts, kBodyIdle, kBodyMissing},
    {"body", "name childclass pos quat axisangle xyaxes zaxis euler mocap gravcomp", "user sleep fuse simple", "",
     kBodyParts, kBodyIdle, kBodyMissing},
    {"attach", "model body prefix", "", ""},
    {"frame", "name childclass pos quat axisangle xyaxes zaxis euler", "", "", kBodyParts, kBodyIdle, kBodyMissing},
    {"inertial", "pos quat axisangle xyaxes zaxis euler mass diaginertia fullinertia", "", ""},
    {"joint",
     "name class type pos axis stiffness damping range limited armature frictionloss ref springref springdamper "
     "actuatorfrcrange actuatorfrclimited margin",
     "group user", "actuatorgravcomp=false"},
    {"freejoint", "name", "group", "align=false"},
    {"geom",
     "name class type pos quat axisangle xyaxes zaxis euler size fromto mass density contype conaffinity condim group "
     "priority "
     "friction mesh rgba material shellinertia fitscale hfield margin fluidshape fluidcoef",
     "user solmix gap", "adhesion=0 surfacevel=0", "", "", "plugin"},
    {"site", "name class pos quat axisangle xyaxes zaxis euler fromto type size", "rgba group material user mesh", ""},
    {"contact", "", "", "", "pair exclude"},
    {"pair", "name class geom1 geom2 condim friction margin", "solreffriction gap", "adhesion=0"},
    {"exclude", "name body1 body2", "", ""},
    {"tendon_section", "", "", "", "spatial:tendon fixed:tendon"},
    {"tendon",
     "name class limited range frictionloss springlength stiffness damping actuatorfrcrange actuatorfrclimited width "
     "rgba margin",
     "group user material", "armature=0", "site:path_site geom:path_geom pulley joint:path_joint"},
    {"path_site", "site", "", ""},
    {"path_geom", "geom sidesite", "", ""},
    {"path_joint", "joint coef", "", ""},
    {"pulley", "divisor", "", ""},
    {"equality_section", "", "", "", "connect weld joint:equality_joint tendon:equality_tendon", "",
     "flex flexvert flexstrain distance"},
    {"equality", "class active", "", ""},
    {"connect", "name class body1 body2 anchor site1 site2 active", "", ""},
    {"weld", "name class body1 body2 anchor relpose site1 site2 active", "torquescale", ""},
    {"equality_joint", "name class joint1 joint2 polycoef active", "", ""},
    {"equality_tendon", "name class tendon1 tendon2 polycoef active", "", ""},
    {"actuators", "", "", "", kActuatorKinds, "", kActuatorsMissing},
    {"actuator",
     "name class joint jointinparent tendon slidersite cranksite cranklength site refsite body gear ctrlrange "
     "ctrllimited forcerange "
     "forcelimited actrange actlimited lengthrange inheritrange kp kv dampratio timeconst tausmooth gaintype biastype "
     "dyntype "
     "gainprm biasprm dynprm actdim actearly range force scale lmin lmax vmax fpmax fvmax area diameter bias gain",
     "group user", "nsample=0 interp delay=0 damping=0 armature=0 ffrange velrange input"},
    {"keyframe", "", "", "", "key"},
    {"key", "name time qpos qvel ctrl act mpos mquat", "", ""},
};

const Schema& rules() {
  static const Schema kTable = make_schema(kRules);
  return kTable;
}

bool is_softness(std::string_view name) { return name.starts_with("solref") || name.starts_with("solimp"); }

class Checker {
 public:
  explicit Checker(Reader& reader) : reader_(reader) {}

  void check(const Element& element, std::string_view kind, const std::string& childclass, bool in_default) {
    const auto found = rules().find(kind);
    if (found == rules().end()) return;
    check_attributes(element, kind, found->second, childclass, in_default);
    std::string inner = childclass;
    if (const char* own = element.Attribute("childclass")) inner = own;
    for (const Element* child : children(reader_, element))
      check_child(*child, element, found->second, inner, in_default);
  }

 private:
  void check_child(const Element& child, const Element& parent, const SchemaRule& rule, const std::string& childclass,
                   bool in_default) {
    const std::string_view tag = child.Name();
    const auto entry = rule.children.find(tag);
    if (entry == rule.children.end()) {
      reader_.report.missing(child, kUnknownElement,
                             fmt::format("<{}> in <{}> is not known and ignored", tag_of(child), tag_of(parent)));
    } else if (entry->second.what == SchemaEntry::kMissing) {
      const bool part = tag == "composite" || tag == "flexcomp";
      reader_.report.missing(child, kUnsupportedElement, fmt::format("<{}> is not supported and ignored", tag),
                             part ? "save the compiled model with MuJoCo, which writes it out" : "");
    } else if (entry->second.what == SchemaEntry::kHonoured) {
      const std::string_view kind = entry->second.other.empty() ? tag : std::string_view(entry->second.other);
      check(child, kind, childclass, in_default || tag == "default");
    }
  }
  void check_attributes(const Element& element, std::string_view kind, const SchemaRule& rule,
                        const std::string& childclass, bool in_default) {
    for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next())
      check_attribute(element, rule, a->Name(), a->Value(), in_default);
    if (in_default) return;
    const AttributeMap* defaults = defaults_of(element, kind, childclass);
    if (!defaults) return;
    for (const auto& [name, value] : *defaults) {
      const auto entry = rule.attributes.find(name);
      if (entry == rule.attributes.end() || element.Attribute(name.c_str())) continue;
      if (entry->second.what == SchemaEntry::kMissing) check_attribute(element, rule, name, value.text, false);
    }
  }
  const AttributeMap* defaults_of(const Element& element, std::string_view kind, const std::string& childclass) const {
    std::string name = childclass.empty() ? "main" : childclass;
    if (const char* own = element.Attribute("class")) name = own;
    const DefaultClass* found = find_in(reader_.classes, name);
    return found ? find_in(found->kinds, kind) : nullptr;
  }

  void check_attribute(const Element& element, const SchemaRule& rule, std::string_view name, std::string_view value,
                       bool in_default) {
    const auto entry = rule.attributes.find(name);
    if (is_softness(name)) {
      reader_.report.repeated_warning(element, kSoftness, "solref and solimp are ignored",
                                      "contacts and constraints are rigid here");
    } else if (entry == rule.attributes.end()) {
      reader_.report.missing(
          element, kUnknownAttribute,
          fmt::format("attribute {} of <{}> is not known and ignored", quote(name), tag_of(element)));
    } else if (entry->second.what == SchemaEntry::kMissing && !in_default &&
               !says_nothing(value, entry->second.other)) {
      reader_.report.missing(element, kUnsupportedAttribute,
                             fmt::format("attribute '{}' of <{}> is not supported and ignored", name, tag_of(element)));
    }
  }

  Reader& reader_;
};

}  // namespace

void check_schema(Reader& reader, const Element& root) { Checker(reader).check(root, "mujoco", {}, false); }

}  // namespace kansetsu::io::mjcf
