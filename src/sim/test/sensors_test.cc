#include "sim/sensors.h"

#include <doctest/doctest.h>

#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

struct SensorWorld : WorldState {
  SensorWorld() : WorldState(world_options()) {}
  Reports reports;
  SensorReader sensors{*this, reports};

  const std::vector<double>& read(SensorKind kind, BodyRef body, int size) {
    SensorData& s = sensors.list.emplace_back();
    s.description.kind = kind, s.body = body;
    s.index = 0;
    s.value.assign(size_t(size), 0);
    sensors.read();
    return s.value;
  }
};

}  // namespace

TEST_CASE("an accelerometer feels what holds it: nothing in free fall, g at rest") {
  for (const double held : {0.0, kG}) {
    SensorWorld world;
    add_ball(world, 1).vdot[5] = held - kG;
    CHECK(world.read(SensorKind::kAccelerometer, {FigureId(0), LinkId(0)}, 3)[2] == doctest::Approx(held));
  }
}

TEST_CASE("the force across a hinge at rest is the weight of what hangs from it") {
  SensorWorld world;
  const FigureData& f = add(world, rod());
  const BodyRef rod_link{FigureId(0), f.model.child_link(JointId(0))};
  CHECK(world.read(SensorKind::kJointForce, rod_link, 6)[5] == doctest::Approx(kG));
}

TEST_CASE("coordinates, energies and the clock") {
  SensorWorld world;
  FigureData& f = add(world, rod());
  f.q[0] = 0.3, f.v[0] = 2;
  world.time = 1.5;
  const BodyRef link{FigureId(0), LinkId(0)};
  CHECK(world.read(SensorKind::kJointPosition, link, 1)[0] == 0.3);
  CHECK(world.read(SensorKind::kJointVelocity, link, 1)[0] == 2);
  CHECK(world.read(SensorKind::kClock, link, 1)[0] == 1.5);
  CHECK(world.read(SensorKind::kKineticEnergy, link, 1)[0] == doctest::Approx(0.5 * 4 / 3.0));
}

TEST_CASE("values are cut at the cutoff, after their noise") {
  SensorWorld world;
  FigureData& f = add(world, rod());
  f.v[0] = -2;
  SensorData& s = world.sensors.list.emplace_back();
  s.description.kind = SensorKind::kJointVelocity, s.description.cutoff = 1.5, s.description.noise = 0.01;
  s.body = {FigureId(0), LinkId(0)}, s.index = 0;
  s.value = {0};
  world.sensors.read();
  CHECK(s.value[0] == -1.5);
}

}  // namespace kansetsu
