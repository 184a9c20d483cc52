#pragma once

#include <Eigen/Core>

#include "kansetsu/base/owner.h"

/// Which muscles carry given joint moments: static optimization, the least sum of squared activations.
/// docs/theory/static_optimization.md.
namespace kansetsu {

struct StaticOptimizationOptions {
  /// A residual moment or force of this size costs as much as a full activation [N·m, N].
  double reserve = 1;
};

/// The solution of one frame.
struct SharedMoments {
  Eigen::VectorXd activations;
  Eigen::VectorXd reserves;  ///< moments that muscles leave [N·m, N]
  int steps = 0;             ///< of Newton's method
  bool solved = false;
};

/// Solves frame after frame, each from the last one's solution; never allocates after the first.
class StaticOptimization {
 public:
  explicit StaticOptimization(const StaticOptimizationOptions& options = {});

  /// min Σ aᵢ² + Σ (rⱼ/reserve)²  so that  A·a + r = b  and  lower ≤ a ≤ upper.
  /// @param A  moments of each muscle at full activation, moments × muscles
  /// Throws Error if sizes differ, or for numbers that are not finite.
  const SharedMoments& solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const Eigen::VectorXd& lower,
                             const Eigen::VectorXd& upper);

  struct Impl;  // private

 private:
  Owner<Impl> impl_;
};

}  // namespace kansetsu
