#include "sim/forces.h"

#include <doctest/doctest.h>

#include "stage_support.h"

namespace kansetsu {

using namespace stage;

TEST_CASE("a joint's spring and damper are explicit torques and the inertia of their implicit part") {
  WorldState world(world_options());
  FigureData& f = add(world, rod({.damping = 0.5, .stiffness = 20, .rest = 0.1}));
  f.q[0] = 0.4, f.v[0] = 2;
  AppliedForces forces(world);
  forces.prepare(0, kStep);
  CHECK(f.tau[0] == doctest::Approx(-20 * 0.3 - 0.5 * 2));
  CHECK(f.extra[0] == doctest::Approx(kStep * 0.5 + 0.25 * kStep * kStep * 20));
  CHECK(f.stored[0] == doctest::Approx(-20 * 0.3));
  f.torque[0] = 3;
  forces.prepare(0, 0);  // of no length: nothing is implicit
  CHECK(f.tau[0] == doctest::Approx(3 - 20 * 0.3 - 0.5 * 2));
  CHECK(f.extra[0] == 0);
}

TEST_CASE("a spring between two figures pulls them together, a rope that is slack does not") {
  for (const double rest : {0.5, 1.5}) {
    WorldState world(world_options({}));
    add_ball(world, 0);
    add_ball(world, 1);
    SpringData spring;
    spring.a = {FigureId(0), LinkId(0)}, spring.b = {FigureId(1), LinkId(0)};
    spring.spring.stiffness = 10, spring.spring.pull_only = true, spring.rest = rest;
    world.springs.push_back(spring);
    AppliedForces forces(world);
    CHECK(forces.has_springs());
    forces.update_springs();
    forces.prepare(0, kStep);
    const double pull = rest < 1 ? 5 : 0;
    CHECK(world.figure(0).tau[5] == doctest::Approx(pull));
    CHECK(world.figure(1).tau[5] == doctest::Approx(-pull));
    CHECK(potential_energy(world) == doctest::Approx(rest < 1 ? 1.25 : 0));
  }
}

TEST_CASE("torques of PD control beyond their limit are found after a solution, and cut in the next") {
  WorldState world(world_options({}));
  FigureData& f = add(world, rod());
  const ControllerDescription pd{.name = "pd",
                                 .figure = "rod0",
                                 .kind = ControlKind::kPd,
                                 .joints = {{.dof = {"hinge", 0}, .value = 1, .kp = 100, .effort = 5}}};
  world.controllers.push_back(make_controller(pd, 0, f, 0));
  AppliedForces forces(world);
  forces.release_limits();
  forces.prepare(0, kStep);
  CHECK(f.tau[0] == doctest::Approx(100));
  f.vdot.setZero();
  CHECK(forces.exceed_limits(0, kStep));
  forces.prepare(0, kStep);
  CHECK(f.tau[0] == doctest::Approx(5));
  CHECK(!forces.exceed_limits(0, kStep));
  forces.release_limits();
  forces.prepare(0, kStep);
  CHECK(f.tau[0] == doctest::Approx(100));
}

TEST_CASE("sleeping figures get no torques") {
  WorldState world(world_options());
  FigureData& f = add(world, rod({.stiffness = 20, .rest = 0.1}));
  f.nap = 0;
  AppliedForces(world).prepare(0, kStep);
  CHECK(f.tau[0] == 0);
}

}  // namespace kansetsu
