#include <doctest/doctest.h>

#include <algorithm>

#include "sim/positions.h"
#include "stage_support.h"

namespace kansetsu {

using namespace stage;

TEST_CASE("shifts of an island above kMostShift are cut by one factor") {
  for (const double side : {0.9, 1.1}) {
    WorldState world(world_options());
    IslandWork w;
    for (int i = 0; i < 2; ++i) w.members.push_back(add_ball(world, i));
    const double most = side * threshold::kMostShift, share = std::min(side, 1.0) / side;
    world.figure(0).shift[5] = most, world.figure(1).shift[5] = -0.5 * most;
    CHECK(!has_shifts(w));
    bound_shifts(w);
    CHECK(has_shifts(w));
    apply_shifts(w);
    CHECK(world.figure(0).q[2] - 0.1 == doctest::Approx(share * most));
    CHECK(world.figure(1).q[2] - 1.1 == doctest::Approx(-0.5 * share * most));
    CHECK(!has_shifts(w));
    CHECK(world.figure(0).v.norm() == 0);
  }
}

}  // namespace kansetsu
