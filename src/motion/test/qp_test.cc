#include "motion/qp.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "no_alloc.h"

using namespace kansetsu;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Problem {
  int n = 0, m = 0;
  QpRows cost, equations;
  Eigen::VectorXd lower, upper, c_lower, c_upper;
  RowMatrix C;
};

/// Feasible by construction: x₀ satisfies everything, with room in most inequalities.
Problem random_problem(std::mt19937_64& rng, int n, int equations, int m) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto draw = [&](int rows, int columns) {
    return RowMatrix(RowMatrix::NullaryExpr(rows, columns, [&](Eigen::Index, Eigen::Index) { return normal(rng); }));
  };
  Problem p;
  p.n = n, p.m = m;
  const Eigen::VectorXd x0 = draw(n, 1).col(0);
  p.cost.resize(n + 5, n);
  p.cost.A = draw(n + 5, n), p.cost.b = 3 * draw(n + 5, 1).col(0), p.cost.count = n + 5;
  p.equations.resize(std::max(equations, 1), n);
  p.equations.count = equations;
  if (equations > 0) p.equations.A = draw(equations, n), p.equations.b = p.equations.A * x0;
  p.C = draw(std::max(m, 1), n);
  const Eigen::VectorXd at = p.C * x0;
  p.c_lower = at, p.c_upper = at, p.lower = x0, p.upper = x0;
  for (auto* side : {&p.c_upper, &p.upper}) {
    for (double& x : *side) x += uniform(rng) < 0.5 ? kInf : uniform(rng);
  }
  for (auto* side : {&p.c_lower, &p.lower}) {
    for (double& x : *side) x -= uniform(rng) < 0.5 ? kInf : uniform(rng);
  }
  return p;
}

/// The conditions of Karush, Kuhn and Tucker by least squares: the gradient must be made of the normals of equations and of
/// inequalities at their limits, those with the right signs.
void check_optimal(const Problem& p, const Eigen::VectorXd& x) {
  constexpr double kTolerance = 1e-7;  // problems of condition 1e3, limits met within 1e-9
  const Eigen::VectorXd gradient = p.cost.A.transpose() * (p.cost.A * x - p.cost.b);
  std::vector<Eigen::VectorXd> normals;
  std::vector<int> signs;
  for (int i = 0; i < p.equations.count; ++i) {
    CHECK(std::abs(p.equations.A.row(i).dot(x) - p.equations.b[i]) < kTolerance);
    normals.push_back(p.equations.A.row(i).transpose()), signs.push_back(0);
  }
  const auto inequality = [&](const Eigen::VectorXd& a, double low, double high) {
    const double at = a.dot(x);
    CHECK(at > low - kTolerance);
    CHECK(at < high + kTolerance);
    if (at < low + kTolerance) normals.push_back(a), signs.push_back(1);
    if (at > high - kTolerance) normals.push_back(-a), signs.push_back(1);
  };
  for (int i = 0; i < p.n; ++i) inequality(Eigen::VectorXd::Unit(p.n, i), p.lower[i], p.upper[i]);
  for (int i = 0; i < p.m; ++i) inequality(p.C.row(i).transpose(), p.c_lower[i], p.c_upper[i]);
  Eigen::MatrixXd N(p.n, std::max<Eigen::Index>(Eigen::Index(normals.size()), 1));
  N.setZero();
  for (size_t i = 0; i < normals.size(); ++i) N.col(Eigen::Index(i)) = normals[i];
  Eigen::MatrixXd normal_matrix = N.transpose() * N;
  normal_matrix.diagonal().array() += 1e-14;
  // Gauss without a library: Eigen's decompositions are not part of the core here.
  Eigen::VectorXd multiplier = N.transpose() * gradient;
  for (Eigen::Index k = 0; k < N.cols(); ++k) {
    for (Eigen::Index i = k + 1; i < N.cols(); ++i) {
      const double factor = normal_matrix(i, k) / normal_matrix(k, k);
      normal_matrix.row(i) -= factor * normal_matrix.row(k);
      multiplier[i] -= factor * multiplier[k];
    }
  }
  for (Eigen::Index k = N.cols() - 1; k >= 0; --k) {
    for (Eigen::Index i = k + 1; i < N.cols(); ++i) multiplier[k] -= normal_matrix(k, i) * multiplier[i];
    multiplier[k] /= normal_matrix(k, k);
  }
  CHECK((N * multiplier - gradient).norm() < 1e-5 * (1 + gradient.norm()));
  for (size_t i = 0; i < signs.size(); ++i) {
    if (signs[i] != 0) CHECK(multiplier[Eigen::Index(i)] > -1e-5);
  }
}

}  // namespace

TEST_CASE("qp: random problems end where Karush, Kuhn and Tucker want them") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const int n = 3 + int(seed % 20), equations = int(seed % 3), m = int(seed % 17);
    const Problem p = random_problem(rng, n, equations, m);
    Qp qp(n, equations, m);
    Eigen::VectorXd x(n);
    for (int round = 0; round < 2; ++round) {  // the second begins from what held in the first
      const QpReport report = qp.solve(n, p.cost, p.equations, p.lower, p.upper, p.C, m, p.c_lower, p.c_upper, x);
      CHECK(report.converged);
      CHECK(report.given_up == 0);
      check_optimal(p, x);
    }
  }
}

TEST_CASE("qp: dependent equations are left out, contradictions given up, nothing is allocated") {
  const int n = 4;
  QpRows cost, equations;
  cost.resize(n, n), equations.resize(3, n);
  cost.A.setIdentity(), cost.b.setOnes(), cost.count = n;
  equations.A.row(0) << 1, 1, 0, 0;
  equations.A.row(1) << 2, 2, 0, 0;
  equations.A.row(2) << 0, 0, 1, 0;
  equations.b << 1, 2, 5;
  equations.count = 3;
  const Eigen::VectorXd lower = Eigen::VectorXd::Constant(n, -kInf), upper = Eigen::VectorXd::Constant(n, 3);
  RowMatrix C(1, n);
  C << 0, 0, 0, 1;
  const Eigen::VectorXd c_lower = Eigen::VectorXd::Constant(1, 2), c_upper = Eigen::VectorXd::Constant(1, kInf);
  Qp qp(n, 3, 1);
  Eigen::VectorXd x(n);
  QpReport report;
  const std::size_t allocations =
      test::allocations_in([&] { report = qp.solve(n, cost, equations, lower, upper, C, 1, c_lower, c_upper, x); });
  CHECK(allocations == 0);
  CHECK(report.dependent == 1);
  CHECK(report.given_up == 1);  // x₂ = 5 and x₂ ≤ 3
  CHECK((x - Eigen::Vector4d(0.5, 0.5, 5, 2)).norm() < 1e-12);
}
