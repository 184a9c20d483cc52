#include "kansetsu/model/ball_joint.h"

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/ball_zyx.h"
#include "kansetsu/spatial/euler.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
std::optional<BallJoint> BallJoint::find(const Model& model, JointId joint) {
  const JointType type = model.joint(joint).type;
  if (type != JointType::kBall && type != JointType::kBallZyx) return std::nullopt;
  BallJoint out;
  out.joint_ = joint;
  out.zyx_ = type == JointType::kBallZyx;
  out.independent_ = model.coordinates(joint).nv == 3;
  for (int k = 0; k < 3; ++k) {
    const Model::Row& row = model.row(joint, k);
    Coordinate& c = out.coordinates_[std::size_t(k)];
    c.terms = row.terms, c.offset = row.offset;
    for (const auto& [column, ratio] : row.terms) {
      for (int j = 0; j < model.joint_count(); ++j) {
        const CoordinateRange r = model.coordinates(JointId(j));
        if (column < r.v || column >= r.v + r.nv) continue;
        if (out.zyx_) c.positions.emplace_back(r.q + column - r.v, ratio);
        out.quaternion_ = r.q;
      }
    }
  }
  return out;
}

Vec3<> BallJoint::angles(const VectorRef& q) const {
  double a[3];
  for (std::size_t k = 0; k < 3; ++k) {
    a[k] = coordinates_[k].offset;
    for (const auto& [position, ratio] : coordinates_[k].positions) a[k] += ratio * q[position];
  }
  return {a[0], a[1], a[2]};
}

Quaternion<> BallJoint::rotation(const VectorRef& q) const {
  if (zyx_) return to_quaternion(BallZyx<>::at(angles(q)).rotation());
  const int i = quaternion_;
  return {q[i], q[i + 1], q[i + 2], q[i + 3]};
}

void BallJoint::set_rotation(const Quaternion<>& R_SP, Eigen::Ref<Eigen::VectorXd> q) const {
  if (!independent_) throw Error("BallJoint::set_rotation: the joint follows others by gears");
  if (!zyx_) {
    q.segment<4>(quaternion_) << R_SP.x, R_SP.y, R_SP.z, R_SP.w;
    return;
  }
  const Vec3<> now = angles(q);
  const Vec3<> a = nearest_euler(EulerOrder::kZYX, to_mat3(R_SP), {now.z, now.y, now.x});
  q.segment<3>(coordinates_[0].positions.front().first) << a.z, a.y, a.x;
}

BallJoint::Posture BallJoint::posture(const VectorRef& q, const VectorRef& v, double ahead) const {
  double moved[3] = {};
  for (std::size_t k = 0; k < 3; ++k) {
    for (const auto& [column, ratio] : coordinates_[k].terms) moved[k] += ahead * ratio * v[column];
  }
  const Vec3<> way{moved[0], moved[1], moved[2]};
  if (!zyx_) return {rotation(q) * exp_half(0.5 * way), {}};
  const Vec3<> after = angles(q) + way;
  return {to_quaternion(BallZyx<>::at(after).rotation()), after};
}

Vec3<> BallJoint::rate_row(const Posture& posture, const Vec3<>& row) const {
  return zyx_ ? transpose_times(BallZyx<>::at(posture.angles).rate_matrix(), row) : row;
}
Vec3<> BallJoint::rate_row(const VectorRef& q, const Vec3<>& row) const { return rate_row({{}, angles(q)}, row); }

std::vector<BallJoint> limited_balls(const Model& model) {
  std::vector<BallJoint> out;
  for (int j = 0; j < model.joint_count(); ++j) {
    if (!model.joint(JointId(j)).swing_twist) continue;
    if (auto ball = BallJoint::find(model, JointId(j))) out.push_back(std::move(*ball));
  }
  return out;
}

}  // namespace kansetsu
