#include <doctest/doctest.h>

#include "sim/sleep.h"
#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

/// Two balls that touch on a floor, and one by itself.
struct SleepWorld : WorldState {
  SleepWorld() : WorldState(world_options()) {
    add_floor(*this);
    for (int i = 0; i < 3; ++i) add_ball(*this, 0).q[0] = i < 2 ? 0.2 * i : 3;
    find();
  }
  void find() {
    find_contacts(*this);
    find_islands(*this, islands);
    reports.list_contacts(*this);
  }
  void rest(double seconds) {
    for (double t = 0; t < seconds; t += options.time_step) {
      find_islands(*this, islands);  // without those that sleep
      sleeping.settle(islands, reports);
    }
  }
  Islands islands{options.contact};
  Reports reports;
  Sleeping sleeping{*this};
};

}  // namespace

TEST_CASE("an island sleeps after kRestTime below kStill, together") {
  for (const double side : {0.9, 1.1}) {
    SleepWorld world;
    world.figure(0).v[3] = side * threshold::kStill;
    world.rest(threshold::kRestTime - 2 * kStep);
    CHECK(world.sleeping.count() == 0);
    world.rest(4 * kStep);
    CHECK(world.sleeping.count() == (side < 1 ? 3 : 1));
    CHECK((world.figure(1).nap >= 0) == (side < 1));
    CHECK(world.figure(2).nap >= 0);
  }
}

TEST_CASE("what is deeper than kSleepDepth slops is on its way out, and does not sleep") {
  for (const double side : {0.9, 1.1}) {
    SleepWorld world;
    world.figure(2).q[2] = 0.1 - side * threshold::kSleepDepth * world.options.contact.slop;
    world.find();
    world.rest(threshold::kRestTime + 2 * kStep);
    CHECK((world.figure(2).nap >= 0) == (side < 1));
  }
}

TEST_CASE("sleepers wake together, by hand or by what moves and touches them") {
  SleepWorld world;
  world.rest(threshold::kRestTime + 2 * kStep);
  REQUIRE(world.sleeping.count() == 3);
  world.sleeping.wake(1);
  CHECK(world.sleeping.count() == 1);
  CHECK(world.figure(0).nap < 0);
  CHECK(world.figure(2).nap >= 0);
  world.sleeping.wake_touched();  // the floor does not move
  CHECK(world.sleeping.count() == 1);
  world.figure(0).q[0] = 3.2;  // beside the sleeper
  world.find();
  world.sleeping.wake_touched();
  CHECK(world.sleeping.count() == 0);
}

TEST_CASE("what is driven does not sleep") {
  SleepWorld world;
  world.figure(2).torque[0] = 1e-3;
  world.springs.emplace_back().a = {FigureId(0), LinkId(0)};
  world.rest(threshold::kRestTime + 2 * kStep);
  CHECK(world.sleeping.count() == 0);
}

TEST_CASE("a world whose figures have all slept for a step is settled") {
  SleepWorld world;
  world.rest(threshold::kRestTime + 2 * kStep);
  CHECK(world.sleeping.is_settled());
  world.sleeping.recount();
  CHECK(world.sleeping.count() == 3);
  CHECK(!world.sleeping.is_settled());
}

}  // namespace kansetsu
