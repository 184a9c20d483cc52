#include "ik/arm.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ik/limits.h"
#include "model/tree.h"

namespace kansetsu::ik {
namespace {

/// Bodies from the ground to the one that carries the link.
std::vector<int> chain_of(const Tree& tree, int body) {
  std::vector<int> chain;
  for (int i = body; i >= 0; i = tree.bodies[size_t(i)].parent) chain.insert(chain.begin(), i);
  return chain;
}

bool has_one_coordinate(const Tree& tree, const Body& b) {
  const CoordinateRow& row = tree.rows[size_t(b.u)];
  return row.end - row.begin == 1 && tree.terms[size_t(row.begin)].position >= 0;
}

ArmMotion motion_of(const Body& b) {
  if (b.kind == PrimitiveKind::kSlide) return ArmMotion::kSlideZ;
  return b.aligned_axis == 0 ? ArmMotion::kTurnX : b.aligned_axis == 1 ? ArmMotion::kTurnY : ArmMotion::kTurnZ;
}

ArmOffset offset_kind(const Vec3<>& p) {
  const int count = (p.x != 0) + (p.y != 0) + (p.z != 0);
  if (count == 0) return ArmOffset::kNone;
  if (count > 1) return ArmOffset::kAny;
  return p.x != 0 ? ArmOffset::kX : p.y != 0 ? ArmOffset::kY : ArmOffset::kZ;
}

/// Limits of the tree coordinate, and the interval of starting points: within them, or a turn or two metres about zero.
void set_limits(double lower, double upper, const Body& b, double ratio, double offset, ArmJoint& joint) {
  joint.lower = std::min(ratio * lower + offset, ratio * upper + offset);
  joint.upper = std::max(ratio * lower + offset, ratio * upper + offset);
  const double reach = b.kind == PrimitiveKind::kSlide ? 1.0 : std::numbers::pi;
  const bool low = std::isfinite(joint.lower), high = std::isfinite(joint.upper);
  joint.from = low ? joint.lower : high ? joint.upper - 2 * reach : offset - reach;
  joint.to = high ? joint.upper : joint.from + 2 * reach;
}

/// Steps 1/φ, 1/φ², … with φⁿ⁺¹ = φ + 1: the n-dimensional relative of the golden ratio, whose multiples stay far apart.
void set_strides(Arm& arm) {
  double phi = 1.5;
  for (int i = 0; i < 60; ++i) phi = std::pow(1 + phi, 1.0 / double(arm.joints.size() + 1));
  double stride = 1;
  for (ArmJoint& joint : arm.joints) joint.stride = stride /= phi;
}

}  // namespace

ArmView Arm::view() const {
  return {joints.data(), int(joints.size()), X_tool, offset_kind(X_tool.p), X_tool.R != Mat3<>::identity(), length,
          extent};
}

void Arm::from_model(const double* q, double* y) const {
  for (size_t k = 0; k < joints.size(); ++k) y[k] = ratio[k] * q[position[k]] + offset[k];
}

/// Clamped once more: the way back from tree coordinates may round across a limit.
void Arm::to_model(const double* y, double* q) const {
  for (size_t k = 0; k < joints.size(); ++k) {
    q[position[k]] = std::clamp((y[k] - offset[k]) / ratio[k], lower[k], upper[k]);
  }
}

void to_numbers(const Transform<>& X, double* out) {
  const double numbers[12] = {X.R.x.x, X.R.x.y, X.R.x.z, X.R.y.x, X.R.y.y, X.R.y.z,
                              X.R.z.x, X.R.z.y, X.R.z.z, X.p.x,   X.p.y,   X.p.z};
  std::copy(numbers, numbers + 12, out);
}

std::optional<std::string> arm_problem(const Model& model, LinkId link) {
  const Tree& tree = model.tree();
  const std::vector<int> chain = chain_of(tree, tree.links.at(size_t(link.value())).body);
  if (chain.empty()) return "no joint moves it";
  if (int(chain.size()) > kMostArmJoints) return "more than " + std::to_string(kMostArmJoints) + " joints carry it";
  std::vector<bool> used(size_t(model.nq()), false);
  const Limits limits(model, {});
  for (const int i : chain) {
    const Body& b = tree.bodies[size_t(i)];
    if (b.large >= 0) return "a ball or a free base carries it";
    if (b.kind == PrimitiveKind::kScrew) return "a screw carries it";
    if (!has_one_coordinate(tree, b)) return "a geared joint carries it";
    const size_t position = size_t(tree.terms[size_t(tree.rows[size_t(b.u)].begin)].position);
    if (used[position]) return "geared joints carry it";
    used[position] = true;
    if (limits.shares(int(position)))
      return "a geared joint with several leaders has limits and follows one of its joints";
  }
  return std::nullopt;
}

Arm make_arm(const Model& model, LinkId link, const Transform<>& X_LF, bool use_limits) {
  const Tree& tree = model.tree();
  const LinkPlacement& placement = tree.links.at(size_t(link.value()));
  Arm arm;
  Eigen::VectorXd lower = Eigen::VectorXd::Constant(model.nq(), -kInfinity), upper = -lower;
  Limits(model, {.limits = use_limits}).box(lower, upper);
  double reach = 0;
  for (const int i : chain_of(tree, placement.body)) {
    const Body& b = tree.bodies[size_t(i)];
    const CoordinateRow& row = tree.rows[size_t(b.u)];
    const CoordinateTerm& term = tree.terms[size_t(row.begin)];
    ArmJoint joint{
        motion_of(b), b.X_PJ.R != Mat3<>::identity(), b.X_PJ.R, b.X_PJ.p, offset_kind(b.X_PJ.p), 0, 0, 0, 0, 0};
    arm.lower.push_back(lower[term.position]);
    arm.upper.push_back(upper[term.position]);
    set_limits(arm.lower.back(), arm.upper.back(), b, term.ratio, row.offset, joint);
    arm.extent +=
        norm(joint.p) + (joint.motion == ArmMotion::kSlideZ ? std::max(std::abs(joint.from), std::abs(joint.to)) : 0);
    if (!arm.joints.empty()) reach += norm(joint.p);
    arm.joints.push_back(joint);
    arm.position.push_back(term.position);
    arm.ratio.push_back(term.ratio);
    arm.offset.push_back(row.offset);
  }
  set_strides(arm);
  arm.X_tool = placement.X_BL * X_LF;
  reach += norm(arm.X_tool.p);
  arm.extent += norm(arm.X_tool.p);
  arm.length = reach > 0 ? reach / 3 : 1;  // the frame's displacement by a radian of a typical joint
  return arm;
}

}  // namespace kansetsu::ik
