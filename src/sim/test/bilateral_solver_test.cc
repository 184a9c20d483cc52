#include "sim/bilateral_solver.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

/// A ball that is to be `gap` further along x than it is.
struct GapWorld : WorldState {
  explicit GapWorld(double gap) : WorldState(world_options({})) {
    add_ball(*this, 0);
    ConnectionOptions together{.mask = kPointMask, .hold = Hold::kTogether};
    together.X_AC.p = {gap, 0, 0.1};
    join(*this, -1, 0, together).is_new = false;
    find_islands(*this, islands);
    for (FigureData& f : island().members) f.factorise(kStep);
  }
  IslandWork& island() { return islands[0]; }
  RowBuilder rows{*this};
  BilateralSolver bilateral{*this, rows};
  Islands islands{options.contact};
};

}  // namespace

TEST_CASE("gaps from kTinyGap to kLargeGap are closed by positions alone, others are left") {
  struct Case {
    double gap;
    bool closes;
  };
  using namespace threshold;
  for (const Case& c : {Case{0.9 * kTinyGap, false}, Case{1.1 * kTinyGap, true}, Case{0.9 * kLargeGap, true},
                        Case{1.1 * kLargeGap, false}}) {
    GapWorld world(c.gap);
    CHECK(world.bilateral.largest_gap(world.island(), 0) == doctest::Approx(c.gap));
    world.bilateral.close_gaps(world.island(), {0, kStep});
    CAPTURE(c.gap);
    CHECK((world.bilateral.largest_gap(world.island(), 0) < 0.5 * c.gap) == c.closes);
    CHECK(world.figure(0).v.norm() == 0);
    CHECK(world.island().kept == false);
  }
}

TEST_CASE(
    "of a gap that a step is to leave, only the rest is closed, and no coordinate moves more than kFurthestClosing") {
  for (const double side : {0.9, 1.1}) {
    GapWorld world(0.1);
    world.island().leave = {-0.1 + side * threshold::kFurthestClosing, 0, 0};  // the gap is C − D
    world.bilateral.close_gaps(world.island(), {0, kStep});
    const double first = std::min(side, 1.0) * threshold::kFurthestClosing;
    const double all = side * threshold::kFurthestClosing;  // by a second correction
    CHECK(world.figure(0).q[0] >= first - 1e-12);
    CHECK(world.figure(0).q[0] == doctest::Approx(all));
  }
}

TEST_CASE("a way to closed gaps of more than kLongestClosing is gone in parts") {
  for (const double side : {0.9, 1.1}) {
    GapWorld world(side * threshold::kLongestClosing);
    world.bilateral.approach(world.island(), {0, kStep});
    CHECK(world.figure(0).q[0] == doctest::Approx(std::min(side, 1.0) * threshold::kLongestClosing));
  }
}

TEST_CASE("velocities are corrected to what rows prescribe, accelerations follow them") {
  GapWorld world(0);
  FigureData& f = world.figure(0);
  f.v << 0, 0, 0, 3, 0, 1;
  f.set_mechanics();
  f.factorise(kStep);
  world.bilateral.solve_velocities(world.island(), {0, kStep});
  CHECK(f.v.norm() < 1e-15);
  f.set_mechanics();
  f.tau[3] = 7;
  f.mechanics.factorise(nullptr, f.tau.data());
  world.bilateral.solve_accelerations(world.island(), {0, kStep});
  CHECK(f.vdot.norm() < 1e-12);
  CHECK(world.connections[0].wrench.f.x == doctest::Approx(-7));
  CHECK(world.island().power == 0);
}

TEST_CASE("redundant rows are counted") {
  GapWorld world(0);
  join(world, -1, 0, {.mask = kPointMask}).is_new = false;
  find_islands(world, world.islands);
  world.figure(0).factorise(kStep);
  world.bilateral.solve_velocities(world.island(), {0, kStep});
  CHECK(world.island().account.rank_deficiency == 3);
}

}  // namespace kansetsu
