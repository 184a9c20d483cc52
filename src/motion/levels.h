#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

/// Least squares in strict order of priority, equalities only: dense, for a few dozen unknowns.
namespace kansetsu {

struct DenseLevel {
  Eigen::MatrixXd A;
  Eigen::VectorXd b;
};

struct LevelOutcome {
  int rank = 0;         ///< of A in what the levels before left free
  double residual = 0;  ///< |A·x − b| at the end
};

/// Pivots below this part of the largest one count as zero. Rows of different units (kg beside 1) differ by 10⁴ at most, and
/// rounding leaves 10⁻¹³ of a row that depends on others.
inline constexpr double kRankTolerance = 1e-10;

/// Each level takes what it needs of the freedom the levels before left, in the shortest way; x is zero where none cares.
Eigen::VectorXd solve_levels(std::span<const DenseLevel> levels, int unknowns, std::vector<LevelOutcome>& outcomes);

/// x = W⁻¹·Aᵀ·(A·W⁻¹·Aᵀ)⁺·b: the least squares of A·x − b, and among them the least Σ w·x². @return  with the rank of A
Eigen::VectorXd weighted_pseudo_inverse(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                        const Eigen::VectorXd& weight, int& rank);

}  // namespace kansetsu
