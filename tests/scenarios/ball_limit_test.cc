#include <doctest/doctest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>

#include "kansetsu/model/ball_joint.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"
#include "kansetsu/spatial/swing_twist.h"

/// Swing and twist limits of balls in the world: quaternions and ZYX angles are two ways to write one joint.
namespace kansetsu {
namespace {

constexpr double kMass = 1, kArm = 0.5, kAcross = 0.1, kAlong = 0.02;  // [kg, m, kg·m², kg·m²] of the rod
constexpr double kGravity = 9.81;

Model rod(JointType type, const SwingTwistLimit& limit) {
  ModelBuilder builder("arm");
  builder.link("ground");
  builder.link("rod", Inertial{kMass, {{0, 0, kArm}, {}}, Sym3<>::diagonal(kAcross, kAcross, kAlong)});
  builder.joint({.name = "ball", .type = type, .parent = "ground", .child = "rod", .swing_twist = limit});
  return builder.build();
}

SwingTwist angles(const World& world, FigureId id, const BallJoint& ball) {
  return swing_twist(ball.rotation(world.q(id)));
}

}  // namespace

TEST_CASE("a ball that falls over keeps its energy until its swing limit, and stays there") {
  for (const JointType type : {JointType::kBall, JointType::kBallZyx}) {
    CAPTURE(info(type).name);
    constexpr double kLimit = 0.5, kStart = 0.05;
    const Model model = rod(type, {.swing = kLimit});
    const BallJoint ball = *BallJoint::find(model, JointId(0));
    World world;
    State state(model);
    ball.set_rotation(to_quaternion(SwingTwist{0, kStart, 0}), state.q);
    const FigureId id = world.add(model, state);
    const double inertia = kAcross + kMass * kArm * kArm;
    bool fell = false;
    for (int i = 0; i < 2000; ++i) {
      world.step();
      const double swing = angles(world, id, ball).swing();
      CHECK(swing <= kLimit + 2e-4);  // the way of the last step before the limit, half a millimetre at the tip
      if (swing > kLimit - 0.02 || swing < 0.2) continue;
      fell = true;  // θ̇² = 2·m·g·l·(cos θ₀ − cos θ)/I
      const double rate = std::sqrt(2 * kMass * kGravity * kArm * (std::cos(kStart) - std::cos(swing)) / inertia);
      CHECK(world.v(id).norm() == doctest::Approx(rate).epsilon(2e-3));  // a step of 1 ms
    }
    CHECK(fell);
    CHECK(angles(world, id, ball).swing() == doctest::Approx(kLimit).epsilon(4e-4));
    CHECK(world.v(id).norm() < 1e-9);  // it lies on the limit: nothing creeps
    CHECK(world.status() == WorldStatus::kRunning);
  }
}

TEST_CASE("a ball that spins turns evenly until its twist limit, and stops there") {
  for (const JointType type : {JointType::kBall, JointType::kBallZyx}) {
    CAPTURE(info(type).name);
    constexpr double kUpper = 0.4, kRate = 1;
    const Model model = rod(type, {.twist_lower = -0.3, .twist_upper = kUpper});
    const BallJoint ball = *BallJoint::find(model, JointId(0));
    WorldOptions options;
    options.gravity = {0, 0, kGravity};  // along the rod: it keeps it upright and turns nothing
    World world(options);
    State state(model);
    state.v << 0, 0, kRate;
    const FigureId id = world.add(model, state);
    for (int i = 0; i < 600; ++i) {
      world.step();
      const double t = world.time(), twist = angles(world, id, ball).twist;
      // Rounding before the limit; at it half of the way of a step, where the rows of the middle of the step stop it.
      CHECK(std::abs(twist - std::min(kRate * t, kUpper)) <= (t < 0.399 ? 1e-12 : 0.51 * kRate * options.time_step));
    }
    CHECK(world.v(id).norm() < 1e-9);
  }
}

TEST_CASE("a rod that goes round at its swing limit stays on its cone") {
  for (const JointType type : {JointType::kBall, JointType::kBallZyx}) {
    CAPTURE(info(type).name);
    constexpr double kLimit = 0.5, kRate = 20;  // [rad], [rad/s] across the swing, about the rod's own y
    const Model model = rod(type, {.swing = kLimit});
    const BallJoint ball = *BallJoint::find(model, JointId(0));
    WorldOptions options;
    options.gravity = {};
    World world(options);
    State state(model);
    ball.set_rotation(to_quaternion(SwingTwist{kLimit, 0, 0}), state.q);
    Eigen::Matrix3d rates;  // ω of the rod, in its own axes, from those of the joint
    for (int k = 0; k < 3; ++k) {
      const Vec3<> row = ball.rate_row(state.q, {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0});
      rates.row(k) << row.x, row.y, row.z;
    }
    state.v = rates.inverse() * Eigen::Vector3d(0, kRate, 0);
    const FigureId id = world.add(model, state);
    double most = 0;
    for (int i = 0; i < 1000; ++i) {
      world.step();
      most = std::max(most, std::abs(angles(world, id, ball).swing() - kLimit));
    }
    CHECK(
        most <
        2e-4);  // rows of the middle of the step leave it by h²·Ω²/(2·tan θ) = 4e-4 in every step, and by 1.5e-3 in all
  }
}

TEST_CASE("swing and twist limits hold in 1000 random throws of a ball with ZYX angles") {
  const std::uint64_t seed = 20;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  double beyond = 0;
  int reached = 0;
  for (int i = 0; i < 1000; ++i) {
    // Below 1.4 rad no way leads through gimbal lock, where ZYX angles have no finite rates.
    const SwingTwistLimit limit{.swing = 0.2 + 1.2 * unit(rng), .twist_lower = -unit(rng), .twist_upper = unit(rng)};
    const Model model = rod(JointType::kBallZyx, limit);
    const BallJoint ball = *BallJoint::find(model, JointId(0));
    World world;
    State state(model);
    state.q = random_configuration(model, rng);
    for (int k = 0; k < 3; ++k) state.v[k] = 8 * unit(rng) - 4;
    const FigureId id = world.add(model, state);
    bool at_limit = false;
    for (int step = 0; step < 200; ++step) {
      world.step();
      const SwingTwist now = angles(world, id, ball);
      const double margin =
          std::min({limit.swing - now.swing(), now.twist - limit.twist_lower, limit.twist_upper - now.twist});
      beyond = std::max(beyond, -margin);
      at_limit = at_limit || margin < 1e-3;
    }
    CHECK(world.status() == WorldStatus::kRunning);
    reached += at_limit;
  }
  MESSAGE("largest violation " << beyond << " rad; " << reached << " throws reached a limit");
  CHECK(reached > 700);
  CHECK(beyond < 2e-3);
}

TEST_CASE("without gravity, too, a hinge stops at its limit, and dry friction slows it down") {
  for (const double rate : {1e-3, 1.0, 300.0}) {
    CAPTURE(rate);
    ModelBuilder builder("wheel");
    builder.link("ground");
    builder.link("wheel", Inertial{1, {}, Sym3<>::diagonal(0.1, 0.1, 0.02)});
    builder.joint({.name = "hinge",
                   .type = JointType::kRevolute,
                   .parent = "ground",
                   .child = "wheel",
                   .dofs = {{.upper = 100.5 * rate * 1e-3, .friction = 2e-4 * rate}}});
    const Model model = builder.build();
    WorldOptions options;
    options.gravity = {};
    World world(options);
    State state(model);
    state.v << rate;
    const FigureId id = world.add(model, state);
    for (int i = 0; i < 50; ++i) world.step();
    CHECK(world.v(id)[0] == doctest::Approx(rate * (1 - 0.05 * 0.01)).epsilon(1e-9));  // τ/I = 0.01·rate
    for (int i = 0; i < 100; ++i) world.step();
    CHECK(std::abs(world.v(id)[0]) < 1e-9 * rate);
    CHECK(world.q(id)[0] == doctest::Approx(100.5 * rate * 1e-3).epsilon(0.01));  // within the way of a step
  }
}

TEST_CASE("a geared ball keeps its limits: it follows a crank, and stops it") {
  ModelDescription d = rod(JointType::kBallZyx, {.swing = 0.5}).description();
  d.links.push_back({.name = "wheel", .inertial = Inertial{1, {}, Sym3<>::diagonal(0.1, 0.1, 0.1)}});
  d.joints.push_back({.name = "crank", .type = JointType::kRevolute, .parent = "ground", .child = "wheel"});
  d.couplings.push_back({.dependent = {"ball", 1}, .terms = {{{"crank", 0}, 0.5}}});
  const Model model = ModelBuilder(d).build();
  const BallJoint ball = *BallJoint::find(model, model.joint_id("ball"));
  WorldOptions options;
  options.gravity = {};
  World world(options);
  State state(model);
  state.v[model.coordinates(model.joint_id("crank")).v] = 2;
  const FigureId id = world.add(model, state);
  for (int i = 0; i < 1000; ++i) {
    world.step();
    CHECK(angles(world, id, ball).swing() == doctest::Approx(std::min(world.time(), 0.5)).epsilon(1e-3));
  }
}

}  // namespace kansetsu
