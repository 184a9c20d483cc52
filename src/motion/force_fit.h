#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "kansetsu/spatial/spatial.h"

/// Forces that add up to a wrench and are shared among supports as wanted: min ½·Σ cost·c² + ½·Σ (w − Σ c·a)²/compliance, c ≥ 0.
///
/// Its dual has seven unknowns however many forces there are: c = max(0, a·y)/cost, w − Σ c·a = compliance·y, where y minimises
///     φ(y) = ½·Σ max(0, a·y)²/cost + ½·Σ compliance·y² − w·y,
/// convex, with a continuous gradient and piecewise constant curvature: Newton's method with a line search ends after a few steps.
namespace kansetsu {

/// Moment and force, and what is not shared as wanted.
using FitRows = Eigen::Matrix<double, 7, 1>;

/// A direction in which a support may push.
struct ForceRay {
  FitRows a = FitRows::Zero();
  double cost = 1;
};

class ForceFit {
 public:
  /// Never allocates once it has seen as many rays. @param compliance  positive   @return  w − Σ c·a
  FitRows solve(std::span<const ForceRay> rays, const FitRows& w, const FitRows& compliance);
  const std::vector<double>& forces() const { return c_; }
  int iterations() const { return iterations_; }

 private:
  FitRows y_ = FitRows::Zero();
  std::vector<double> c_;
  std::vector<std::uint8_t> pushes_;
  int iterations_ = 0;
};

}  // namespace kansetsu
