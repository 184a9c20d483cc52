#include "sim/rows.h"

#include <doctest/doctest.h>

#include <cmath>

#include "stage_support.h"

/// Which rows an island has, and what bilateral ones are to reach.
namespace kansetsu {
namespace {

using namespace stage;

struct RowsWorld : WorldState {
  explicit RowsWorld(const WorldOptions& o = world_options()) : WorldState(o) {}
  RowBuilder rows{*this};
  Islands islands{options.contact};
  StepPart part{0, kStep};

  IslandWork& find() {
    find_contacts(*this);
    for (ConnectionData& c : connections) place_connection(figures, time, c);
    find_islands(*this, islands);
    return islands[0];
  }
  /// Writes the rows into the island, with mechanics factorised for the weight alone.
  IslandWork& build() {
    IslandWork& w = find();
    for (FigureData& f : w.members) f.factorise(kStep);
    const RowCount count = rows.count(w, kStep, 0.5 * kStep);
    w.island.begin(w.mechanics, count.bilateral, count.others, count.alone);
    rows.fill(w, Springs::kAct, kStep);
    return w;
  }
};

}  // namespace

TEST_CASE("a limit has a row from kLimitReach and kLimitSteps steps on") {
  for (const double speed : {0.0, -3.0}) {
    const double reach = threshold::kLimitReach + threshold::kLimitSteps * kStep * std::abs(speed);
    for (const double side : {0.99, 1.01}) {
      RowsWorld world;
      FigureData& f = add(world, rod({.lower = -0.3, .upper = 2}));
      f.q[0] = -0.3 + side * reach, f.v[0] = speed;
      const RowCount count = world.rows.count(world.find(), kStep, 0);
      CAPTURE(speed);
      CHECK(count.others == (side < 1));
      CHECK(count.bilateral == 0);
    }
  }
}

TEST_CASE("dry friction always has a row, and keeps its force for the next step") {
  RowsWorld world;
  FigureData& f = add(world, rod({.friction = 2}));
  IslandWork& w = world.find();
  CHECK(world.rows.count(w, kStep, 0).others == 1);
  CHECK(w.bounded[0].upper == 2);
  CHECK(w.bounded[0].lower == -2);
  w.result.force = {1.5};
  world.rows.remember_bounds(w);
  CHECK(f.bound_force[FigureData::kFriction] == 1.5);
  world.rows.count(w, kStep, 0);
  CHECK(w.bounded[0].last_force == 1.5);
}

TEST_CASE("a massless hinge above kHingeTurnInSight of kMostHingeTurn has a row that bounds its turn") {
  for (const double side : {0.99, 1.01}) {
    RowsWorld world;
    const Inertial inertial{.mass = 1, .origin = {.p = {0, 0, -0.5}}, .inertia = Sym3<>::diagonal(0.1, 0.1, 0.1)};
    FigureData& f = add(
        world,
        ModelBuilder("two")
            .base(Base::kFixed)
            .link("ground")
            .link("between")
            .link("rod", inertial)
            .joint(
                {.name = "a", .type = JointType::kRevolute, .parent = "ground", .child = "between", .axis = {1, 0, 0}})
            .joint({.name = "b", .type = JointType::kRevolute, .parent = "between", .child = "rod", .axis = {0, 1, 0}})
            .build());
    f.v[0] = side * threshold::kHingeTurnInSight * threshold::kMostHingeTurn / kStep;
    IslandWork& w = world.find();
    CHECK(world.rows.count(w, kStep, 0).others == (side > 1));
    if (side > 1) CHECK(w.bounded[0].gap == doctest::Approx(threshold::kMostHingeTurn));
  }
}

TEST_CASE("up to kFewContacts contacts begin where they share no block of eight rows, more follow each other") {
  for (const size_t boxes : {threshold::kFewContacts, threshold::kFewContacts + 1}) {
    RowsWorld world(world_options({}));
    add_floor(world);
    for (size_t i = 0; i < boxes; ++i) {
      FigureData& f = add(world, body(Box{{0.2, 0.2, 0.2}}));
      f.q[0] = double(i), f.q[2] = 0.1;
      if (i > 0) join(world, 0, int(i));
    }
    const IslandWork& w = world.build();
    REQUIRE(w.patches.size() == boxes);
    const int held = world.rows.count_bilateral(w), each = w.patches[1].row - w.patches[0].row;
    CHECK(w.patches[0].row_count == 6);
    if (boxes > threshold::kFewContacts) {
      CHECK(each == 6);
      continue;
    }
    for (const ContactPatch& p : w.patches) CHECK((held + p.row) % 8 <= 2);  // none goes across a block
  }
}

TEST_CASE("a rolling ball has one row of rolling friction, about its axis; one at rest has two") {
  for (const double spin : {0.0, 2.0}) {
    RowsWorld world;
    add_floor(world, {.rolling_radius = 0.01});
    FigureData& ball = add_ball(world, 0, {.rolling_radius = 0.01});
    ball.v[1] = spin, ball.v[3] = 0.1 * spin;
    IslandWork& w = world.find();
    world.contacts.touches()[0].pressure = 5;
    world.rows.count(w, kStep, 0);
    REQUIRE(w.bounded.size() == (spin > 0 ? 1 : 2));
    CHECK(w.bounded[0].upper == doctest::Approx(0.05));
    if (spin > 0) CHECK(w.bounded_origin[0].axis.y == doctest::Approx(1));
  }
}

TEST_CASE("a gap below kLargeGap is left to positions, a larger one closes by kClosingShare, at most kClosingSpeed") {
  struct Case {
    double gap, leave;
  };
  const double h = kStep, bounded = threshold::kClosingSpeed * h;
  const Case cases[] = {{0.9 * threshold::kLargeGap, 0},
                        {1.1 * threshold::kLargeGap, 1.1 * threshold::kLargeGap * (1 - threshold::kClosingShare)},
                        {0.9 * bounded / threshold::kClosingShare, 0.9 * bounded * (1 / threshold::kClosingShare - 1)},
                        {1.5 * bounded / threshold::kClosingShare, bounded * (1.5 / threshold::kClosingShare - 1)}};
  for (const Case& c : cases) {
    RowsWorld world(world_options({}));
    add_ball(world, 0);
    ConnectionOptions together{.mask = kPointMask, .hold = Hold::kTogether};
    together.X_AC.p = {c.gap, 0, 0.1};
    join(world, -1, 0, together);
    IslandWork& w = world.build();
    world.rows.set_targets(w, Target::kStep, world.part);
    CAPTURE(c.gap);
    CHECK(std::abs(w.leave[0]) == doctest::Approx(c.leave));
    CHECK(w.driven[0] == 0);  // it adds no velocity
  }
}

TEST_CASE("targets of a prescribed motion are its velocity and acceleration") {
  RowsWorld world(world_options({}));
  add_ball(world, 0);
  ConnectionOptions driven{.mask = kPointMask, .hold = Hold::kTogether};
  driven.X_AC.p = {0, 0, 0.1};
  driven.motion = PrescribedMotion{.velocity = {0.5, 0, 0}};
  join(world, -1, 0, driven);
  IslandWork& w = world.build();
  world.rows.set_targets(w, Target::kVelocity, world.part);
  CHECK(w.island.target()[0] == 0.5);
  world.rows.set_targets(w, Target::kStep, world.part);
  CHECK(w.island.target()[0] == doctest::Approx(0.5 / kStep));  // from rest, in one step
  world.rows.set_targets(w, Target::kAcceleration, world.part);
  CHECK(w.island.target()[0] == 0);
}

TEST_CASE("a polynomial coupling is one bilateral row with its slope") {
  RowsWorld world(world_options({}));
  FigureData& f =
      add(world,
          ModelBuilder("two")
              .base(Base::kFixed)
              .link("ground")
              .link("a", {.mass = 1, .inertia = Sym3<>::diagonal(1, 1, 1)})
              .link("b", {.mass = 1, .inertia = Sym3<>::diagonal(1, 1, 1)})
              .joint({.name = "ja", .type = JointType::kRevolute, .parent = "ground", .child = "a", .axis = {0, 1, 0}})
              .joint({.name = "jb", .type = JointType::kRevolute, .parent = "ground", .child = "b", .axis = {0, 1, 0}})
              .build());
  CouplingData c{.coupling = {}, .figure = 0, .dependent = 1, .driver = 0};
  c.coupling.coefficient = {0.1, 2, 3, 0, 0};  // q_b = 0.1 + 2·q_a + 3·q_a²
  world.couplings.push_back(c);
  f.q << 0.2, 1.0;
  f.v << 1.5, -0.5;
  const CouplingData::Value value = c.value(f);
  CHECK(value.gap == doctest::Approx(1.0 - (0.1 + 0.4 + 0.12)));
  CHECK(value.slope == doctest::Approx(2 + 6 * 0.2));
  CHECK(value.curvature == doctest::Approx(6));
  IslandWork& w = world.build();
  CHECK(w.island.bilateral() == 1);
  CHECK(w.island.u()[0] == doctest::Approx(-0.5 - 3.2 * 1.5));
}

}  // namespace kansetsu
