#include "kansetsu/model/ball_joint.h"

#include <doctest/doctest.h>

#include <numbers>

#include "kansetsu/model/builder.h"
#include "kansetsu/spatial/rotations.h"
#include "kansetsu/spatial/swing_twist.h"
#include "model/random.h"
#include "model/test/support.h"

using namespace kansetsu;
using Eigen::VectorXd;

namespace {

/// row·ω along a velocity of the joint, by the terms.
double rate_of(const BallJoint& ball, const VectorXd& q, const VectorXd& v, const Vec3<>& row) {
  double rate = 0;
  ball.for_each_term(ball.rate_row(q, row), [&](int column, double value) { rate += value * v[column]; });
  return rate;
}

}  // namespace

TEST_CASE("a ball is one rotation: rates of its coordinates are rates of that rotation") {
  for (const JointType type : {JointType::kBall, JointType::kBallZyx}) {
    const Model model = ModelBuilder(test::one_joint(type)).build();
    const BallJoint ball = *BallJoint::find(model, JointId(0));
    CHECK(ball.independent());
    const std::uint64_t seed = 3;
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    for (int i = 0; i < 50; ++i) {
      const VectorXd q = random_configuration(model, rng), v = VectorXd::Random(model.nv());
      constexpr double h = 1e-5;
      const Quaternion<> plus = ball.rotation(integrate(model, q, h * v));
      const Quaternion<> minus = ball.rotation(integrate(model, q, -h * v));
      const Vec3<> w = (1 / (2 * h)) * log_rotation(conjugate(minus) * plus);
      CHECK(rate_of(ball, q, v, {1, 0, 0}) == doctest::Approx(w.x).epsilon(1e-7));  // h² and 1e-16/h
      CHECK(rate_of(ball, q, v, {0, 1, 0}) == doctest::Approx(w.y).epsilon(1e-7));
      CHECK(rate_of(ball, q, v, {0, 0, 1}) == doctest::Approx(w.z).epsilon(1e-7));
    }
  }
}

TEST_CASE("a rotation is written as the nearest angles, at gimbal lock, too") {
  const Model model = ModelBuilder(test::one_joint(JointType::kBallZyx)).build();
  const BallJoint ball = *BallJoint::find(model, JointId(0));
  const std::uint64_t seed = 4;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  for (int i = 0; i < 200; ++i) {
    VectorXd q = VectorXd::Random(3) * 6;  // turns beyond π, pitch beyond π/2
    if (i % 4 == 0) q[1] = (i % 8 ? 0.5 : -0.5) * std::numbers::pi;
    VectorXd near = q;
    if (i % 4 == 0) {
      near[2] = q[2];
    } else {
      near += 0.01 * VectorXd::Random(3);
      if (std::abs(std::cos(q[1])) < 0.05) continue;  // the angles of two near rotations are not near there
    }
    const Quaternion<> R = ball.rotation(q);
    ball.set_rotation(R, near);
    CHECK(norm(log_rotation(conjugate(ball.rotation(near)) * R)) < 1e-8);  // asin's rounding at the lock
    CHECK((near - q).lpNorm<Eigen::Infinity>() < 1e-7);                    // the same, in coordinates
  }
}

TEST_CASE("a ball that follows others by gears turns as they do, and cannot be set") {
  ModelDescription d = test::one_joint(JointType::kBallZyx);
  JointDescription crank{.name = "crank", .type = JointType::kRevolute, .parent = d.joints[0].child, .child = "end"};
  d.links.push_back({.name = "end", .inertial = Inertial{.mass = 1}});
  d.joints.push_back(crank);
  d.couplings.push_back({.dependent = {d.joints[0].name, 1}, .terms = {{{"crank", 0}, -2.0}}, .offset = 0.3});
  const Model model = ModelBuilder(d).build();
  const BallJoint ball = *BallJoint::find(model, model.joint_id(d.joints[0].name));
  CHECK(!ball.independent());
  VectorXd q = VectorXd::Zero(model.nq());
  q[model.coordinates(model.joint_id("crank")).q] = 0.1;
  CHECK(norm(log_rotation(ball.rotation(q)) - Vec3<>{0, 0.1, 0}) < 1e-15);  // 0.3 − 2·0.1
  CHECK_THROWS(ball.set_rotation({0, 0, 0, 1}, q));
  CHECK(!BallJoint::find(model, model.joint_id("crank")));
}
