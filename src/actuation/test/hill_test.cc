#include "actuation/hill.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace kansetsu;

namespace {

HillMuscle muscle(HillCurves curves) {
  return {.force = 800, .fibre_length = 0.08, .tendon_length = 0.3, .pennation = 0.35, .curves = curves};
}
constexpr HillCurves kAll[] = {HillCurves::kThelen, HillCurves::kMillard, HillCurves::kDeGroote};

/// Length of muscle and tendon at which the fibres are optimal.
double best(const HillMuscle& m) { return m.tendon_length + m.fibre_length * std::cos(m.pennation); }

}  // namespace

TEST_CASE("a Hill muscle at its optimal length and at rest pulls its force, less what the angle takes") {
  for (const HillCurves curves : kAll) {
    const HillMuscle m = muscle(curves);
    // De Groote's bells add up to 1.0 within 1 %, and asinh through rest to 1 within 1 %.
    CHECK(hill_gain(best(m), 0, m).value == doctest::Approx(-800 * std::cos(0.35)).epsilon(0.02));
    CHECK(hill_bias(best(m), m).value == doctest::Approx(0));
  }
  CHECK(hill_gain(best(muscle(HillCurves::kThelen)), 0, muscle(HillCurves::kThelen)).value ==
        doctest::Approx(-800 * std::cos(0.35)).epsilon(1e-12));  // rounding
}

TEST_CASE("curves of fibres have the values of their papers") {
  HillMuscle thelen = muscle(HillCurves::kThelen);
  CHECK(active_over_length(0.5, thelen).value == doctest::Approx(std::exp(-0.25 / 0.45)));
  CHECK(active_over_velocity(-1, thelen).value == 0);
  CHECK(active_over_velocity(-0.5, thelen).value == doctest::Approx(0.5 / 3.0));  // (1 + v)/(1 − v/A_f), A_f = ¼
  CHECK(active_over_velocity(1e9, thelen).value == doctest::Approx(1.4));
  CHECK(passive_over_length(1, thelen).value == 0);
  CHECK(passive_over_length(1.6, thelen).value == doctest::Approx(1));
  CHECK(passive_over_length(2.2, thelen).value == doctest::Approx(1 + 5 * std::exp(5) / std::expm1(5)));  // straight on
  // From ActiveForceLengthCurve of OpenSim 4.6 with no least force, between the points of the table.
  const HillMuscle millard = muscle(HillCurves::kMillard);
  for (const auto& [l, f] : {std::pair{0.62, 0.521788}, {0.97, 0.999509}, {1.33, 0.641968}})
    CHECK(std::abs(active_over_length(l, millard).value - f) < 0.01);
  CHECK(active_over_length(0.39, millard).value == 0);
  CHECK(active_over_length(1.91, millard).value == 0);
  // From DeGrooteFregly2016Muscle of OpenSim 4.6.
  const HillMuscle groote = muscle(HillCurves::kDeGroote);
  for (const auto& [l, f] : {std::pair{0.5, 0.054112153014},
                             {0.8, 0.836439566115},
                             {1.0, 1.0},
                             {1.3, 0.581188898379},
                             {1.6, 0.124255038540}})
    CHECK(active_over_length(l, groote).value == doctest::Approx(f).epsilon(1e-9));  // digits printed
  for (const auto& [v, f] : {std::pair{-0.8, 0.074759171450},
                             {-0.3, 0.408919058858},
                             {0.0, 1.0},
                             {0.4, 1.525376782831},
                             {1.0, 1.794342963555}})
    CHECK(active_over_velocity(v, groote).value == doctest::Approx(f).epsilon(1e-6));
}

TEST_CASE("fibres that have no length, or shorten faster than they can, do not pull") {
  for (const HillCurves curves : kAll) {
    const HillMuscle m = muscle(curves);
    CHECK(hill_gain(0.3 + 0.003, 0, m).value == 0);  // below a twentieth of the fibres' length along the tendon
    if (curves == HillCurves::kThelen) CHECK(hill_gain(0.3 + 0.005, 0, m).value < 0);  // others end at 0.4 and 0.45
    CHECK(hill_gain(0.1, 0, m).value == 0);
    CHECK(hill_gain(best(m), -0.08 * 10 / std::cos(0.35) * 1.01, m).value == 0);
    CHECK(hill_gain(best(m), -0.08 * 10 / std::cos(0.35) * 0.9, m).value < 0);
    CHECK(hill_bias(0.1, m).value == 0);
  }
}

TEST_CASE("derivatives of a Hill muscle's force are those of its value") {
  constexpr unsigned kSeed = 22;
  CAPTURE(kSeed);
  std::mt19937 rng(kSeed);
  std::uniform_real_distribution<double> length(0.32, 0.45), velocity(-0.7, 0.7);
  constexpr double kStep = 1e-7;
  for (int i = 0; i < 400; ++i) {
    const HillMuscle m = muscle(kAll[i % 3]);
    const double l = length(rng), v = velocity(rng);
    CAPTURE(l);
    CAPTURE(v);
    if (std::abs(v) < 1e-3 || std::abs(std::hypot(l - 0.3, 0.08 * std::sin(0.35)) - 0.08) < 1e-4) continue;  // kinks
    const MuscleValue g = hill_gain(l, v, m), b = hill_bias(l, m);
    const auto by_length = [&](auto f) { return (f(l + kStep) - f(l - kStep)) / (2 * kStep); };
    // Forces of 1e3 N over 1e-7 m: rounding of 1e-13 relative is 1e-3 N/m of slopes of 1e4.
    CHECK(g.d_length == doctest::Approx(by_length([&](double x) { return hill_gain(x, v, m).value; })).epsilon(1e-5));
    CHECK(b.d_length == doctest::Approx(by_length([&](double x) { return hill_bias(x, m).value; })).epsilon(1e-5));
    const double by_velocity = (hill_gain(l, v + kStep, m).value - hill_gain(l, v - kStep, m).value) / (2 * kStep);
    CHECK(g.d_velocity == doctest::Approx(by_velocity).epsilon(1e-5));  // rounding over the step, as above
  }
}
