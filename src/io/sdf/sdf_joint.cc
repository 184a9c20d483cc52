#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/sdf/sdf_numbers.h"
#include "io/sdf/sdf_reader.h"
#include "io/shapes.h"
#include "io/text.h"

namespace kansetsu::io::sdf {
namespace {

double not_negative(Reader& reader, const Element& element, const char* tag) {
  double x = 0;
  child_number(reader, element, tag, x);
  if (x >= 0 && std::isfinite(x)) return x;
  reader.report.error(element, kRange, fmt::format("<{}> is {}", tag, format_number(x)), "give zero or more");
  return 0;
}

void read_limits(Reader& reader, const Element& limit, JointKind kind, DofDescription& dof) {
  double lower = -kNoLimit, upper = kNoLimit, effort = -1, velocity = -1;
  child_number(reader, limit, "lower", lower);
  child_number(reader, limit, "upper", upper);
  child_number(reader, limit, "effort", effort);
  child_number(reader, limit, "velocity", velocity);
  if (lower > upper)
    reader.report.error(limit, kRange,
                        fmt::format("lower {} is above upper {}", format_number(lower), format_number(upper)),
                        "write the smaller number as <lower>");
  else if (kind != JointKind::kContinuous) {
    dof.lower = lower <= -kNoLimit ? -kInfinity : lower;
    dof.upper = upper >= kNoLimit ? kInfinity : upper;
  }
  if (effort >= 0) dof.effort = effort >= kNoLimit ? kInfinity : effort;
  if (velocity >= 0) dof.velocity = velocity >= kNoLimit ? kInfinity : velocity;
}

void read_mimic(Reader& reader, const Element& mimic, Axis& axis) {
  Axis::Mimic out;
  const auto joint = read_required_text(reader.report, mimic, "joint");
  if (!joint) return;
  out.joint = *joint;
  const char* which = mimic.Attribute("axis");
  if (which && std::string_view(which) == "axis2") out.axis = 1;
  child_number(reader, mimic, "multiplier", out.multiplier);
  child_number(reader, mimic, "offset", out.offset);
  child_number(reader, mimic, "reference", out.reference);
  axis.mimic = out;
}

/// Before SDF 1.5 axes are in the model's frame; then a flag decides, and since 1.7 expressed_in names a frame.
void read_axis(Reader& reader, const Element& e, int version, JointKind kind, Axis& axis) {
  axis.element = &e;
  axis.in_parent_model = version < 5;
  if (const auto flag = child_bool(reader, e, "use_parent_model_frame")) axis.in_parent_model = *flag;
  child_vec3(reader, e, "xyz", axis.xyz);
  if (const Element* xyz = find_child(e, "xyz"))
    axis.expressed_in = read_text(reader.report, *xyz, "expressed_in").value_or("");
  const double length = norm(axis.xyz);
  if (has_direction(length)) {
    axis.xyz = (1 / length) * axis.xyz;
  } else {
    reader.report.error(e, kRange, "the axis has no direction", "give a vector that is not zero");
    axis.xyz = {0, 0, 1};
  }
  if (const Element* limit = find_child(e, "limit")) read_limits(reader, *limit, kind, axis.dof);
  if (const Element* mimic = find_child(e, "mimic")) read_mimic(reader, *mimic, axis);
  const Element* dynamics = find_child(e, "dynamics");
  if (!dynamics) return;
  axis.dof.damping = not_negative(reader, *dynamics, "damping");
  axis.dof.friction = not_negative(reader, *dynamics, "friction");
  axis.dof.stiffness = not_negative(reader, *dynamics, "spring_stiffness");
  child_number(reader, *dynamics, "spring_reference", axis.dof.rest);
}

/// Metres per radian, from screw_thread_pitch in metres per turn, or the older thread_pitch in negative radians per metre.
double read_pitch(Reader& reader, const Element& e) {
  double per_turn = 1, radians = 0;
  if (!child_number(reader, e, "screw_thread_pitch", per_turn) && child_number(reader, e, "thread_pitch", radians)) {
    if (std::abs(radians) > 1e-14 && std::isfinite(radians)) return -1 / radians;
    reader.report.error(e, kRange, "thread_pitch is zero", "write screw_thread_pitch, in metres per turn");
  }
  return per_turn / (2 * std::numbers::pi);
}

/// Drake's extension: the rotor inertia, scaled by the square of the gear ratio.
void read_rotor(Reader& reader, const Element& e, Joint& joint) {
  double gear = 1;
  child_number(reader, e, "drake:gear_ratio", gear);
  const double inertia = not_negative(reader, e, "drake:rotor_inertia") * gear * gear;
  if (std::isfinite(inertia)) joint.axes[0].dof.rotor_inertia = inertia;
}

}  // namespace

void read_joint(Reader& reader, const Element& element, Model& model) {
  const auto name = read_required_text(reader.report, element, "name"),
             type = read_required_text(reader.report, element, "type");
  if (!name || !type) return;
  const auto* kind = std::ranges::find(kJointWords, *type, &JointWord::word);
  if (kind == std::end(kJointWords))
    return reader.report.error(
        element, kKeyword, fmt::format("joints of type {} are not known", quote(*type)),
        "known: revolute, continuous, prismatic, fixed, ball, universal, revolute2, screw, gearbox");
  Joint joint;
  joint.name = *name;
  joint.element = &element;
  joint.kind = JointKind(kind - kJointWords);
  const auto parent = child_text(reader, element, "parent"), child = child_text(reader, element, "child");
  if (!parent) report_missing(reader.report, element, "<parent>", "name a link, or world");
  if (!child) report_missing(reader.report, element, "<child>", "name a link");
  if (!parent || !child) return;
  joint.parent = *parent, joint.child = *child;
  if (joint.parent == joint.child)
    return reader.report.error(element, kBadJoint, fmt::format("parent and child are both {}", quote(joint.parent)),
                               "a joint is between two links");
  const Element *first = find_child(element, "axis"), *second = find_child(element, "axis2");
  const bool two =
      joint.kind == JointKind::kUniversal || joint.kind == JointKind::kRevolute2 || joint.kind == JointKind::kGearbox;
  const bool one = two || (joint.kind != JointKind::kFixed && joint.kind != JointKind::kBall);
  if (one && !first) report_missing(reader.report, element, "<axis>", "give the direction");
  if (two && !second) report_missing(reader.report, element, "<axis2>", "give the second direction");
  if (first) read_axis(reader, *first, model.version, joint.kind, joint.axes[0]);
  if (second) read_axis(reader, *second, model.version, joint.kind, joint.axes[1]);
  if (joint.kind == JointKind::kScrew) joint.pitch = read_pitch(reader, element);
  if (joint.kind == JointKind::kGearbox) {
    child_number(reader, element, "gearbox_ratio", joint.gear_ratio);
    joint.gear_reference = child_text(reader, element, "gearbox_reference_body").value_or("");
  }
  read_rotor(reader, element, joint);
  model.joints.push_back(std::move(joint));
}

}  // namespace kansetsu::io::sdf
