#include "motion/capture_point.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

#include "motion/swing.h"

using namespace kansetsu;

namespace {

/// ξ̇ = ω·(ξ − z(t)) by many small steps of the midpoint rule.
template <class Pressure>
double run(const CapturePoint& capture, double xi, double time, Pressure z) {
  constexpr int kSteps = 20000;
  const double h = time / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const double half = xi + 0.5 * h * capture.omega() * (xi - z(i * h));
    xi += h * capture.omega() * (half - z((i + 0.5) * h));
  }
  return xi;
}

constexpr double kTolerance = 1e-7;  // of the midpoint rule with 20 000 steps

}  // namespace

TEST_CASE("capture point: the offsets repeat themselves from step to step") {
  const CapturePoint capture(3.4);
  const StepTiming t{0.4, 0.1};
  const auto pressure = [&](double stride) {
    return [&t, stride](double time) { return time < t.single ? 0 : stride * (time - t.single) / t.shared; };
  };
  const double ahead = capture.offset_ahead(t, 0.5);
  CHECK(std::abs(run(capture, ahead, t.total(), pressure(0.5)) - 0.5 - ahead) < kTolerance);
  const double aside = capture.offset_aside(t, 0.18);
  CHECK(std::abs(run(capture, aside, t.total(), pressure(0.18)) - 0.18 + aside) < kTolerance);
}

TEST_CASE("capture point: a foothold brings it where it shall be, from anywhere in the step") {
  const CapturePoint capture(3.1);
  const StepTiming t{0.35, 0.12};
  for (const double left : {0.35, 0.2, 0.0}) {
    for (const double xi : {-0.05, 0.02, 0.11}) {
      const double foot = capture.foothold(t, xi, 0.03, left, 0.07);
      const auto z = [&](double time) { return time < left ? 0.03 : 0.03 + (foot - 0.03) * (time - left) / t.shared; };
      CHECK(std::abs(run(capture, xi, left + t.shared, z) - foot - 0.07) < 3 * kTolerance);
    }
  }
  const double now = capture.shared_reference(0.1, 0.5, 0.08, 0.06);
  CHECK(std::abs(run(capture, now, 0.08, [](double time) { return 0.1 + 0.4 * time / 0.08; }) - 0.56) < kTolerance);
}

TEST_CASE("approach: arrives in time, however often it is planned anew") {
  Course c{0.2, 0.3, -1};
  const double dt = 1e-3;
  double before = c.p;
  for (int i = 0; i < 400; ++i) {
    c = approach(c, {i < 200 ? 0.9 : 1.0, -0.05, 0}, 0.4 - i * dt, dt);
    CHECK(std::abs(c.p - before) < 0.02);  // no jumps
    before = c.p;
  }
  CHECK(std::abs(c.p - 1) < 1e-12);
  CHECK(std::abs(c.v + 0.05) < 1e-12);
}

TEST_CASE("courses arrive with the speed and the acceleration that they shall have, or with the least acceleration") {
  constexpr double dt = 1e-4, kDuration = 0.4;
  const Course goal{0.02, 0, -1.2};
  Course c{-0.02, 0, 1.2}, g{0, 0.5, 0};
  double squares = 0;
  for (double t = 0; t < kDuration - 1.5 * dt; t += dt) {
    c = approach(c, goal, kDuration - t, dt);
    g = glide(g, 1, kDuration - t, dt);
    squares += dt * g.a * g.a;
  }
  CHECK(std::abs(c.p - goal.p) < 1e-5);  // a step before its end
  CHECK(std::abs(c.a - goal.a) < 0.02);
  CHECK(std::abs(g.p - 1) < 1e-3);  // the last 0.02 s are not caught up with
  // ∫a² of the cubic: (12·d² − 12·d·v·T + 4·v²·T²)/T³
  CHECK(squares == doctest::Approx((12 - 6 * kDuration + kDuration * kDuration) / std::pow(kDuration, 3))
                       .epsilon(0.05));  // 0.02 s of 0.4 are cut off
}
