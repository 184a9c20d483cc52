#include "kansetsu/motion/walk_simulation.h"

#include <doctest/doctest.h>

#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;

namespace {

#ifdef NDEBUG
constexpr double kDistance = 20;
constexpr int kSeeds = 10;
#else  // sanitized builds take twenty times as long
constexpr double kDistance = 2;
constexpr int kSeeds = 1;
#endif

WalkReport run(WalkSimulation& walk) {
  while (walk.step()) {
  }
  return walk.report();
}

/// What every walk must show: nothing holds it but the ground, and the ground holds it well.
void check_honest(WalkSimulation& walk, const WalkReport& r) {
  const WorldTotals& t = walk.world().totals();
  CAPTURE(r.cause);
  CHECK(!r.fallen);
  CHECK(walk.controller().status().done);
  CHECK(r.root_wrench == 0);
  CHECK(t.worst_penetration < 1e-3);
  CHECK(std::abs(r.vertical_force - 1) < 0.01);  // it ends as it began, at rest: all momentum that came has gone
  CHECK(r.limit_margin >
        -5e-4);          // [rad] a limit that is met within a step is passed by half of its way, and put right after it
  CHECK(r.slip < 1e-3);  // a vertex of a sole may slip while the others hold; the step in which it comes to rest counts
  CHECK(t.tiers[int(ContactTier::kUnsolved)] == 0);  // every contact problem was solved, none merely approximated
  CHECK(t.worst_residual < 1e-6);
  CHECK(r.infeasible == 0);
  CHECK(r.unbalanced < 0.1);  // [weights] poses move on while velocities are summed up, and a foot lands within a step
}

}  // namespace

TEST_CASE("walk: slow, at ease and brisk, without a hand of god") {
  for (const double speed : {0.5, 0.8, 1.2}) {
    CAPTURE(speed);
    WalkSetup setup;
    setup.walk.speed = speed, setup.walk.distance = kDistance;
    WalkSimulation walk(human28(), setup);
    const WalkReport r = run(walk);
    check_honest(walk, r);
    CHECK(std::abs(r.walked - kDistance) < 0.7);  // the last stride is what balance needs
    if (kDistance >= 20) CHECK(std::abs(r.distance / kDistance - 1) < 0.05);
  }
}

TEST_CASE("walk: through a right angle, up and down a slope of five degrees") {
  WalkSetup setup;
  setup.walk.distance = 0.4 * kDistance;
  setup.walk.turn = 0.25, setup.walk.turn_until = std::numbers::pi / 2;
  WalkSimulation turning(human28(), setup);
  const WalkReport r = run(turning);
  check_honest(turning, r);
  if (kDistance >= 20) CHECK(std::abs(r.turned - std::numbers::pi / 2) < 0.1);
  for (const double degrees : {5.0, -5.0}) {
    CAPTURE(degrees);
    WalkSetup hill;
    hill.walk.distance = 0.3 * kDistance;
    hill.walk.terrain.slope = degrees * std::numbers::pi / 180;
    WalkSimulation walk(human28(), hill);
    const WalkReport report = run(walk);
    check_honest(walk, report);
    const double climbed = center_of_mass(human28(), walk.world().q(FigureId(0))).z -
                           center_of_mass(human28(), walk.controller().start().q).z;
    CHECK(std::abs(climbed - report.distance * std::sin(degrees * std::numbers::pi / 180)) < 0.05);
  }
}

TEST_CASE("walk: pushes of 10 N·s from anywhere at any time do not bring it down") {
  for (const double speed : {0.5, 0.8, 1.2}) {
    for (int seed = 0; seed < (speed == 0.8 ? kSeeds : 3); ++seed) {
      CAPTURE(speed);
      CAPTURE(seed);
      WalkSetup setup;
      setup.walk.speed = speed, setup.walk.distance = 5;
      setup.pushes = {{.impulse = 10}};
      setup.seed = std::uint64_t(seed);
      WalkSimulation walk(human28(), setup);
      const WalkReport r = run(walk);
      CAPTURE(*walk.pushes()[0].time);
      CAPTURE(*walk.pushes()[0].direction);
      CHECK(!r.fallen);
      CHECK(walk.world().totals().worst_penetration < 2e-3);
    }
  }
}

TEST_CASE("walk: a fall has a time and a cause; the same seed falls the same way") {
  WalkSetup setup;
  setup.pushes = {{.impulse = 300, .time = 2.0, .direction = 1.0}};
  WalkSimulation walk(human28(), setup), twin(human28(), setup);
  const WalkReport r = run(walk);
  CHECK(r.fallen);
  CHECK(!r.cause.empty());
  CHECK(r.seconds > 2);
  CHECK(r.seconds < 5);
  run(twin);
  CHECK(twin.world().hash() == walk.world().hash());
}

TEST_CASE("walk: what cannot walk is refused") {
  CHECK_THROWS_WITH_AS(WalkSimulation(pendulum(), {}), doctest::Contains("cannot walk"), Error);
}
