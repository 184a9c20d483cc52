#include "motion/corner_costs.h"

#include <doctest/doctest.h>

#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;

namespace {

/// Heel (corner 0) down from frame 10 to 69, toe (corner 1) from 20 to 89, at 100 Hz.
SupportHistory rolling() {
  SupportHistory s{.name = "foot"};
  s.support.corners = {{-0.05, 0, 0}, {0.15, 0, 0}};
  for (int k = 0; k < 100; ++k) s.touching.push_back((k >= 10 && k < 70 ? 1u : 0) | (k >= 20 && k < 90 ? 2u : 0));
  return s;
}

std::vector<double> frame_times() {
  std::vector<double> out;
  for (int k = 0; k < 100; ++k) out.push_back(0.01 * k);
  return out;
}

}  // namespace

TEST_CASE("loads roll from heel to toe, and pass from foot to foot") {
  const SupportHistory foot = rolling();
  const CornerCosts cost = corner_costs(foot, frame_times(), readiness({&foot, 1}, frame_times(), 0.1)[0], 0.3);
  double before = 0;
  for (int k = 21; k < 69; ++k) {  // share of the toe, of a load that both could carry
    const double toe = 1 / cost(1, k), heel = 1 / cost(0, k), share = toe / (toe + heel);
    CHECK(share >= before - 1e-12);
    before = share;
  }
  CHECK(before > 0.9);
  // The foot as a whole: hardly ready where it lands and leaves, as ready as can be in between.
  for (int k = 20; k < 80; ++k) {
    const double heel = k < 70 ? 1 / cost(0, k) : 0, toe = 1 / cost(1, k);
    CHECK(heel + toe == doctest::Approx(2));  // corners, whoever of them touches
  }
  CHECK(cost(0, 10) == doctest::Approx(10));  // half a frame of ten: a twentieth of the transfer, for two corners
  CHECK(cost(1, 89) == doctest::Approx(10));
}

TEST_CASE("feet hand over in proportion to time while both are down, unless they stand") {
  for (const int together : {10, 30, 45}) {  // frames of 10 ms; kLongestTransfer is 40
    CAPTURE(together);
    std::vector<SupportHistory> feet(2);
    std::vector<double> times;
    for (int k = 0; k < 150; ++k) {
      times.push_back(0.01 * k);
      feet[0].touching.push_back(k < 50 + together), feet[1].touching.push_back(k >= 50);
    }
    const auto ready = readiness(feet, times, 0.1);
    const bool hands_over = 0.01 * together < kLongestTransfer;
    for (std::size_t k = 51; k + 1 < 50 + std::size_t(together); ++k) {
      const double share = (times[k] - 0.495) / (0.01 * together);
      CHECK(ready[1][k] == doctest::Approx(hands_over ? share : std::min(1.0, (times[k] - 0.495) / 0.1)));
      if (hands_over) CHECK(ready[0][k] + ready[1][k] == doctest::Approx(1));
    }
    CHECK(ready[0][30] == 1);  // ends of the clip are no landings
    CHECK(ready[1][149] == 1);
  }
}

TEST_CASE("corners that are easier carry more, and numbers of ease must fit") {
  SupportHistory s = rolling();
  s.ease = {1, 3};
  const CornerCosts cost = corner_costs(s, frame_times(), std::vector<double>(100, 1), 0);  // no rolling: ease alone
  CHECK(cost(0, 45) == doctest::Approx(3 * cost(1, 45)));
  const Model model = human28();
  Clip clip{.name = "standing", .times = {0, 0.1, 0.2}, .q = Eigen::MatrixXd(model.nq(), 3)};
  for (int k = 0; k < 3; ++k) clip.q.col(k) = neutral(model);
  s.touching.resize(3);
  s.support.link = model.link_id("FootL");
  CHECK_NOTHROW(analyze(model, clip, {{s}}));
  s.ease = {1};
  CHECK_THROWS_AS(analyze(model, clip, {{s}}), Error);
  s.ease = {1, 0};
  CHECK_THROWS_AS(analyze(model, clip, {{s}}), Error);
}
