#include "sim/island_solver.h"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/forces.h"
#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

struct SolverWorld : WorldState {
  explicit SolverWorld(const WorldOptions& o = world_options()) : WorldState(o) {}
  Reports reports;
  RowBuilder rows{*this};
  Islands islands{options.contact};
  ImpactSolver impacts{*this, rows, reports};
  IslandSolver solver{*this, rows, impacts, reports};
  StepPart part{0, kStep};

  /// Everything up to the forces of a part of a step, in the present poses.
  IslandWork& settle() {
    find_contacts(*this);
    for (ConnectionData& c : connections) place_connection(figures, time, c);
    find_islands(*this, islands);
    reports.list_contacts(*this);
    AppliedForces(*this).prepare(0, kStep);
    for (FigureData& f : islands[0].members) f.set_products(kStep);
    solver.settle(islands[0], part);
    if (islands[0].is_large) solver.settle(islands[0], part);
    return islands[0];
  }
};

}  // namespace

TEST_CASE("an island without rows falls freely") {
  SolverWorld world;
  const FigureData& ball = add_ball(world, 1);
  const IslandWork& w = world.settle();
  CHECK(w.settled);
  CHECK(w.row_count == 0);
  CHECK(ball.vdot[5] == doctest::Approx(-kG));
}

TEST_CASE("a box at rest stays, and its contact carries its weight") {
  SolverWorld world;
  add_floor(world);
  FigureData& box = add(world, body(Box{{0.2, 0.2, 0.2}}, "box", 3));
  box.q[2] = 0.1;
  const IslandWork& w = world.settle();
  CHECK(box.vdot.lpNorm<Eigen::Infinity>() < 1e-9);  // the solver's tolerance, of g
  CHECK(world.reports.contacts[0].wrench.f.z == doctest::Approx(3 * kG));
  CHECK(w.account.residual < 1e-8);
  CHECK(std::abs(w.account.work.others) < 1e-9);
}

TEST_CASE("a surface that moves does the work of friction") {
  SolverWorld world;
  add_floor(world, {}, {0.5, 0, 0});
  FigureData& box = add(world, body(Box{{0.2, 0.2, 0.2}}));
  box.q[2] = 0.1;
  const IslandWork& w = world.settle();
  const Vec3<> force = world.reports.contacts[0].wrench.f;
  CHECK(force.x > 0);
  CHECK(w.account.surface_work == doctest::Approx(kStep * 0.5 * force.x));
}

TEST_CASE("a spring in a connection does the work that the account of springs has") {
  SolverWorld world(world_options({}));
  FigureData& ball = add_ball(world, 0);
  ConnectionOptions soft{.mask = kPointMask, .hold = Hold::kTogether};
  soft.compliance.stiffness = 50.0;
  soft.X_AC.p = {0, 0, 0.2};
  join(world, -1, 0, soft).is_new = false;
  const IslandWork& w = world.settle();
  CHECK(ball.vdot[5] == doctest::Approx(50 * 0.1).epsilon(1e-3));  // less by its implicit part, k·h²/4
  const double dv = kStep * ball.vdot[5];
  CHECK(w.account.connection_springs == doctest::Approx(0.5 * dv * dv).epsilon(1e-9));  // all of it becomes motion
}

TEST_CASE("a stack solved by blocks of bodies has the forces of one solved by a matrix") {
  const int boxes = threshold::kDenseRows / 6;
  double lowest[2] = {};
  for (const int more : {0, 1}) {  // six rows between each two: the last box makes it large
    SolverWorld world;
    add_floor(world);
    for (int i = 0; i < boxes + more; ++i) {
      FigureData& box = add(world, body(Box{{0.2, 0.2, 0.2}}));
      box.q[2] = 0.1 + 0.2 * i;
    }
    const IslandWork& w = world.settle();
    CHECK(w.is_large == (more == 1));
    for (const ContactReport& c : world.reports.contacts) {
      if (c.a.is_world()) lowest[more] = c.wrench.f.z;
    }
    CHECK(lowest[more] == doctest::Approx(kG * (boxes + more)).epsilon(1e-4));  // sweep_tolerance of the larger one
  }
}

TEST_CASE("a gap between kTinyGap and kLargeGap is left to positions: forces do not close it") {
  SolverWorld world(world_options({}));
  FigureData& ball = add_ball(world, 0);
  ConnectionOptions together{.mask = kPointMask, .hold = Hold::kTogether};
  together.X_AC.p = {5e-4, 0, 0.1};
  join(world, -1, 0, together).is_new = false;
  world.settle();
  CHECK(ball.vdot.lpNorm<Eigen::Infinity>() < 1e-12);
}

TEST_CASE("rows that turn so fast that following them takes kTurningShare of the energy are held as they lie") {
  for (const double side : {0.99, 1.01}) {  // a turn of φ takes φ²/2 of the energy
    SolverWorld world(world_options({}));
    FigureData& ball = add_ball(world, 0);
    ConnectionOptions pin{.mask = kPointMask, .hold = Hold::kTogether};
    const double turn = side * std::sqrt(2 * threshold::kTurningShare) / kStep;
    pin.X_AC.p = {0, 0, 0.1};
    pin.X_BC.p = {1, 0, 0};
    ball.q[0] = -1;
    ball.v[2] = turn, ball.v[4] = -turn;
    join(world, -1, 0, pin).is_new = false;
    CHECK((world.settle().account.work.turned == 0) == (side > 1));
  }
}

}  // namespace kansetsu
