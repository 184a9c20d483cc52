#include "sim/impacts.h"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/island_solver.h"
#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

struct ImpactWorld : WorldState {
  explicit ImpactWorld(const WorldOptions& o = world_options({})) : WorldState(o) {}
  Reports reports;
  RowBuilder rows{*this};
  Islands islands{options.contact};
  ImpactSolver impacts{*this, rows, reports};
  IslandSolver solver{*this, rows, impacts, reports};

  IslandWork& build() {
    find_contacts(*this);
    for (ConnectionData& c : connections) place_connection(figures, time, c);
    find_islands(*this, islands);
    reports.list_contacts(*this);
    IslandWork& w = islands[0];
    for (FigureData& f : w.members) f.tau.setZero(), f.factorise(kStep);
    solver.build(w, rows.count(w, kStep, 0), Springs::kRest, kStep);
    return w;
  }
};

}  // namespace

TEST_CASE("a ball that meets the floor rebounds by its restitution, and the report has the impulse") {
  ImpactWorld world;
  add_floor(world, {.restitution = 0.5});
  FigureData& ball = add_ball(world, 0, {.restitution = 0.5});
  ball.v[5] = -2;
  IslandWork& w = world.build();
  REQUIRE(world.impacts.approaches(w, kStep));
  world.impacts.resolve(w, kStep, 0);
  CHECK(ball.v[5] == doctest::Approx(1));
  CHECK(world.reports.contacts[0].impulse.f.z == doctest::Approx(3));  // 1 kg·(1 + 2) m/s
  CHECK(w.account.impact_energy == doctest::Approx(0.5 - 2));
  CHECK(!world.contacts.touches()[0].is_new);
  CHECK(!world.impacts.approaches(w, kStep));
}

TEST_CASE("what separates is no impact") {
  ImpactWorld world;
  add_floor(world);
  add_ball(world, 0).v[5] = 1;
  CHECK(!world.impacts.approaches(world.build(), kStep));
}

TEST_CASE("what does not bounce is an impact from kSoftLanding weights on") {
  for (const double side : {0.99, 1.01}) {
    ImpactWorld world(world_options());
    add_floor(world);
    add_ball(world, 0).v[5] = -side * threshold::kSoftLanding * kG * kStep;
    CHECK(world.impacts.approaches(world.build(), kStep) == (side > 1));
  }
}

TEST_CASE("a connection that is made between moving figures conserves momentum and takes energy") {
  ImpactWorld world;
  add_ball(world, 0).v[3] = 3;
  add_ball(world, 0.5);
  join(world, 0, 1, {.mask = kPointMask});
  IslandWork& w = world.build();
  const double before = w.kinetic_energy();
  world.impacts.resolve(w, kStep, 0);
  CHECK(w.kinetic_energy() < before);
  const auto momentum = [](const FigureData& f) { return f.v[3]; };
  CHECK(momentum(world.figure(0)) + momentum(world.figure(1)) == doctest::Approx(3));
  CHECK(norm(world.connections[0].impulse.f) > 0);
  CHECK(!world.connections[0].is_new);
}

TEST_CASE("a direction of a connection with restitution rebounds and is let go") {
  ImpactWorld world;
  add_ball(world, 0).v[3] = 3;
  ConnectionOptions options{.mask = kPointMask};
  options.restitution = 1.0;
  join(world, -1, 0, options);
  IslandWork& w = world.build();
  world.impacts.resolve(w, kStep, 0);
  CHECK(world.figure(0).v[3] == doctest::Approx(-3));
  CHECK((world.connections[0].held & 0b001000) == 0);  // along x
}

}  // namespace kansetsu
