#include "constraint/bilateral.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <random>

using namespace kansetsu;

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// J·Jᵀ of random rows.
RowMatrix random_delassus(int rows, int columns, std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  const RowMatrix J = RowMatrix::NullaryExpr(rows, columns, [&] { return normal(rng); });
  return J * J.transpose();
}

Eigen::VectorXd forces_of(RowMatrix B, const Eigen::VectorXd& y, RowOrder order, int& rank) {
  BilateralElimination elimination;
  const int n = int(B.rows());
  elimination.eliminate(B.data(), n, n, n, 0, order);
  rank = elimination.rank();
  elimination.hold(y.data(), nullptr);
  Eigen::VectorXd f = Eigen::VectorXd::Zero(n);
  elimination.forces(nullptr, f.data());
  return f;
}

}  // namespace

TEST_CASE("rows in their own order have the forces of rows that are sorted") {
  const std::uint64_t seed = 7;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  for (const int n : {1, 3, 4, 5, 12, 18, 30}) {
    CAPTURE(n);
    const RowMatrix B = random_delassus(n, 3 * n, rng);
    const Eigen::VectorXd y = Eigen::VectorXd::Random(n), expected = -B.ldlt().solve(y);
    for (const RowOrder order : {RowOrder::kStrongestFirst, RowOrder::kAsGiven}) {
      int rank = 0;
      const Eigen::VectorXd f = forces_of(B, y, order, rank);
      CHECK(rank == n);
      CHECK((f - expected).norm() < 1e-12 * expected.norm());  // condition below 1e3
    }
  }
}

TEST_CASE("dependent rows are found in any order; nearly dependent ones are sorted") {
  const std::uint64_t seed = 8;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  const int n = 9;
  RowMatrix B = random_delassus(n, 20, rng);
  // row 5 is row 2 and a little more: on either side of kSafeShare = 1e-3, and dependent
  for (const double more : {4e-3, 2.5e-4, 0.0}) {
    CAPTURE(more);
    const double own = more * B(2, 2);
    B.row(5) = B.row(2);
    B.col(5) = B.col(2);
    B(5, 5) = B(2, 2) + own;
    const Eigen::VectorXd y = B * Eigen::VectorXd::Random(n);
    int sorted = 0, given = 0;
    const Eigen::VectorXd a = forces_of(B, y, RowOrder::kStrongestFirst, sorted);
    const Eigen::VectorXd b = forces_of(B, y, RowOrder::kAsGiven, given);
    CHECK(given == sorted);
    CHECK(given == (more > 0 ? n : n - 1));
    const double tolerance = more < 1e-3 ? 0 : 1e-10;  // below the share both go the same way, to the last bit
    CHECK((a - b).norm() <= tolerance * a.norm());
  }
}
