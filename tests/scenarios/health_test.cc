#include "kansetsu/sim/health.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"

/// World::health() and strict worlds: every number on either side of its limit.
namespace kansetsu {
namespace {

ModelDescription ball(double radius) {
  ModelDescription model;
  model.name = "ball";
  model.base = Base::kFree;
  const double inertia = 0.4 * radius * radius;
  model.links = {{.name = "skin",
                  .inertial = Inertial{.mass = 1, .inertia = Sym3<>::diagonal(inertia, inertia, inertia)},
                  .collisions = {{.shape = Sphere{radius}}}}};
  return model;
}

/// A ball of 10 cm whose centre is at `height` above the floor.
World ball_at(double height) {
  World world;
  world.add_fixed(Plane{}, {}, {}, "floor");
  const Model model = value_or_throw(Model::build(ball(0.1)));
  State state(model);
  state.q[2] = height;
  world.add(model, state);
  return world;
}

const HealthFinding* find(const WorldHealth& health, const std::string& what) {
  for (const HealthFinding& f : health.findings) {
    if (f.what == what) return &f;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a world that falls, rolls and rests is healthy") {
  World world = ball_at(0.5);
  const double start = world.kinetic_energy() + world.potential_energy();
  world.advance(2);
  const WorldHealth health = world.health();
  CHECK(health.ok());
  CHECK(health.since == 0);
  CHECK(health.time == doctest::Approx(2));
  CHECK(health.contacts > 100);
  CHECK(health.unsolved == 0);
  // It fell 0.4 m and lost all of it in the impact: the ledger knows where the 3.9 J went.
  CHECK(start - health.energy ==
        doctest::Approx(0.4 * 9.81).epsilon(0.01));                   // the penetration left, 1 % of the way at most
  CHECK(std::abs(health.energy_drift) < 0.01 * health.energy_moved);  // HealthLimits::energy_share
}

TEST_CASE("what is deeper than the limit is told with names and values") {
  for (const double depth : {0.5e-3, 2e-3}) {  // on either side of a millimetre
    CAPTURE(depth);
    World world = ball_at(0.1 - depth);
    world.step();
    const WorldHealth health = world.health();
    CHECK(health.penetration == doctest::Approx(depth).epsilon(0.1));  // a step takes out a part of it
    const HealthFinding* found = find(health, "the penetration");
    CHECK((found != nullptr) == (depth > HealthLimits{}.penetration));
    if (!found) continue;
    CHECK(found->value == health.penetration);
    CHECK(found->text().find("between 'floor' and 'ball/skin' is 0.00") != std::string::npos);
  }
}

TEST_CASE("a strict world stops where a number is beyond its limit") {
  World strict = ball_at(0.098), lenient = ball_at(0.098), deep = ball_at(0.098);
  strict.set_strict();
  deep.set_strict(HealthLimits{.penetration = 5e-3});
  for (World* world : {&strict, &lenient, &deep}) world->advance(0.1);
  CHECK(strict.status() == WorldStatus::kFailed);
  CHECK(strict.totals().steps == 1);
  CHECK(strict.failure().find("at 0.001000 s: the penetration between 'floor' and 'ball/skin' is") == 0);
  CHECK(lenient.status() == WorldStatus::kRunning);
  CHECK(deep.status() == WorldStatus::kRunning);
  CHECK(deep.hash() == lenient.hash());  // looking changes nothing
}

TEST_CASE("a grip that is far from closed is told by its name") {
  World world;
  const Model model = value_or_throw(Model::build(ball(0.1)));
  world.add(model);
  ConnectionOptions options{.mask = kPointMask, .hold = Hold::kTogether, .name = "grip"};
  options.X_AC.p = {0.05, 0, 0};
  world.connect(kWorldBody, {FigureId(0), LinkId(0)}, options);
  world.step();
  const HealthFinding* found = nullptr;
  const WorldHealth open = world.health();
  REQUIRE((found = find(open, "the gap")) != nullptr);
  CHECK(found->where == "of connection 'grip'");
  CHECK(found->value > HealthLimits{}.gap);
  world.advance(2);
  CHECK(find(world.health(), "the gap") == nullptr);  // it has closed
}

TEST_CASE("energy that nothing explains is told") {
  // A pendulum that turns by 0.3 rad in each step: far beyond what the integrator follows. The shorter step is on the other side.
  for (const double h : {1e-3, 0.3}) {
    CAPTURE(h);
    WorldOptions options;
    options.time_step = h;
    options.integrator = Integrator::kRk4;
    World world(options);
    const Model model = pendulum();
    State state(model);
    state.q[0] = 1.5;
    world.add(model, state);
    for (int i = 0; i < 200; ++i) world.step();
    const WorldHealth health = world.health();
    CAPTURE(health.energy_drift);
    CAPTURE(health.energy_moved);
    CHECK((find(health, "the unexplained energy") != nullptr) == (h > 0.1));
  }
}

TEST_CASE("the ledger begins anew when somebody changes the world") {
  World world = ball_at(0.5);
  world.advance(0.2);
  State state(world.model(FigureId(0)));
  state.q[2] = 3;  // energy from nowhere
  world.set_state(FigureId(0), state);
  world.step();
  WorldHealth health = world.health();
  CHECK(health.since == doctest::Approx(0.2));
  CHECK(health.ok());
  const Snapshot later = world.save();
  world.advance(0.1);
  world.restore(later);
  world.step();
  CHECK(world.health().since == doctest::Approx(0.201));
  CHECK(world.health().ok());
}

TEST_CASE("limits on residuals and unsolved contacts") {
  World world = ball_at(0.0999);
  world.step();
  const WorldHealth health = world.health({.residual = -1, .unsolved_share = -1});  // below any
  REQUIRE(find(health, "the residual"));
  CHECK(find(health, "the residual")->where == "between 'floor' and 'ball/skin'");
  REQUIRE(find(health, "the share of unsolved contacts"));
  CHECK(find(health, "the share of unsolved contacts")->text().find("(0 of 1, worst residual") != std::string::npos);
  CHECK(find(world.health(), "the residual") == nullptr);
  CHECK(find(world.health(), "the share of unsolved contacts") == nullptr);
}

}  // namespace kansetsu
