#include "sim/energy.h"

#include <doctest/doctest.h>

#include <cmath>

#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

/// A rod that a part of a step has made faster, from v to v·(1 + gain)^½, without gravity or any work.
struct Gained {
  Gained(double v, double gain) : world(world_options({})), islands(world.options.contact) {
    FigureData& f = add(world, rod());
    f.v[0] = v;
    f.q_begin = f.q, f.v_begin = f.v, f.vdot_begin = f.vdot;
    f.begin_part(kStep);
    f.vdot[0] = v * (std::sqrt(1 + gain) - 1) / kStep;
    f.finish_part(kStep);
    f.torque_work = 0;
    find_islands(world, islands);
  }
  WorldState world;
  Islands islands;
  EnergyGuard guard{world};
};

}  // namespace

TEST_CASE("a part that gives kStepGain of the kinetic energy is too long, one that gives less is not") {
  for (const double side : {0.99, 1.01}) {
    Gained g(50, side * threshold::kStepGain / (1 - side * threshold::kStepGain));
    IslandWork& w = g.islands[0];
    const EnergyGuard::Gain gain = g.guard.gain(w, kStep);
    CHECK(gain.is_excess() == (side > 1));
    CHECK(w.kinetic == doctest::Approx(w.kinetic_energy()));
  }
}

TEST_CASE("what a part has given is taken away, and no velocity turns round") {
  Gained g(50, 0.2);  // rad/s: 0.1 rad in the step
  IslandWork& w = g.islands[0];
  FigureData& f = w.members[0];
  const double before = f.energy_of(f.q_begin, f.v_begin).kinetic;
  g.guard.take_away(w, kStep);
  CHECK(w.kinetic_energy() == doctest::Approx(before).epsilon(threshold::kStepGain));
  CHECK(f.v[0] > 0);
  CHECK(w.account.work.others == doctest::Approx(-0.2 * before).epsilon(threshold::kStepGain));
  CHECK(!w.kept);
}

TEST_CASE("where nothing moves far and all contacts are solved, energy is not looked at") {
  Gained g(1, 0.5);
  IslandWork& w = g.islands[0];
  FigureData& f = w.members[0];
  f.begins_far = false;
  CHECK(!EnergyGuard::is_far(w, kStep));
  CHECK(g.guard.gain(w, kStep).found == 0);
  w.result.tier = ContactTier::kUnsolved;
  CHECK(g.guard.gain(w, kStep).found > 0);
}

TEST_CASE("a correction of positions never leaves more kinetic energy, and the motion in flight stays") {
  WorldState world(world_options());
  Islands islands(world.options.contact);
  FigureData& f = add(world, body(Box{{0.4, 0.2, 0.1}}));
  f.v << 1, 2, 3, 4, 5, 6;
  find_islands(world, islands);
  IslandWork& w = islands[0];
  w.kinetic = -1;
  EnergyGuard::begin_correction(w);
  const double before = w.kinetic;
  CHECK(before == doctest::Approx(w.kinetic_energy()));
  f.v *= 1.1;
  EnergyGuard(world).end_correction(w);
  CHECK(f.v[3] == doctest::Approx(4.4));    // its momentum is not the guard's: it flies as one rigid body
  world.contacts.touches().emplace_back();  // held by a fixed shape it does not fly
  add_floor(world);
  world.contacts.touches()[0].parent = 1, world.contacts.touches()[0].real = 0;
  w.touches = {0};
  EnergyGuard(world).end_correction(w);
  CHECK(w.kinetic_energy() == doctest::Approx(before));
}

}  // namespace kansetsu
