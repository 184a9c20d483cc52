#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/checks.h"
#include "model/joint_motion.h"

namespace kansetsu {
namespace {

/// Shorter than this no direction can be meant: what is left of a zero after arithmetic.
constexpr double kShortestAxis = 1e-9;
/// Sine of the angle between two axes that are one: text rounding of six digits.
constexpr double kParallel = 1e-6;

std::string to_text(const Vec3<>& a) { return fmt::format("({}, {}, {})", a.x, a.y, a.z); }

void check_axes(const JointDescription& joint, Report& report) {
  const auto zero = [&](const char* name, const Vec3<>& axis) {
    if (!(norm(axis) < kShortestAxis)) return false;
    report.add(ModelCode::kZeroAxis, joint.line, joint_path(joint) + "/" + name,
               fmt::format("{} of joint '{}' is the zero vector {}", name, joint.name, to_text(axis)));
    return true;
  };
  const bool first_zero = uses_axis(joint, PrimitiveAxis::kAxis) && zero("axis", joint.axis);
  if (!uses_axis(joint, PrimitiveAxis::kSecondAxis)) return;
  const bool second_zero = zero("second_axis", joint.second_axis);
  if (first_zero || second_zero) return;
  if (norm(cross(joint.axis, joint.second_axis)) < kParallel * norm(joint.axis) * norm(joint.second_axis)) {
    report.add(ModelCode::kParallelAxes, joint.line, joint_path(joint) + "/second_axis",
               fmt::format("axes {} and {} of joint '{}' are parallel", to_text(joint.axis), to_text(joint.second_axis),
                           joint.name));
  }
}

void check_dof(const JointDescription& joint, int index, Report& report) {
  const DofDescription& dof = joint.dofs[std::size_t(index)];
  const std::string name = dof_name(joint, index);
  const auto non_negative = [&](ModelCode code, const char* what, double value) {
    if (value < 0) {
      report.add(code, joint.line, dof_path(joint, index),
                 fmt::format("{} of '{}' is negative: {}", what, name, value));
    }
  };
  non_negative(ModelCode::kNegativeDofData, "rotor inertia", dof.rotor_inertia);
  non_negative(ModelCode::kNegativeDofData, "damping", dof.damping);
  non_negative(ModelCode::kNegativeDofData, "friction", dof.friction);
  non_negative(ModelCode::kNegativeDofData, "stiffness", dof.stiffness);
  if (dof.velocity > -kInfinity) non_negative(ModelCode::kNegativeLimit, "velocity limit", dof.velocity);
  if (dof.effort > -kInfinity) non_negative(ModelCode::kNegativeLimit, "effort limit", dof.effort);
  if (dof.lower > dof.upper && dof.lower < kInfinity && dof.upper > -kInfinity) {
    report.add(ModelCode::kLowerAboveUpper, joint.line, dof_path(joint, index),
               fmt::format("lower limit {} of '{}' is above its upper limit {}", dof.lower, name, dof.upper));
  }
}

void check_dofs(const JointDescription& joint, Report& report) {
  const JointTypeInfo& type = info(joint.type);
  if (joint.dofs.size() > std::size_t(type.nv)) {
    report.add(ModelCode::kTooManyDofs, joint.line, joint_path(joint),
               fmt::format("joint '{}' ({}) has {} coordinates, but data for {}", joint.name, type.name, type.nv,
                           joint.dofs.size()));
  }
  for (int k = 0; k < int(joint.dofs.size()); ++k) check_dof(joint, k, report);
  const bool quaternion = type.nq != type.nv;
  const bool limited =
      std::ranges::any_of(joint.dofs, [](const auto& dof) { return dof.lower > -kInfinity || dof.upper < kInfinity; });
  if (quaternion && limited) {
    report.add(
        ModelCode::kLimitOfQuaternion, joint.line, joint_path(joint),
        fmt::format("joint '{}' ({}) has position limits on coordinates of its velocity", joint.name, type.name));
  }
}

void check_swing_twist(const JointDescription& joint, Report& report) {
  const SwingTwistLimit& limit = *joint.swing_twist;
  const std::string path = joint_path(joint) + "/swing_twist";
  if (joint.type != JointType::kBall && joint.type != JointType::kBallZyx) {
    report.add(ModelCode::kSwingTwistJoint, joint.line, path,
               fmt::format("joint '{}' is {}, which has no swing and twist", joint.name, info(joint.type).name));
    return;
  }
  // 1e-9 lets π written with ten digits pass.
  constexpr double kTurn = std::numbers::pi + 1e-9;
  const auto add = [&](const std::string& message) {
    report.add(ModelCode::kSwingTwistRange, joint.line, path, fmt::format("joint '{}': {}", joint.name, message));
  };
  const auto beyond = [](double x) { return std::isfinite(x) && std::abs(x) > kTurn; };
  if (limit.swing < 0 || beyond(limit.swing)) add(fmt::format("swing limit {} is outside 0…π", limit.swing));
  if (beyond(limit.twist_lower)) add(fmt::format("lower twist limit {} is outside −π…π", limit.twist_lower));
  if (beyond(limit.twist_upper)) add(fmt::format("upper twist limit {} is outside −π…π", limit.twist_upper));
  if (limit.twist_lower > limit.twist_upper) {
    add(fmt::format("lower twist limit {} is above the upper one, {}", limit.twist_lower, limit.twist_upper));
  }
}

}  // namespace

void check_joints(const ModelDescription& d, Report& report) {
  for (const JointDescription& joint : d.joints) {
    check_axes(joint, report);
    check_dofs(joint, report);
    if (joint.swing_twist) check_swing_twist(joint, report);
  }
  for (const Actuator& actuator : d.actuators) {
    if (!(actuator.effort < 0) || actuator.effort == -kInfinity) continue;
    report.add(ModelCode::kNegativeLimit, 0, fmt::format("actuator[{}]", actuator.name),
               fmt::format("effort limit of actuator '{}' is negative: {}", actuator.name, actuator.effort));
  }
}

}  // namespace kansetsu
