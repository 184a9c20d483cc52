#include "kansetsu/model/configuration.h"
#include "kansetsu/model/ball_joint.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/swing_twist.h"
#include "model/random.h"
#include "no_alloc.h"
#include "support.h"

namespace kansetsu {
namespace {

using Eigen::VectorXd;

/// Every joint type on its own, and trees with all of them, free and fixed, with gears.
std::vector<Model> models() {
  std::vector<Model> out;
  for (const JointTypeInfo& type : joint_table()) out.push_back(ModelBuilder(test::one_joint(type.type)).build());
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    out.push_back(random_tree(seed, {.links = 20, .base = seed % 2 ? Base::kFixed : Base::kFree, .gears = 3}));
  }
  out.push_back(human28());
  out.push_back(human28_ball());
  // Geared balls: the follower has no coordinates of its own.
  out.push_back(ModelBuilder("geared balls")
                    .link("base")
                    .link("a", test::box_inertial())
                    .link("b", test::box_inertial())
                    .joint({.name = "A", .type = JointType::kBall, .parent = "base", .child = "a"})
                    .joint({.name = "B", .type = JointType::kBall, .parent = "a", .child = "b"})
                    .gear("A", "B", 1)
                    .build());
  return out;
}

VectorXd random_velocity(const Model& model, std::mt19937_64& rng, double size) {
  VectorXd v(model.nv());
  for (double& x : v) x = uniform(rng, -size, size);
  return v;
}

/// Largest difference of two configurations that mean the same; quaternions up to sign.
double same(const Model& model, const VectorXd& a, const VectorXd& b) {
  return model.nv() == 0 ? 0 : difference(model, a, b).cwiseAbs().maxCoeff();
}

TEST_CASE("difference is the inverse of integrate") {
  std::mt19937_64 rng(7);
  for (const Model& model : models()) {
    CAPTURE(model.name());
    for (int i = 0; i < 20; ++i) {
      const VectorXd q = random_configuration(model, rng);
      const VectorXd v = random_velocity(model, rng, 1.7);  // turns up to 2.95 rad: within the reach of the logarithm
      const VectorXd b = integrate(model, q, v);
      CHECK_FALSE(configuration_problem(model, b));
      CHECK((difference(model, q, b) - v).norm() < 1e-13);  // sums of ten products of numbers of size 1…10
      const VectorXd c = random_configuration(model, rng);
      CHECK(same(model, integrate(model, q, difference(model, q, c)), c) <
            1e-13);  // logarithm and exponential of angles to π: some ten roundings
    }
  }
}

TEST_CASE("they stay inverses near half a turn and for tiny steps") {
  std::mt19937_64 rng(8);
  const Model ball = ModelBuilder(test::one_joint(JointType::kBall)).build();
  const Model free = ModelBuilder(test::one_joint(JointType::kFree)).build();
  for (const double angle :
       {std::numbers::pi - 1e-3, std::numbers::pi - 1e-6, std::numbers::pi - 1e-9, 1e-3, 1e-8, 1e-200, 0.0}) {
    CAPTURE(angle);
    for (const Model* model : {&ball, &free}) {
      const VectorXd q = random_configuration(*model, rng);
      const Vec3<> axis = uniform_direction(rng);
      VectorXd v = random_velocity(*model, rng, 1);
      v.head<3>() << angle * axis.x, angle * axis.y, angle * axis.z;
      const VectorXd back = difference(*model, q, integrate(*model, q, v));
      CHECK((back - v).norm() < 1e-14 + 4e-16 * std::numbers::pi * v.norm());  // rounding of the quaternion
    }
  }
}

TEST_CASE("a free joint moves along a screw: a constant twist in body axes") {
  std::mt19937_64 rng(9);
  const Model model = chain(1, Base::kFree);
  const VectorXd v = random_velocity(model, rng, 1);
  VectorXd q = random_configuration(model, rng);
  const VectorXd there = integrate(model, q, v);
  for (int i = 0; i < 1000; ++i) q = integrate(model, q, v / 1000);
  CHECK(same(model, q, there) < 1e-12);  // the thousand steps compose exactly up to rounding
}

TEST_CASE("position_rate is the derivative of integrate") {
  std::mt19937_64 rng(10);
  const double h = 1e-6;
  for (const Model& model : models()) {
    CAPTURE(model.name());
    const VectorXd q = random_configuration(model, rng), v = random_velocity(model, rng, 1);
    const VectorXd numeric = (integrate(model, q, h * v) - integrate(model, q, -h * v)) / (2 * h);
    CHECK((numeric - position_rate(model, q, v)).norm() < 1e-8);  // h² and rounding/h
  }
}

TEST_CASE("interpolate goes from a to b at constant speed") {
  std::mt19937_64 rng(11);
  for (const Model& model : models()) {
    CAPTURE(model.name());
    const VectorXd a = random_configuration(model, rng), b = random_configuration(model, rng);
    CHECK(same(model, interpolate(model, a, b, 0), a) < 1e-15);  // rounding
    CHECK(same(model, interpolate(model, a, b, 1), b) < 1e-13);  // as above
    const VectorXd half = interpolate(model, a, b, 0.5);
    CHECK((difference(model, a, half) - difference(model, half, b)).norm() <
          1e-12);  // halves of the same rotation, rounded
  }
}

TEST_CASE("the velocity of a joint moves its own coordinates") {
  std::mt19937_64 rng(15);
  for (const Model& model : models()) {
    CAPTURE(model.name());
    std::vector<CoordinateRange> ranges{model.base_coordinates()};
    for (int j = 0; j < model.joint_count(); ++j) ranges.push_back(model.coordinates(JointId(j)));
    const VectorXd q = random_configuration(model, rng);
    for (const CoordinateRange& range : ranges) {
      VectorXd v = VectorXd::Zero(model.nv());
      v.segment(range.v, range.nv).setConstant(0.5);
      const VectorXd moved = integrate(model, q, v) - q, rate = position_rate(model, q, v);
      for (int i = 0; i < model.nq(); ++i) {
        const bool own = i >= range.q && i < range.q + range.nq;
        CHECK((std::abs(moved[i]) > 1e-15) == own);  // other quaternions may be normalised again
        CHECK((rate[i] != 0) == own);
      }
      if (range.nq == range.nv + 1) CHECK(neutral(model)[range.q + range.nq - 1] == 1);
    }
  }
}

TEST_CASE("neutral is zero with identity rotations") {
  for (const Model& model : models()) {
    const VectorXd q = neutral(model);
    CHECK_FALSE(configuration_problem(model, q));
    CHECK(q.sum() == double(model.nq() - model.nv()));  // one w per quaternion, the rest zero
  }
}

TEST_CASE("random configurations keep the limits and are the same for one seed") {
  for (const Model& model : models()) {
    CAPTURE(model.name());
    std::mt19937_64 a(5), b(5);
    for (int i = 0; i < 50; ++i) {
      const VectorXd q = random_configuration(model, a);
      CHECK_FALSE(configuration_problem(model, q));
      CHECK((q.array() >= model.lower_position().array()).all());
      CHECK((q.array() <= model.upper_position().array()).all());
      CHECK(q == random_configuration(model, b));
    }
  }
}

TEST_CASE("where a limit is missing, angles reach a turn and lengths two metres") {
  std::mt19937_64 rng(6);
  const auto range = [&](JointType type, const DofDescription& dof) {
    ModelDescription d = test::one_joint(type);
    d.joints[0].dofs = {dof};
    const Model model = ModelBuilder(d).build();
    double least = kInfinity, most = -kInfinity;
    for (int i = 0; i < 1000; ++i) {
      const double x = random_configuration(model, rng)[0];
      least = std::min(least, x);
      most = std::max(most, x);
    }
    return std::pair(least, most);
  };
  const auto near = [](std::pair<double, double> found, double lower, double upper) {
    const double width = upper - lower;  // of 1000 draws one is this close to the end, but for e⁻²⁰ of the cases
    return found.first >= lower && found.first < lower + 0.02 * width && found.second <= upper &&
           found.second > upper - 0.02 * width;
  };
  CHECK(near(range(JointType::kRevolute, {}), -std::numbers::pi, std::numbers::pi));
  CHECK(near(range(JointType::kPrismatic, {}), -1, 1));
  CHECK(near(range(JointType::kPrismatic, {.lower = 3}), 3, 5));
  CHECK(near(range(JointType::kPrismatic, {.upper = -3}), -5, -3));
  CHECK(near(range(JointType::kRevolute, {.lower = 0.1, .upper = 0.2}), 0.1, 0.2));
  CHECK(near(range(JointType::kRevolute, {.lower = -1e16, .upper = 1e16}), -std::numbers::pi, std::numbers::pi));
  CHECK(near(range(JointType::kRevolute, {.lower = 0.1, .upper = 2e6}), 0.1, 0.1 + 2 * std::numbers::pi));
  CHECK(near(range(JointType::kRevolute, {.lower = -1e6, .upper = 1e6}), -1e6, 1e6));
}

TEST_CASE("random balls keep their swing and twist limits, quaternions and ZYX angles alike") {
  for (const JointType type : {JointType::kBall, JointType::kBallZyx}) {
    ModelDescription d = test::one_joint(type);
    d.joints[0].swing_twist = SwingTwistLimit{.swing = 0.5, .twist_lower = -0.2, .twist_upper = 1};
    const Model model = ModelBuilder(d).build();
    const BallJoint ball = *BallJoint::find(model, JointId(0));
    const std::uint64_t seed = 12;
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    double most_swing = 0, most_twist = 0;
    for (int i = 0; i < 1000; ++i) {
      const SwingTwist angles = swing_twist(ball.rotation(random_configuration(model, rng)));
      CHECK(angles.swing() <= 0.5 + 1e-9);  // rounding of the way through the quaternion
      CHECK(angles.twist >= -0.2 - 1e-9);
      CHECK(angles.twist <= 1 + 1e-9);
      most_swing = std::max(most_swing, angles.swing());
      most_twist = std::max(most_twist, angles.twist);
    }
    CHECK(most_swing > 0.49);
    CHECK(most_twist > 0.97);
  }
}

TEST_CASE("a random ZYX ball keeps the limits of its angles, too") {
  ModelDescription d = test::one_joint(JointType::kBallZyx);
  d.joints[0].swing_twist = SwingTwistLimit{.swing = 0.5};
  d.joints[0].dofs = {{.lower = 0.1, .upper = 0.3}, {}, {.lower = -2, .upper = 2}};
  const Model model = ModelBuilder(d).build();
  const BallJoint ball = *BallJoint::find(model, JointId(0));
  const std::uint64_t seed = 14;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  for (int i = 0; i < 300; ++i) {
    const VectorXd q = random_configuration(model, rng);
    CHECK(swing_twist(ball.rotation(q)).swing() <= 0.5 + 1e-9);  // rounding of the way through the matrix
    CHECK((q[0] >= 0.1 && q[0] <= 0.3));
    CHECK(std::abs(q[2]) <= 2);
  }
}

TEST_CASE("normalise scales quaternions and leaves the rest") {
  std::mt19937_64 rng(13);
  for (const Model& model : models()) {
    CAPTURE(model.name());
    const VectorXd q = random_configuration(model, rng);
    VectorXd scaled = q;
    normalise(model, scaled);
    CHECK((scaled - q).norm() < 1e-15);  // rounding
  }
  const Model ball = ModelBuilder(test::one_joint(JointType::kBall)).build();
  VectorXd q = Eigen::Vector4d(0, 0, 3, 4);
  normalise(ball, q);
  CHECK((q - Eigen::Vector4d(0, 0, 0.6, 0.8)).norm() < 4e-16);  // two roundings
  q.setZero();
  normalise(ball, q);
  CHECK(q == Eigen::Vector4d(0, 0, 0, 1));
}

TEST_CASE("configuration_problem says what is wrong") {
  const Model model = chain(2, Base::kFree);
  VectorXd q = neutral(model);
  CHECK_FALSE(configuration_problem(model, q));
  q[6] = 1 + 1e-7;
  CHECK_FALSE(configuration_problem(model, q));
  q[6] = 1 + 0.99 * kUnitQuaternion;
  CHECK_FALSE(configuration_problem(model, q));
  q[6] = 1 + 1.01 * kUnitQuaternion;
  CHECK(configuration_problem(model, q));
  q[6] = 1.1;
  CHECK(configuration_problem(model, q)->find("q[3…6] has length 1.1") != std::string::npos);
  q[6] = std::nan("");
  CHECK(configuration_problem(model, q) == "q[6] is nan");
  CHECK(configuration_problem(model, VectorXd::Zero(3)) == "q has size 3, expected 8");
}

TEST_CASE("wrong sizes are named") {
  const Model model = chain(2, Base::kFree);
  const VectorXd q = neutral(model), v = VectorXd::Zero(model.nv());
  VectorXd out(3);
  CHECK_THROWS_WITH_AS(integrate(model, v, v), "integrate: q has size 7, expected 8", Error);
  CHECK_THROWS_WITH_AS(integrate(model, q, q), "integrate: v has size 8, expected 7", Error);
  CHECK_THROWS_WITH_AS(integrate(model, q, v, out), "integrate: out has size 3, expected 8", Error);
  CHECK_THROWS_WITH_AS(difference(model, q, v), "difference: b has size 7, expected 8", Error);
}

TEST_CASE("integrate may write over its argument, and nothing allocates") {
  std::mt19937_64 rng(14);
  for (const Model& model : models()) {
    CAPTURE(model.name());
    VectorXd q = random_configuration(model, rng);
    const VectorXd v = random_velocity(model, rng, 1), expected = integrate(model, q, v), start = q;
    VectorXd back(model.nv());
    const std::size_t allocations = test::allocations_in([&] {
      integrate(model, q, v, q);
      normalise(model, q);
      difference(model, start, q, back);
    });
    CHECK(allocations == 0);
    CHECK((q - expected).norm() < 1e-15 * (1 + q.norm()));  // normalised twice
    CHECK((back - v).norm() < 1e-13);                       // rounding of a logarithm
  }
}

}  // namespace
}  // namespace kansetsu
