#include "sim/meeting.h"

#include <doctest/doctest.h>

#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

/// A ball 1 mm above the floor at a velocity.
struct Falling : WorldState {
  explicit Falling(double speed, double restitution = 0) : WorldState(world_options({})) {
    add_floor(*this, {.restitution = restitution});
    add_ball(*this, 1e-3, {.restitution = restitution}).v[5] = speed;
    find_contacts(*this);
  }
};

}  // namespace

TEST_CASE("the time to touch is that of the way to a little past the surface; of what parts there is none") {
  const Falling falling(-2);
  const double tol = falling.options.contact.tol_gap;
  CHECK(time_to_touch(falling.contacts, tol) == doctest::Approx((1e-3 + tol) / 2));
  CHECK(time_to_touch(Falling(2).contacts, tol) == kInfinity);
}

TEST_CASE("what bounces and would pass the surface in the next step touches now") {
  for (const double side : {0.99, 1.01}) {
    Falling bouncing(-side * 1e-3 / kStep, 0.5);
    meet_impacts(bouncing.contacts, bouncing.options, kStep);
    CHECK(bouncing.contacts.touches()[0].is_new == (side > 1));
    Falling dead(-side * 1e-3 / kStep);
    meet_impacts(dead.contacts, dead.options, kStep);
    CHECK(!dead.contacts.touches()[0].is_new);
  }
}

TEST_CASE("contacts separate unless one touches and does not open, or is inside and opens slowly") {
  for (const double speed : {-1.0, 1.0}) {
    WorldState world(world_options());
    add_floor(world);
    add_ball(world, 0.5e-4).v[5] = speed;
    find_contacts(world);
    CHECK(all_separate(world.contacts, world.options) == (speed > 0));
  }
}

TEST_CASE("nothing is looked for ahead unless the options anticipate") {
  WorldOptions o = world_options();
  CHECK(look_ahead(o, kStep).h == kStep);
  o.contact.anticipate = false;
  CHECK(look_ahead(o, kStep).h == 0);
}

}  // namespace kansetsu
