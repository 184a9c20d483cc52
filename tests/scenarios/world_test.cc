#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"
#include "no_alloc.h"

using namespace kansetsu;

namespace {

/// Figures fall in a heap: neighbours hit each other, all hit the floor; arms wave at random.
World crowd(int figures, int threads) {
  WorldOptions options;
  options.threads = threads;
  options.seed = 7;
  World world(options);
  world.add_fixed(Plane{}, {}, {}, "floor");
  const Model model = human28();
  for (int i = 0; i < figures; ++i) {
    State state(model);
    state.q.head<3>() << 0.45 * (i % 5), 0.4 * (i / 5), 0.9 + 0.02 * (i % 3);
    FigureOptions figure;
    figure.name = "figure" + std::to_string(i);
    world.add(model, state, figure);
    ControllerDescription control;
    control.name = "noise" + std::to_string(i);
    control.figure = figure.name;
    control.kind = ControlKind::kPd;
    for (const char* joint : {"shoulderL_y", "shoulderR_y", "hipL_y", "hipR_y", "kneeL_y", "kneeR_y", "waist_y"}) {
      control.joints.push_back({.dof = {joint, 0}, .deviation = 0.3, .kp = 100, .kd = 5, .effort = 80});
    }
    control.period = 0.1;
    world.add_controller(control);
  }
  return world;
}

}  // namespace

TEST_CASE("the same bits on 1, 2 and 4 threads, after save and restore, and in replay") {
  constexpr int kSteps = 400;
  World one = crowd(20, 1);
  for (int i = 0; i < kSteps / 2; ++i) one.step();
  const Snapshot middle = one.save();
  const std::uint64_t half = one.hash();
  for (int i = 0; i < kSteps / 2; ++i) one.step();
  REQUIRE(one.status() == WorldStatus::kRunning);
  CHECK(one.totals().contacts > 0);
  CHECK(one.hash() != half);
  for (const int threads : {2, 4}) {
    World many = crowd(20, threads);
    for (int i = 0; i < kSteps; ++i) many.step();
    CHECK(many.hash() == one.hash());
  }
  const std::uint64_t end = one.hash();
  one.restore(middle);
  CHECK(one.hash() == half);
  for (int i = 0; i < kSteps / 2; ++i) one.step();
  CHECK(one.hash() == end);
  World other = crowd(20, 1);  // a snapshot is of any world that is built alike
  other.restore(middle);
  for (int i = 0; i < kSteps / 2; ++i) other.step();
  CHECK(other.hash() == end);
}

TEST_CASE("a NaN torque stops the world with its name, and the state stays finite") {
  World world = crowd(1, 1);
  const FigureId id = world.figure("figure0");
  world.advance(0.01);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(world.model(id).nv());
  tau[10] = std::nan("");
  world.set_torque(id, tau);
  world.step();
  CHECK(world.status() == WorldStatus::kFailed);
  CHECK(world.failure().find(world.model(id).dof_names()[10]) != std::string::npos);
  CHECK(world.q(id).allFinite());
  const double t = world.time();
  world.step();
  CHECK(world.time() == t);
}
