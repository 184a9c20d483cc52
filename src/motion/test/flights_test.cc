#include "motion/flights.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/motion/analysis.h"
#include "kansetsu/motion/clip.h"

using namespace kansetsu;

namespace {

constexpr int kFrames = 240, kFirst = 100, kLast = 140;  // at 120 Hz; flight, both inside
constexpr double kHopRate = 120, kGravity = 9.81;

/// Stands, flies for a third of a second with a captured noise of 0.5 mm, and stands again. @param times  of gravity
Clip hop(const Model& model, double times, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.0005);
  Clip clip{.name = "hop", .q = Eigen::MatrixXd(model.nq(), kFrames)};
  const double half = 0.5 * (kLast - kFirst + 2) / kHopRate;
  for (int k = 0; k < kFrames; ++k) {
    const double t = k / kHopRate - (kFirst + kLast) / 2 / kHopRate;
    clip.times.push_back(k / kHopRate);
    clip.q.col(k) = neutral(model);
    clip.q(0, k) = noise(random), clip.q(1, k) = noise(random);
    clip.q(2, k) = 0.88 + std::max(0.0, 0.5 * times * kGravity * (half * half - t * t)) + noise(random);
  }
  return clip;
}

std::vector<std::uint8_t> carried_but_in_flight() {
  std::vector<std::uint8_t> out(kFrames, 1);
  std::fill(out.begin() + kFirst, out.begin() + kLast + 1, 0);
  return out;
}

double hop_acceleration(const Clip& clip, int row, int k) {
  return kHopRate * kHopRate * (clip.q(row, k + 1) - 2 * clip.q(row, k) + clip.q(row, k - 1));
}

}  // namespace

TEST_CASE("who touches nothing falls, and filters do not smear the landing into it") {
  const unsigned seed = 7;
  CAPTURE(seed);
  const Model model = human28();
  const Clip captured = hop(model, 1, seed);
  Clip moved = low_pass(model, captured, 12);
  const Clip filtered = moved;
  fall_in_flight(model, captured, 12, carried_but_in_flight(), moved);
  CHECK(hop_acceleration(filtered, 2, kFirst) > -0.5 * kGravity);  // what the filter alone makes of it
  for (int k = kFirst; k <= kLast; ++k) {
    CHECK(hop_acceleration(moved, 2, k) ==
          doctest::Approx(-kGravity).epsilon(1e-3));  // 1/kConstraint of what was wrong
    CHECK(std::abs(hop_acceleration(moved, 0, k)) < 1e-3 * kGravity);
  }
  for (int k = 0; k < kFrames; ++k)
    CHECK(std::abs(moved.q(2, k) - captured.q(2, k)) <
          0.02);  // [m]: 12 Hz round off the jumps of 1.7 m/s at both ends, and slow errors are so large
}

TEST_CASE("a mass centre that is off by a centimetre for a while does not kick where flights begin and end") {
  const unsigned seed = 11;
  CAPTURE(seed);
  const Model model = human28();
  Clip captured = hop(model, 1, seed);
  const Clip exact = captured;
  for (int k = 0; k < kFrames; ++k) captured.q(0, k) += 0.01 * std::cos(2 * M_PI * 1.5 * k / kHopRate);
  Clip moved = low_pass(model, captured, 12);
  fall_in_flight(model, captured, 12, carried_but_in_flight(), moved);
  double most = 0;
  for (int k = 1; k + 1 < kFrames; ++k) most = std::max(most, std::abs(hop_acceleration(moved, 0, k)));
  // 10 mm at 1.5 Hz are 0.09 of gravity; a path that goes back to the captured one within the cut-off's 13 ms takes 1.6.
  CHECK(most < 0.4 * kGravity);
}

TEST_CASE("how fast flights fall is told as it was captured, where they are long enough to tell") {
  const Model model = human28();
  for (const double times : {0.5, 1.0, 4.0})
    CHECK(fall_of_flights(model, hop(model, times, 12), carried_but_in_flight()) ==
          doctest::Approx(times).epsilon(0.02));
  const auto tells = [&](int frames) {  // with 13 frames 5 mm are 0.35 of gravity: kReading, kKnown
    std::vector<std::uint8_t> carried(kFrames, 1);
    std::fill(carried.begin() + 115, carried.begin() + 115 + frames, 0);
    return fall_of_flights(model, hop(model, 4, 12), carried) > 2;
  };
  CHECK_FALSE(tells(12));
  CHECK(tells(13));
}

TEST_CASE("a flight that is no free fall stays as it was filtered") {
  const unsigned seed = 8;
  CAPTURE(seed);
  const Model model = human28();
  const Clip captured = hop(model, 4, seed);  // played twice as fast
  Clip moved = low_pass(model, captured, 12);
  const Clip filtered = moved;
  fall_in_flight(model, captured, 12, carried_but_in_flight(), moved);
  CHECK(moved.q == filtered.q);
}

TEST_CASE("without flights a filtered clip stays as it is") {
  const Model model = human28();
  const Clip captured = hop(model, 0, 9), filtered = low_pass(model, captured, 6);
  Clip moved = filtered;
  fall_in_flight(model, captured, 6, std::vector<std::uint8_t>(kFrames, 1), moved);
  CHECK(moved.q == filtered.q);
}

TEST_CASE("a flight in which the motion needs support is told, however short") {
  const Model model = human28();
  Clip clip = hop(model, 0, 10);
  std::vector<SupportHistory> supports = find_supports(model, low_pass(model, clip, 6));
  REQUIRE(supports.size() == 2);
  for (SupportHistory& s : supports)
    for (std::size_t k = 120; k < 124; ++k) s.touching[k] = 0;  // 33 ms: 3 % of a second
  const Analysis a = analyze(model, low_pass(model, clip, 6), supports);
  REQUIRE(a.gaps.size() == 1);
  CHECK(a.gaps[0].first == 120);
  CHECK(a.gaps[0].last == 123);
  CHECK(a.gaps[0].found == 0);
  CHECK(a.gaps[0].needed > 0.2 * a.summary.weight);
}
