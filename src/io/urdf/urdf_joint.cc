#include <fmt/format.h>

#include <array>
#include <numbers>
#include <unordered_map>

#include "io/text.h"
#include "io/urdf/urdf_codes.h"
#include "io/urdf/urdf_reader.h"

namespace kansetsu::io::urdf {
namespace {

struct TypeName {
  std::string_view name;
  JointType type;
};
constexpr TypeName kStandardTypes[] = {{"revolute", JointType::kRevolute},   {"continuous", JointType::kRevolute},
                                       {"prismatic", JointType::kPrismatic}, {"fixed", JointType::kFixed},
                                       {"floating", JointType::kFree},       {"planar", JointType::kPlanar}};
constexpr TypeName kDrakeTypes[] = {
    {"ball", JointType::kBall}, {"universal", JointType::kUniversal}, {"screw", JointType::kHelical}};

template <std::size_t n>
std::optional<JointType> find_type(const TypeName (&table)[n], std::string_view name) {
  for (const TypeName& row : table) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

bool has_axis(JointType type) {
  return type != JointType::kFixed && type != JointType::kBall && type != JointType::kBallZyx &&
         type != JointType::kFree;
}

std::string read_link_name(Reader& reader, const Element& element, const char* tag) {
  const Element* child = element.FirstChildElement(tag);
  if (!child) {
    report_missing(reader.report, element, fmt::format("<{}>", tag), fmt::format("write <{} link=\"…\"/>", tag));
    return {};
  }
  check_element(reader.report, *child, {"link"});
  return read_required_text(reader.report, *child, "link").value_or("");
}

Vec3<> read_axis(Reader& reader, const Element& element) {
  const Vec3<> standard{1, 0, 0};
  const Element* child = element.FirstChildElement("axis");
  if (!child) return standard;
  check_element(reader.report, *child, {"xyz"});
  Vec3<> axis = standard;
  read_vec3(reader.report, *child, "xyz", axis);
  if (norm(axis) >= 1e-9) return axis;  // shorter: a rounded zero
  reader.report.error(*child, kZeroAxis, fmt::format("axis is the zero vector ({} {} {})", axis.x, axis.y, axis.z),
                      "give a direction, e.g. xyz=\"0 1 0\"; it is normalised on load");
  return standard;
}

void read_one_dof_limit(Reader& reader, const Element& limit, const JointDescription& joint, DofDescription& dof) {
  read_limit(reader, limit, "effort", dof.effort);
  read_limit(reader, limit, "velocity", dof.velocity);
  double lower = 0, upper = 0;  // URDF's default
  const bool has_lower = read_limit(reader, limit, "lower", lower);
  const bool has_upper = read_limit(reader, limit, "upper", upper);
  if (!has_lower && !has_upper) return;
  if (!joint.continuous) {
    dof.lower = lower;
    dof.upper = upper;
  } else if (lower < upper) {
    reader.report.repeated_warning(limit, kUnused, "lower and upper of a continuous joint are not used");
  }
}

void read_limits(Reader& reader, const Element& element, JointDescription& joint) {
  const Element* limit = element.FirstChildElement("limit");
  const bool one_dof = joint.dofs.size() == 1;
  if (limit) {
    check_element(reader.report, *limit, {"lower", "upper", "effort", "velocity"});
    if (one_dof) {
      read_one_dof_limit(reader, *limit, joint, joint.dofs[0]);
    } else if (!joint.dofs.empty()) {
      reader.report.repeated_warning(*limit, kUnused, "<limit> of a joint with several coordinates is not used",
                                     "give limits by <kansetsu><dof index=\"…\" lower=\"…\" upper=\"…\"/></kansetsu>");
    }
  }
  const bool stated = limit && (limit->Attribute("lower") || limit->Attribute("upper"));
  if (one_dof && !joint.continuous && !stated && !element.FirstChildElement("mimic")) {
    reader.report.repeated_warning(element, kNoLimit,
                                   fmt::format("{} joint has no lower and upper limit", info(joint.type).name),
                                   "it moves without limits; for a joint without limits write type=\"continuous\"");
  }
}

/// One number for all coordinates of the joint, or one per coordinate.
void read_dof_numbers(Reader& reader, const Element& element, const char* attribute, JointDescription& joint,
                      double DofDescription::* member) {
  const char* text = element.Attribute(attribute);
  if (!text || joint.dofs.empty()) return;
  std::array<double, 6> values{};
  const bool one = count_words(text) == 1;
  if (!read_numbers(reader.report, element, attribute, std::span(values).first(one ? 1 : joint.dofs.size()))) return;
  for (std::size_t i = 0; i < joint.dofs.size(); ++i) joint.dofs[i].*member = values[one ? 0 : i];
}

void read_dynamics(Reader& reader, const Element& element, JointDescription& joint) {
  const Element* dynamics = element.FirstChildElement("dynamics");
  if (!dynamics) return;
  check_element(reader.report, *dynamics, {"damping", "friction"});
  read_dof_numbers(reader, *dynamics, "damping", joint, &DofDescription::damping);
  read_dof_numbers(reader, *dynamics, "friction", joint, &DofDescription::friction);
}

void read_mimic(Reader& reader, const Element& element, const JointDescription& joint) {
  const Element* mimic = element.FirstChildElement("mimic");
  if (!mimic) return;
  check_element(reader.report, *mimic, {"joint", "multiplier", "offset"});
  if (joint.type == JointType::kFixed)
    return reader.report.repeated_warning(*mimic, kUnused, "<mimic> of a fixed joint is ignored",
                                          "a fixed joint does not move");
  Coupling coupling;
  coupling.line = mimic->GetLineNum();
  coupling.dependent.joint = joint.name;
  Coupling::Term term;
  read_number(reader.report, *mimic, "multiplier", term.ratio);
  read_number(reader.report, *mimic, "offset", coupling.offset);
  const auto other = read_required_text(reader.report, *mimic, "joint");
  if (!other) return;
  if (joint.dofs.size() > 1)
    return reader.report.error(*mimic, kMimic,
                               fmt::format("a {} joint has {} coordinates and cannot mimic another joint",
                                           info(joint.type).name, joint.dofs.size()),
                               "couple its coordinates one by one with <kansetsu><coupling>");
  term.dof.joint = *other;
  coupling.terms.push_back(std::move(term));
  reader.mimics.emplace_back(*other, mimic);
  reader.description.couplings.push_back(std::move(coupling));
}

/// Reads everything but the type.
void read_body(Reader& reader, const Element& element, JointDescription joint) {
  joint.line = element.GetLineNum();
  note_lines(reader, joint.line, element, {"parent", "child", "limit", "dynamics"});
  joint.name = read_required_text(reader.report, element, "name").value_or("");
  joint.socket = read_origin(reader, element);
  joint.parent = read_link_name(reader, element, "parent");
  joint.child = read_link_name(reader, element, "child");
  joint.dofs.resize(static_cast<std::size_t>(info(joint.type).nv));
  if (has_axis(joint.type)) joint.axis = read_axis(reader, element);
  read_limits(reader, element, joint);
  read_dynamics(reader, element, joint);
  read_mimic(reader, element, joint);
  if (const Element* extension = element.FirstChildElement("kansetsu")) read_joint_extension(reader, *extension, joint);
  reader.description.joints.push_back(std::move(joint));
}

}  // namespace

void read_joint(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"name", "type"},
                {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
                 "kansetsu"},
                {"gazebo"});
  JointDescription joint;
  if (const auto name = read_required_text(reader.report, element, "type")) {
    auto type = find_type(kStandardTypes, *name);
    if (!type) type = find_joint_type(*name);
    if (!type) {
      reader.report.error(element, kJointType, fmt::format("joint type {} is not known", quote(*name)),
                          "URDF has revolute, continuous, prismatic, fixed, floating and planar; "
                          "Kansetsu also helical, cylindrical, universal, ball and ball_zyx");
    }
    joint.type = type.value_or(JointType::kFixed);
    joint.continuous = *name == "continuous";
  }
  read_body(reader, element, std::move(joint));
}

