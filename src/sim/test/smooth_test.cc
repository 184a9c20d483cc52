#include "sim/smooth.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/model/figures.h"
#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

struct SmoothWorld : WorldState {
  explicit SmoothWorld(Integrator integrator) { options.integrator = integrator, options.time_step = kStep; }
  Islands islands{options.contact};
  RowBuilder rows{*this};
  AppliedForces forces{*this};
  BilateralSolver bilateral{*this, rows};
  SmoothIntegrator smooth{*this, islands, rows, forces, bilateral};
};

/// Energy error of a double pendulum in one second of steps of length h.
double drift(double h) {
  SmoothWorld world(Integrator::kRk4);
  FigureData& f = add(world, pendulum(2));
  f.q << 1, 0.5;
  const auto energy = [&] { return kinetic_energy(world) + potential_energy(world); };
  const double before = energy();
  while (world.time < 1 - 0.5 * h) world.time += world.smooth.step({world.time, h}).value();
  return std::abs(energy() - before);
}

}  // namespace

TEST_CASE("the classical method is of fourth order") {
  const double coarse = drift(0.02), fine = drift(0.01);
  CHECK(coarse / fine > 12);  // 16, and more where the fifth order helps
  CHECK(fine < 1e-4);
}

TEST_CASE("an adaptive step is as long as its tolerance allows, and the next one is known") {
  SmoothWorld world(Integrator::kAdaptive);
  world.options.tolerance = 1e-8;
  FigureData& f = add(world, pendulum(2));
  f.q << 1, 0.5;
  f.v << 3, -4;
  const std::optional<double> taken = world.smooth.step({0, 0.5});
  REQUIRE(taken);
  CHECK(*taken < 0.1);
  CHECK(world.smooth.next_step > 0);
}

TEST_CASE("what touches, is at a limit, or a new connection is not smooth, and nothing happens") {
  for (const int kind : {0, 1, 2}) {
    SmoothWorld world(Integrator::kRk4);
    add_floor(world);
    add_ball(world, kind == 0 ? 0 : 1);
    FigureData& f = add(world, rod({.lower = kind == 1 ? 0 : -1.0, .upper = 1}));
    if (kind == 2) join(world, -1, 0);
    CAPTURE(kind);
    CHECK(!world.smooth.step({0, kStep}));
    CHECK(f.q[0] == 0);
  }
}

TEST_CASE("an adaptive step ends where a contact begins") {
  SmoothWorld world(Integrator::kAdaptive);
  add_floor(world);
  FigureData& ball = add_ball(world, 0.05);
  ball.v[5] = -1;
  double last = 1;
  for (int i = 0; i < 1000 && last > 0; ++i) {
    const std::optional<double> taken = world.smooth.step({world.time, 0.02});
    if (!taken) break;
    world.time += *taken;
  }
  const double fall = (std::sqrt(1 + 2 * kG * 0.05) - 1) / kG;
  CHECK(world.time == doctest::Approx(fall).epsilon(1e-3));  // tol_gap of 5 cm
  CHECK(std::abs(ball.q[2] - 0.1) < 2e-4);
}

}  // namespace kansetsu
