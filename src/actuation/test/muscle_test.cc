#include "actuation/muscle.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace kansetsu;

namespace {

// Works between lengths 0.3 and 0.6 m, which are 0.75 and 1.05 optimal ones: the optimum is at l₀ = 1 m, 0.55 m long.
constexpr Interval kRange{0.3, 0.6};
constexpr LawNumbers kNumbers{0.75, 1.05, 500, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
constexpr double kOptimum = 1.0, kBest = 0.55;

}  // namespace

TEST_CASE("a muscle pulls hardest at its optimal length, at rest, and there it has no passive force") {
  CHECK(muscle_gain(kBest, 0, kRange, kNumbers).value == doctest::Approx(-500).epsilon(1e-12));
  CHECK(muscle_bias(kBest, kRange, kNumbers).value == doctest::Approx(0).epsilon(1e-12));
  const MuscleValue shorter = muscle_gain(kBest - 0.1, 0, kRange, kNumbers),
                    longer = muscle_gain(kBest + 0.1, 0, kRange, kNumbers);
  CHECK(shorter.value > -500);
  CHECK(longer.value > -500);
}

TEST_CASE("the active force ends at lmin and lmax, and at the largest speed of shortening") {
  const auto at = [](double l, double v) {  // length in optimal ones
    return muscle_gain(kRange.lower + (l - 0.75) * kOptimum, v, kRange, kNumbers).value;
  };
  CHECK(at(0.49, 0) == 0);
  CHECK(at(0.52, 0) < 0);
  CHECK(at(1.59, 0) < 0);
  CHECK(at(1.61, 0) == 0);
  CHECK(at(1, -1.5 * kOptimum) == 0);
  CHECK(at(1, -0.75 * kOptimum) == doctest::Approx(-500 * 0.25).epsilon(1e-12));  // (1 − ½)²
  CHECK(at(1, 10) == doctest::Approx(-500 * 1.2).epsilon(1e-12));                 // fvmax
}

TEST_CASE("the passive force is a parabola from the optimal length, then a straight line") {
  const auto at = [](double l) { return muscle_bias(kRange.lower + (l - 0.75), kRange, kNumbers).value; };
  CHECK(at(0.9) == 0);
  CHECK(at(1.3) == doctest::Approx(-0.5 * 1.3 * 500).epsilon(1e-12));  // at b = (1 + lmax)/2
  CHECK(at(1.6) == doctest::Approx(-1.5 * 1.3 * 500).epsilon(1e-12));
}

TEST_CASE("derivatives of a muscle's force are those of its curves") {
  constexpr unsigned kSeed = 3;
  CAPTURE(kSeed);
  std::mt19937 rng(kSeed);
  std::uniform_real_distribution<double> length(0.06, 1.3), velocity(-1.4, 0.5);
  constexpr double kStep = 1e-6, kTolerance = 2e-3;  // of forces of 500 N; curves bend by 1e4 N/m² at most
  for (int i = 0; i < 200; ++i) {
    const double l = length(rng), v = velocity(rng);
    CAPTURE(l);
    CAPTURE(v);
    const auto gain = [](double x, double y) { return muscle_gain(x, y, kRange, kNumbers).value; };
    const auto bias = [](double x) { return muscle_bias(x, kRange, kNumbers).value; };
    const MuscleValue g = muscle_gain(l, v, kRange, kNumbers), b = muscle_bias(l, kRange, kNumbers);
    CHECK(std::abs(g.d_length - (gain(l + kStep, v) - gain(l - kStep, v)) / (2 * kStep)) < 500 * kTolerance);
    CHECK(std::abs(g.d_velocity - (gain(l, v + kStep) - gain(l, v - kStep)) / (2 * kStep)) < 500 * kTolerance);
    CHECK(std::abs(b.d_length - (bias(l + kStep) - bias(l - kStep)) / (2 * kStep)) < 500 * kTolerance);
  }
}

TEST_CASE("activation rises faster than it falls, and stops at the control") {
  constexpr std::array<double, 3> kTimes{0.01, 0.04, 0};
  CHECK(muscle_activation_rate(1, 0, kTimes) == doctest::Approx(1 / (0.01 * 0.5)));
  CHECK(muscle_activation_rate(0, 1, kTimes) == doctest::Approx(-1 / (0.04 / 2)));
  CHECK(muscle_activation_rate(0.3, 0.3, kTimes) == 0);
  CHECK(muscle_activation_rate(7, 0.5, kTimes) == muscle_activation_rate(1, 0.5, kTimes));  // controls are within 0…1
  const std::array<double, 3> smooth{0.01, 0.04, 0.2};  // half way between both where control and activation agree
  const double x = 0.5, rising = 0.01 * 1.25, falling = 0.04 / 1.25, little = 1e-9;
  CHECK(muscle_activation_rate(x + little, x, smooth) ==
        doctest::Approx(little / (0.5 * (rising + falling))).epsilon(1e-6));  // the smooth step is straight to 1e-9²
}
