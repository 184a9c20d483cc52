#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/model/ball_joint.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/swing_twist.h"
#include "model/joint_motion.h"
#include "model/random.h"

namespace kansetsu {
namespace {

/// Where only one limit is finite the range reaches from it as far as it would without limits.
double uniform_in_limits(std::mt19937_64& rng, double lower, double upper, double reach) {
  constexpr double kFarthest = 1e6;  // [rad, m] files write 1e16 for none; up to here sincos() has all digits
  const bool below = lower >= -kFarthest, above = upper <= kFarthest;
  if (!below && !above) return uniform(rng, -reach, reach);
  if (!below) lower = upper - 2 * reach;
  if (!above) upper = lower + 2 * reach;
  return uniform(rng, lower, upper);
}

/// Uniform on the rotations within the limits: the direction of the plug's z axis is uniform on a cap of the sphere, and
/// the twist about it is uniform on its own.
Quaternion<> uniform_in_limits(std::mt19937_64& rng, const SwingTwistLimit& limit) {
  constexpr double pi = std::numbers::pi;
  const double cos_swing = uniform(rng, std::cos(std::min(limit.swing, pi)), 1);
  const double azimuth = uniform(rng, -pi, pi);
  const double swing = std::acos(std::clamp(cos_swing, -1.0, 1.0));
  const double twist = uniform(rng, std::max(limit.twist_lower, -pi), std::min(limit.twist_upper, pi));
  return to_quaternion(SwingTwist{swing * std::cos(azimuth), swing * std::sin(azimuth), twist});
}

/// Whether coordinate k of the joint is one of the state, not one that a coupling determines.
bool is_independent(const Model& model, const std::string& joint, int k) {
  const auto& couplings = model.description().couplings;
  return std::ranges::none_of(couplings,
                              [&](const Coupling& c) { return c.dependent.joint == joint && c.dependent.index == k; });
}

Eigen::VectorXd draw(const Model& model, std::mt19937_64& rng) {
  Eigen::VectorXd q(model.nq());
  const auto put_rotation = [&](const Quaternion<>& r, int i) { q.segment<4>(i) << r.x, r.y, r.z, r.w; };
  const auto put_pose = [&](int i) {
    const Vec3<> p = uniform_vec3(rng, 1);
    q.segment<3>(i) << p.x, p.y, p.z;
    put_rotation(uniform_rotation(rng), i + 3);
  };
  if (const CoordinateRange range = model.base_coordinates(); range.nq > 0) put_pose(range.q);
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const CoordinateRange range = model.coordinates(JointId(j));
    if (range.nq == 0) continue;
    if (joint.type == JointType::kFree) {
      put_pose(range.q);
    } else if (joint.type == JointType::kBall) {
      put_rotation(joint.swing_twist ? uniform_in_limits(rng, *joint.swing_twist) : uniform_rotation(rng), range.q);
    } else {
      for (int k = 0, i = range.q; k < info(joint.type).nv; ++k) {
        if (!is_independent(model, joint.name, k)) continue;
        const double reach = is_linear(joint.type, k) ? 1 : std::numbers::pi;
        q[i] = uniform_in_limits(rng, model.lower_position()[i], model.upper_position()[i], reach);
        ++i;
      }
    }
  }
  return q;
}

bool within(const SwingTwistLimit& limit, const Quaternion<>& R_SP) {
  constexpr double kRounding = 1e-9;  // [rad]
  const SwingTwist now = swing_twist(R_SP);
  return now.swing() <= limit.swing + kRounding && now.twist >= limit.twist_lower - kRounding &&
         now.twist <= limit.twist_upper + kRounding;
}

/// A ZYX ball: uniform on the rotations within its limits; its angles keep theirs, too, if they have any.
bool draw_in_limits(const Model& model, const BallJoint& ball, std::mt19937_64& rng, Eigen::VectorXd& q) {
  const CoordinateRange range = model.coordinates(ball.joint());
  q.segment(range.q, range.nq).setZero();
  ball.set_rotation(uniform_in_limits(rng, *model.joint(ball.joint()).swing_twist), q);
  for (int i = range.q; i < range.q + range.nq; ++i) {
    if (q[i] < model.lower_position()[i] || q[i] > model.upper_position()[i]) return false;
  }
  return true;
}

}  // namespace

Eigen::VectorXd random_configuration(const Model& model, std::mt19937_64& rng) {
  constexpr int kMostDraws = 1000;  // then what is drawn from and the limits have less than a part in 1e3 in common
  const std::vector<BallJoint> balls = limited_balls(model);
  const auto own_zyx = [&](const BallJoint& ball) {
    return ball.independent() && model.joint(ball.joint()).type == JointType::kBallZyx;
  };
  Eigen::VectorXd q;
  for (int round = 0; round < kMostDraws; ++round) {
    q = draw(model, rng);
    for (const BallJoint& ball : balls) {
      if (!own_zyx(ball)) continue;
      for (int i = 0; i < kMostDraws && !draw_in_limits(model, ball, rng, q); ++i) {
      }
    }
    const bool held = std::ranges::all_of(balls, [&](const BallJoint& ball) {
      return ball.independent() || within(*model.joint(ball.joint()).swing_twist, ball.rotation(q));
    });
    if (held) break;
  }
  return q;
}

}  // namespace kansetsu
