#include <random>

#include <doctest/doctest.h>

#include "constraint/contact_law.h"
#include "constraint/contact_thresholds.h"
#include "contact_support.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// Points that press on a mechanism of which only the factor is known, G = Zᵀ·D⁻¹·Z, and joints with dry friction.
struct Mechanism {
  static constexpr int kColumns = 12;
  int rows, stride;
  std::vector<double> Z, D_inv;
  std::vector<std::uint64_t> touched;
  kernel::RowFactor::Part part{};
  kernel::RowFactor factor;
  Case problem;

  Mechanism(int points, int joints, std::mt19937_64& rng) : rows(3 * points + joints), stride((rows + 7) / 8 * 8) {
    std::uniform_real_distribution<double> any(-1, 1);
    Z.assign(std::size_t(kColumns * stride), 0.0), D_inv.assign(kColumns, 0.0);
    touched.assign(std::size_t(stride / 8), 0xfff);
    Eigen::MatrixXd factor_rows(kColumns, rows);
    for (int c = 0; c < kColumns; ++c) {
      D_inv[std::size_t(c)] = 0.1 + std::abs(any(rng));
      for (int r = 0; r < rows; ++r) factor_rows(c, r) = Z[std::size_t(c * stride + r)] = any(rng);
    }
    D_inv[5] = 0;  // nothing resists it
    problem.G =
        factor_rows.transpose() * Eigen::Map<Eigen::VectorXd>(D_inv.data(), kColumns).asDiagonal() * factor_rows;
    problem.a = Vector::Zero(rows), problem.u = Vector::Zero(rows);
    for (int r = 0; r < rows; ++r) problem.u[r] = any(rng), problem.a[r] = 10 * any(rng);
    for (int i = 0; i < points; ++i) {
      ContactPatch& p = problem.patches.emplace_back();
      p.row = joints + 3 * i, p.row_count = 3, p.vertex_count = 1;
      p.mu_static = p.mu_dynamic = 0.4;
      problem.u[p.row + 2] -= 1;  // comes in
    }
    for (int i = 0; i < joints; ++i) problem.bounded.push_back(BoundedRow::friction(i, 50));
    part = {Z.data(), D_inv.data(), touched.data(), kColumns, stride, 1};
    factor = {&part, 1, kColumns};
  }
};

}  // namespace

TEST_CASE("systems over columns and over rows have one answer, on either side of kManyRows") {
  std::mt19937_64 rng(17);
  int solved = 0;
  for (int n = 0; n < 60; ++n) {
    CAPTURE(n);
    Mechanism m(1 + n % 6, n % 4, rng);
    ContactSolver by_rows, by_columns;
    const ContactResult rows = m.problem.contact(by_rows);
    m.problem.memory.clear();
    m.problem.factor = &m.factor;
    const ContactResult columns = m.problem.contact(by_columns);
    CHECK(rows.status == columns.status);
    if (rows.status != ContactStatus::kOk) continue;  // jammed: no forces do
    ++solved;
    const Vector change = m.problem.h * (m.problem.outcome(rows) - m.problem.outcome(columns));
    CHECK(change.cwiseAbs().maxCoeff() < 1e-7);  // [m/s] ten times the residual that is accepted of speeds of 1 m/s
  }
  CHECK(solved > 40);
}
