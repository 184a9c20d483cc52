#include "motion/balance_plan.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kansetsu;

namespace {

constexpr double kStep = 0.005;

/// Walks: left foot, both, right foot, both, …; or runs, with flights in place of both.
std::vector<BalanceMoment> gait(bool runs, int count) {
  std::vector<BalanceMoment> out;
  constexpr int kHalf = 100, kBoth = 24;
  for (int k = 0; k < count; ++k) {
    const int phase = k % (2 * kHalf), part = phase % kHalf;
    const bool left = phase < kHalf;
    BalanceMoment m{.stiffness = 10, .share = {left ? 1. : 0., left ? 0. : 1.}, .down = {left, !left}};
    if (part < kBoth && k >= kBoth) {
      const double s = (part + 0.5) / kBoth;
      m.share = left ? std::array{s, 1 - s} : std::array{1 - s, s};
      m.down = {!runs, !runs};
      if (runs) m.stiffness = 0;
    }
    out.push_back(m);
  }
  return out;
}

/// What the rest of the clip costs from a state on, when pressure and footholds are those of the plan, or off by a part of them.
double followed(const std::vector<BalanceMoment>& moments, const std::vector<BalanceFrame>& plan,
                const BalanceCosts& costs, Eigen::Vector4d x, double pressure = 1, double foothold = 1,
                std::vector<double>* landed = nullptr) {
  double cost = 0;
  for (std::size_t k = 0; k < moments.size(); ++k) {
    for (const std::size_t foot : {1u, 0u}) {  // both at once: the right one first, as the plan has it
      if (k == 0 || !moments[k].down[foot] || moments[k - 1].down[foot]) continue;
      x[2 + long(foot)] = foothold * plan[k].land[foot].dot(x);
      if (landed) landed->push_back(x[2 + long(foot)]);
      cost += std::pow((x[2 + long(foot)] - x[0]) / costs.reach, 2);
    }
    const double u = pressure * plan[k].pressure.dot(x);
    cost += costs.rate * kStep * std::pow(u / costs.sole, 2);
    x[1] += kStep * moments[k].stiffness * (x[0] - moments[k].share[0] * x[2] - moments[k].share[1] * x[3] - u);
    x[0] += kStep * x[1];
  }
  return cost + std::pow((x[0] + x[1] / costs.rate - 0.5 * (x[2] + x[3])) / costs.sole, 2);
}

}  // namespace

TEST_CASE("a planned balance costs least, and lands where it said") {
  for (const bool runs : {false, true}) {
    CAPTURE(runs);
    const BalanceCosts costs{.rate = std::sqrt(10.), .sole = 0.04, .reach = 0.15};
    const std::vector<BalanceMoment> moments = gait(runs, 700);
    const std::vector<BalanceFrame> plan = plan_balance(moments, kStep, costs);
    for (const Eigen::Vector4d& start : {Eigen::Vector4d(0.02, 0, 0, 0), Eigen::Vector4d(0, 0.1, 0.03, 0)}) {
      std::vector<double> landed;
      const double least = followed(moments, plan, costs, start, 1, 1, &landed);
      CHECK(least < 20);  // a metre astray would cost hundreds
      for (const double part : {0.95, 1.05}) {
        CHECK(followed(moments, plan, costs, start, part, 1) > least);
        CHECK(followed(moments, plan, costs, start, 1, part) > least);
      }
      // From the first frame on it is known where the feet will land: the right one first.
      REQUIRE(landed.size() >= 2);
      CHECK(plan[0].land[1].dot(start) == doctest::Approx(landed[0]).epsilon(1e-9));  // rounding of 700 products
    }
  }
}

TEST_CASE("nothing can be pushed in flight, and on one foot for ever the capture point stays over it") {
  const std::vector<BalanceFrame> run = plan_balance(gait(true, 300), kStep, {});
  CHECK(run[105].pressure.norm() == 0);
  CHECK(run[105].land[1].norm() > 0);
  const std::vector<BalanceMoment> stand(2000, {.stiffness = 9, .share = {1, 0}, .down = {true, false}});
  const std::vector<BalanceFrame> plan = plan_balance(stand, kStep, {.rate = 3, .sole = 0.04, .reach = 0.15});
  // The cheapest feedback that holds ξ = e + ė/ω mirrors its rate of escape: u = 2·ξ.
  CHECK(plan[0].pressure[0] == doctest::Approx(2).epsilon(0.02));  // steps of 5 ms
  CHECK(plan[0].pressure[1] == doctest::Approx(2. / 3).epsilon(0.02));
  CHECK(plan_balance({}, kStep, {}).empty());
}
