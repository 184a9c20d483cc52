#include "ik/hierarchy.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <limits>
#include <random>

#include "no_alloc.h"

using namespace kansetsu::ik;
using Eigen::MatrixXd, Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Levels {
  std::vector<RowMajor> A;
  std::vector<VectorXd> b;
  std::vector<Level> view;

  void add(const MatrixXd& a, const VectorXd& target, double damping = 0) {
    A.push_back(a);
    b.push_back(target);
    view.clear();
    for (size_t i = 0; i < A.size(); ++i) {
      view.push_back({{A[i].data(), int(A[i].rows()), int(A[i].cols())}, b[i].data(), damping});
    }
  }
  HierarchyProblem problem(int n) const {
    return {.unknowns = n, .levels = view.data(), .level_count = int(view.size())};
  }
};

MatrixXd random_matrix(int rows, int columns, std::mt19937_64& rng) {
  std::uniform_real_distribution<double> u(-1, 1);
  return MatrixXd::NullaryExpr(rows, columns, [&] { return u(rng); });
}
/// What rounding leaves of a row that depends on others is no row.
MatrixXd pinv(const MatrixXd& A) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> factors;
  factors.setThreshold(1e-9);
  return factors.compute(A).pseudoInverse();
}

/// The best level-2 error that keeps the level-1 optimum, by pseudo-inverses.
VectorXd by_projection(const Levels& l) {
  const auto n = l.A.front().cols();
  VectorXd x = VectorXd::Zero(n);
  MatrixXd N = MatrixXd::Identity(n, n);
  for (size_t k = 0; k < l.A.size(); ++k) {
    const MatrixXd AN = l.A[k] * N, inverse = pinv(AN);
    x += inverse * (l.b[k] - l.A[k] * x);
    N -= inverse * AN;
  }
  return x;
}

/// Projected gradient descent with momentum on ½|Ax − b|² in a box: slow, and nothing in common with active sets.
VectorXd in_box_by_gradient(const MatrixXd& A, const VectorXd& b, const VectorXd& lower, const VectorXd& upper) {
  const double step = 1 / (A.transpose() * A).norm();
  VectorXd x = VectorXd::Zero(A.cols()), y = x;
  double t = 1;
  for (int i = 0; i < 20000; ++i) {
    const VectorXd next = (y - step * A.transpose() * (A * y - b)).cwiseMax(lower).cwiseMin(upper);
    const double t_next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    y = next + (t - 1) / t_next * (next - x);
    x = next;
    t = t_next;
  }
  return x;
}

}  // namespace

TEST_CASE("levels without inequalities equal successive projections, full rank or not") {
  std::mt19937_64 rng(11);
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    const int n = 12;
    Levels l;
    l.add(random_matrix(4, n, rng), random_matrix(4, 1, rng));
    MatrixXd second = random_matrix(5, n, rng);
    if (trial % 2 == 1) second.row(4) = 2 * l.A[0].row(1) - second.row(0);  // in conflict with the first level
    l.add(second, random_matrix(5, 1, rng));
    l.add(random_matrix(2, n, rng), random_matrix(2, 1, rng));
    Hierarchy hierarchy({n, 8, 0});
    VectorXd x(n);
    CHECK(hierarchy.solve(l.problem(n), x.data()).status == HierarchyStatus::kSolved);
    const VectorXd expected = by_projection(l);
    // the condition of the projected third level, up to 1e3, times rounding
    for (size_t k = 0; k < 3; ++k) CHECK((l.A[k] * (x - expected)).norm() < 1e-10);
  }
}

TEST_CASE("a level never disturbs those before it") {
  std::mt19937_64 rng(12);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 14;
    Levels one, two;
    const MatrixXd A = random_matrix(6, n, rng);
    const VectorXd b = random_matrix(6, 1, rng);
    one.add(A, b);
    two.add(A, b);
    two.add(100 * random_matrix(8, n, rng), 100 * random_matrix(8, 1, rng));
    VectorXd lower = VectorXd::Constant(n, -0.2), upper = VectorXd::Constant(n, 0.2);
    Hierarchy hierarchy({n, 8, 0});
    VectorXd x1(n), x2(n);
    HierarchyProblem p1 = one.problem(n), p2 = two.problem(n);
    p1.lower = p2.lower = lower.data();
    p1.upper = p2.upper = upper.data();
    hierarchy.solve(p1, x1.data());
    hierarchy.forget();
    hierarchy.solve(p2, x2.data());
    CHECK((A * x1 - A * x2).norm() < 1e-10);
    CHECK((x2.array() >= lower.array()).all());
    CHECK((x2.array() <= upper.array()).all());
  }
}

TEST_CASE("least squares in a box equals projected gradients") {
  std::mt19937_64 rng(13);
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    const int n = 8;
    Levels l;
    const MatrixXd A = random_matrix(10, n, rng);
    const VectorXd b = 2 * random_matrix(10, 1, rng);
    l.add(A, b);
    const VectorXd lower = -0.3 * VectorXd::Ones(n) + 0.2 * random_matrix(n, 1, rng), upper = lower.array() + 0.5;
    Hierarchy hierarchy({n, 10, 0});
    HierarchyProblem p = l.problem(n);
    p.lower = lower.data();
    p.upper = upper.data();
    VectorXd x(n);
    CHECK(hierarchy.solve(p, x.data()).status == HierarchyStatus::kSolved);
    CHECK((x - in_box_by_gradient(A, b, lower, upper)).norm() < 1e-7);  // where the gradients stop
  }
}

