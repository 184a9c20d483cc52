#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"

using namespace kansetsu;

/// What is inside each other comes apart by positions alone.
namespace {

constexpr double kLength = 1, kRadius = 0.05, kStep = 1e-3;

/// A pendulum that is fixed at the height of the floor and hangs through it.
Model sunk_pendulum() {
  const Pose tip{.p = {0, 0, -kLength}};
  LinkDescription rod;
  rod.name = "rod";
  rod.inertial = Inertial{.mass = 1, .origin = tip, .inertia = {.xx = 0.1, .yy = 0.1, .zz = 0.1}};
  rod.collisions.push_back({.origin = tip, .shape = Sphere{kRadius}});
  JointDescription hinge;
  hinge.name = "hinge", hinge.type = JointType::kRevolute, hinge.parent = "base", hinge.child = "rod";
  hinge.axis = {0, 1, 0};
  return ModelBuilder("pendulum").base(Base::kFixed).link("base").link(rod).joint(hinge).build();
}

/// How far a step turns the pendulum that begins at rest, `angle` from the vertical.
double turned(double angle) {
  World world(WorldOptions{.time_step = kStep, .gravity = {0, 0, 0}});
  world.add_fixed(Plane{}, {});
  const Model model = sunk_pendulum();
  State state(model);
  state.q[0] = angle;
  const FigureId figure = world.add(model, state);
  world.step();
  CHECK(world.kinetic_energy() == 0);
  return std::abs(world.q(figure)[0] - angle);
}

}  // namespace

TEST_CASE(
    "a shift of positions takes what is deep out at its speed, and turns nothing by more than a twentieth of a "
    "radian") {
  const ContactOptions o;
  for (const double angle : {0.1, 1e-3}) {
    CAPTURE(angle);
    const double depth = kLength * std::cos(angle) + kRadius, way = kStep * (o.push_speed + depth);
    const double asked = way / (kLength * std::sin(angle));
    if (angle > 0.05) {
      REQUIRE(asked < 0.05);
      CHECK(turned(angle) == doctest::Approx(asked).epsilon(2e-3));  // rows yield by a thousandth
    } else {
      REQUIRE(asked > 0.05);
      CHECK(turned(angle) == doctest::Approx(0.05));
    }
  }
}
