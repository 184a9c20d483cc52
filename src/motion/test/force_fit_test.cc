#include "motion/force_fit.h"

#include <doctest/doctest.h>

#include <random>

#include "no_alloc.h"

using namespace kansetsu;

namespace {

std::vector<ForceRay> random_rays(std::mt19937_64& rng, int count) {
  std::normal_distribution<double> normal;
  std::vector<ForceRay> rays(static_cast<std::size_t>(count));
  for (ForceRay& ray : rays) {
    for (double& x : ray.a) x = normal(rng);
    ray.a[5] = std::abs(ray.a[5]) + 1;  // all push upwards, as a floor does
    ray.cost = std::exp(normal(rng));
  }
  return rays;
}

}  // namespace

TEST_CASE("fitted forces satisfy the conditions of the optimum, whatever was fitted before") {
  std::mt19937_64 rng(11);
  std::normal_distribution<double> normal;
  ForceFit fit;
  int most = 0;
  for (int trial = 0; trial < 500; ++trial) {
    CAPTURE(trial);
    const std::vector<ForceRay> rays = random_rays(rng, 1 + trial % 40);
    FitRows w;
    for (double& x : w) x = 100 * normal(rng);
    const double compliance = trial % 2 ? 1e-6 : 1e-2;
    const FitRows left = fit.solve(rays, w, FitRows::Constant(compliance));
    const FitRows y = left / compliance;
    for (std::size_t i = 0; i < rays.size(); ++i) {
      // Stationary: cost·c = a·y where c > 0, and a·y ≤ 0 where c = 0. Where w does not fit, y is 10⁸, and forces are
      // known to its rounding, 10⁻⁷.
      const double slope = rays[i].a.dot(y), c = fit.forces()[i];
      CHECK(c >= 0);
      CHECK(std::abs(std::max(0.0, slope) - rays[i].cost * c) < 1e-5 * (1 + y.norm()));
    }
    most = std::max(most, fit.iterations());
  }
  CHECK(most < 40);
}

TEST_CASE("no ray, no force; a wrench that fits leaves nothing") {
  std::mt19937_64 rng(5);
  ForceFit fit;
  const FitRows w = FitRows::LinSpaced(1, 7);
  CHECK(fit.solve({}, w, FitRows::Constant(1e-9)) == w);
  const std::vector<ForceRay> rays = random_rays(rng, 30);
  FitRows sum = FitRows::Zero();
  for (const ForceRay& ray : rays) sum += 7 * ray.a;
  CHECK(fit.solve(rays, sum, FitRows::Constant(1e-9)).norm() < 1e-6);
  const std::size_t allocations = test::allocations_in([&] { fit.solve(rays, sum, FitRows::Constant(1e-9)); });
  CHECK(allocations == 0);
}