TEST_CASE("scenario 27: damped least squares and its bound") {
  std::mt19937_64 rng(16);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 9, m = 6;
    MatrixXd J = random_matrix(m, n, rng);
    if (trial % 3 == 0) J.row(5) = 1e-3 * J.row(5) + J.row(0);  // nearly singular
    const VectorXd e = random_matrix(m, 1, rng);
    const double lambda = std::pow(10.0, -1 - trial % 4);
    Levels l;
    l.add(J, e, lambda * lambda);
    Hierarchy hierarchy({n, m, 0});
    VectorXd x(n);
    hierarchy.solve(l.problem(n), x.data());
    const MatrixXd A = J * J.transpose() + lambda * lambda * MatrixXd::Identity(m, m);
    const VectorXd expected = J.transpose() * A.ldlt().solve(e);
    CHECK((x - expected).norm() < 1e-8 * (1 + expected.norm()));  // the condition of A reaches 1e7
    CHECK(x.norm() <= e.norm() / (2 * lambda) * (1 + 1e-9));
  }
}

TEST_CASE("rows of inequalities hold, and the multipliers have the right signs") {
  std::mt19937_64 rng(14);
  for (int trial = 0; trial < 100; ++trial) {
    CAPTURE(trial);
    const int n = 7, m = 5;
    Levels l;
    const MatrixXd A = random_matrix(9, n, rng);
    const VectorXd b = 3 * random_matrix(9, 1, rng);
    l.add(A, b);
    const RowMajor C = random_matrix(m, n, rng);
    const VectorXd lower = VectorXd::Constant(m, -0.1), upper = VectorXd::Constant(m, 0.15);
    Hierarchy hierarchy({n, 9, m});
    HierarchyProblem p = l.problem(n);
    p.C = {C.data(), m, n};
    p.c_lower = lower.data();
    p.c_upper = upper.data();
    VectorXd x(n);
    CHECK(hierarchy.solve(p, x.data()).status == HierarchyStatus::kSolved);
    const VectorXd at = C * x;
    CHECK((at.array() >= lower.array() - 1e-12).all());
    CHECK((at.array() <= upper.array() + 1e-12).all());
    // stationarity: the gradient is a combination of the active rows, pushing outwards
    std::vector<int> active;
    for (int i = 0; i < m; ++i) {
      if (hierarchy.activity(n + i) != 0) active.push_back(i);
    }
    MatrixXd N(active.size(), n);
    for (size_t i = 0; i < active.size(); ++i) N.row(long(i)) = C.row(active[i]);
    const VectorXd g = A.transpose() * (A * x - b);
    const VectorXd lambda = N.transpose().colPivHouseholderQr().solve(g);
    CHECK((N.transpose() * lambda - g).norm() < 1e-8 * (1 + g.norm()));
    for (size_t i = 0; i < active.size(); ++i) CHECK(hierarchy.activity(n + active[i]) * lambda[long(i)] <= 1e-9);
  }
}

TEST_CASE("inequalities that are broken at zero are restored, impossible ones reported") {
  const int n = 2;
  Levels l;
  l.add(MatrixXd::Identity(n, n), VectorXd::Zero(n));
  const RowMajor C = (RowMajor(2, n) << 1, 1, 1, -1).finished();
  const VectorXd lower = (VectorXd(2) << 1, -kInf).finished(), upper = (VectorXd(2) << kInf, 0.2).finished();
  Hierarchy hierarchy({n, 2, 3});
  HierarchyProblem p = l.problem(n);
  p.C = {C.data(), 2, n};
  p.c_lower = lower.data();
  p.c_upper = upper.data();
  VectorXd x(n);
  CHECK(hierarchy.solve(p, x.data()).status == HierarchyStatus::kSolved);
  CHECK((x - VectorXd::Constant(n, 0.5)).norm() < 1e-10);  // the point of x + y ≥ 1 nearest to zero

  const VectorXd box = VectorXd::Constant(n, 0.25), minus = -box;
  p.lower = minus.data();
  p.upper = box.data();
  CHECK(hierarchy.solve(p, x.data()).status == HierarchyStatus::kInfeasible);
  CHECK((x - box).norm() < 1e-10);  // as near as the box allows
}

TEST_CASE("a second call begins where the first one ended, and nothing allocates") {
  std::mt19937_64 rng(15);
  const int n = 20;
  Levels l;
  l.add(random_matrix(12, n, rng), random_matrix(12, 1, rng));
  l.add(random_matrix(n, n, rng), random_matrix(n, 1, rng));
  const VectorXd lower = VectorXd::Zero(n),
                 upper = VectorXd::Constant(n, 0.1);  // zero is at a bound: the set can be kept
  Hierarchy hierarchy({n, n, 0});
  HierarchyProblem p = l.problem(n);
  p.lower = lower.data();
  p.upper = upper.data();
  VectorXd x(n), again(n);
  const HierarchyReport cold = hierarchy.solve(p, x.data());
  HierarchyReport warm;
  CHECK(kansetsu::test::allocations_in([&] { warm = hierarchy.solve(p, again.data()); }) == 0);
  CHECK(warm.changes < cold.changes);
  CHECK((l.A[0] * (x - again)).norm() < 1e-10);
}