void read_drake_joint(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"name", "type"},
                {"origin", "parent", "child", "axis", "limit", "dynamics", "drake:screw_thread_pitch"});
  JointDescription joint;
  if (const auto name = read_required_text(reader.report, element, "type")) {
    if (const auto type = find_type(kDrakeTypes, *name)) {
      joint.type = *type;
    } else if (find_type(kStandardTypes, *name)) {
      reader.report.error(element, kJointType, fmt::format("joint type {} is a standard one", quote(*name)),
                          "write <joint>, not <drake:joint>");
    } else {
      reader.report.error(element, kJointType,
                          fmt::format("joint type {} of <drake:joint> is not supported", quote(*name)),
                          "supported are ball, universal and screw");
    }
  }
  if (joint.type == JointType::kUniversal) joint.second_axis = {0, 1, 0};
  if (const Element* pitch = element.FirstChildElement("drake:screw_thread_pitch")) {
    double metres_per_turn = 0;
    read_required_number(reader.report, *pitch, "value", metres_per_turn);
    joint.pitch = metres_per_turn / (2 * std::numbers::pi);
  }
  read_body(reader, element, std::move(joint));
}

void check_mimics(Reader& reader) {
  std::unordered_map<std::string_view, const JointTypeInfo*> types;
  for (const JointDescription& joint : reader.description.joints) types.emplace(joint.name, &info(joint.type));
  for (const auto& [name, element] : reader.mimics) {
    const auto found = types.find(name);
    if (found == types.end() || found->second->nv < 2) continue;
    reader.report.error(*element, kMimic,
                        fmt::format("joint {} is {} and has {} coordinates; <mimic> does not say which one",
                                    quote(name), found->second->name, found->second->nv),
                        "use <kansetsu><coupling> with the index of the coordinate");
  }
}

}  // namespace kansetsu::io::urdf
