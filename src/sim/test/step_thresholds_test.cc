#include "sim/step_thresholds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"
#include "sim/connections.h"
#include "sim/figure.h"

/// Either side of the thresholds of a step that show in an answer.
namespace kansetsu {
namespace {

constexpr double kStep = 2e-3, kG = 9.81;

Model body(const Shape& shape, const std::string& name = "body") {
  return value_or_throw(Model::build(make_body(name, shape, 1, {}).model));
}

State at(const Model& model, double z, double vx = 0, double vz = 0) {
  State state(model);
  state.q[2] = z, state.v[3] = vx, state.v[5] = vz;
  return state;
}

World with_floor(WorldOptions options = {}) {
  options.time_step = kStep;
  World world(options);
  world.add_fixed(Plane{}, {});
  return world;
}

}  // namespace

TEST_CASE("what moves by more than kFar in a step is looked at") {
  FigureData f(body(Sphere{0.1}), {});
  for (const double side : {0.9, 1.1}) {
    f.v.setZero();
    f.v[0] = side * threshold::kFar / kStep;  // a free base only counts its turning
    CHECK(f.is_far(kStep) == (side > 1));
  }
}

TEST_CASE("velocity products of what gains more than kProductsGain by them count") {
  FigureData f(body(Box{{0.4, 0.1, 0.05}}), {});
  for (const double side : {0.9, 1.1}) {
    f.v.setZero();
    f.v[0] = side * std::sqrt(2 * threshold::kProductsGain / kStep);
    CHECK(f.is_fast(kStep) == (side > 1));
  }
}

TEST_CASE("a base that is faster than kFastestBase stops the world, a slower one does not") {
  for (const double side : {0.9, 1.1}) {
    WorldOptions options{.gravity = {}};
    options.time_step = 1e-6;  // its way counts too: kMostTurning
    World world(options);
    const Model ball = body(Sphere{0.1});
    world.add(ball, at(ball, 1, side * threshold::kFastestBase));
    world.step();
    CHECK((world.status() == WorldStatus::kRunning) == (side < 1));
  }
}

TEST_CASE("a landing that kSoftLanding weights stop within a step is no impact, a faster one is") {
  for (const double side : {0.9, 1.1}) {
    World world = with_floor();
    const Model box = body(Box{{0.2, 0.2, 0.2}});
    world.add(box, at(box, 0.1, 0, -side * threshold::kSoftLanding * kG * kStep));
    world.step();
    CHECK(world.report().impacts == (side > 1));
    CHECK(std::abs(world.v(FigureId(0))[5]) < 1e-12);  // either way it stops
  }
}

TEST_CASE("what is deep inside comes out by no more than kMostShift a step") {
  for (const double depth : {10.0, 30.0}) {  // it is to come out at (0.5 m/s + depth/s)·h, 0.021 and 0.061 m
    World world = with_floor();
    const Model ball = body(Sphere{0.1});
    world.add(ball, at(ball, 0.1 - depth));
    world.step();
    const double way = world.q(FigureId(0))[2] - (0.1 - depth);
    CHECK(way == doctest::Approx(std::min((0.5 + depth) * kStep, threshold::kMostShift)).epsilon(0.01));
  }
}

TEST_CASE("a gap above kLargeGap is closed over several steps, a smaller one in the step that finds it") {
  for (const double side : {0.9, 1.1}) {
    WorldOptions options{.gravity = {}};
    options.time_step = kStep;
    World world(options);
    const Model ball = body(Sphere{0.1});
    const FigureId id = world.add(ball, at(ball, 1));
    ConnectionOptions held{.hold = Hold::kTogether};  // frames at both origins but for the gap
    held.X_AC.p = {0, 0, 1 + side * threshold::kLargeGap};
    world.connect(kWorldBody, {id, LinkId(0)}, held);
    world.step();
    CHECK((world.report().loop_gap < 1e-9) == (side < 1));
    world.advance(0.5);
    CHECK(world.report().loop_gap < 1e-9);
  }
}

TEST_CASE("an island of more than kDenseRows rows is solved by blocks of bodies") {
  for (const int boxes : {threshold::kDenseRows / 6, threshold::kDenseRows / 6 + 1}) {  // six rows between each two
    World world = with_floor();
    for (int i = 0; i < boxes; ++i) {
      const Model box = body(Box{{0.2, 0.2, 0.2}}, "box" + std::to_string(i));
      world.add(box, at(box, 0.1 + 0.2 * i));
    }
    world.step();
    int sweeps = 0;
    for (const ContactReport& c : world.report().contacts) sweeps = std::max(sweeps, c.sweeps);
    CAPTURE(boxes);
    CHECK((sweeps > 0) == (6 * boxes > threshold::kDenseRows));
  }
}

TEST_CASE("what is slower than kStill sleeps after kRestTime, what is faster does not") {
  for (const double side : {0.5, 2.0}) {
    World world = with_floor();
    const Model ball = body(Sphere{0.1});
    State state = at(ball, 0.1, side * threshold::kStill);
    state.v[1] = state.v[3] / 0.1;  // it rolls: ten times as fast
    state.v *= 0.1;
    const FigureId id = world.add(ball, state);
    world.advance(0.9 * threshold::kRestTime);
    CHECK(!world.asleep(id));
    world.advance(0.2 * threshold::kRestTime);
    CHECK(world.asleep(id) == (side < 1));
  }
}

TEST_CASE("a scene warns of what is deeper than kDeepStart at its start") {
  for (const double side : {0.9, 1.1}) {
    SceneDescription scene;
    EnvironmentShape& floor = scene.environment.emplace_back();
    floor.shape.shape = Plane{}, floor.shape.name = "floor";
    FigureDescription& figure = scene.figures.emplace_back(make_body("ball", Sphere{0.1}, 1, {}));
    figure.initial.base.p = {0, 0, 0.1 - side * threshold::kDeepStart};
    const Loaded<World> world = World::build(scene);
    REQUIRE(world);
    const auto is_deep = [](const Diagnostic& d) { return d.code == "WORLD004"; };
    CHECK(std::ranges::any_of(world.diagnostics, is_deep) == (side > 1));
  }
}

TEST_CASE("a connection that carries a force for kBreakTime averages to all but 1/e of it, a blow counts at once") {
  ConnectionData c;
  c.wrench.f = {5, 0, 0};
  for (int i = 0; i < 100; ++i) add_load(c, 0.01 * threshold::kBreakTime);
  CHECK(c.load.f.x == doctest::Approx(5 * (1 - std::exp(-1))));
  c.load = c.wrench = {}, c.struck.f = {0, 0.3, 0};
  add_load(c, 1e-3);
  CHECK(c.load.f.y == doctest::Approx(0.3 / threshold::kBreakTime));
}

}  // namespace kansetsu
