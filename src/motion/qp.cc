#include "motion/qp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ik/dense_rows.h"

namespace kansetsu {
namespace {

using ik::add_scaled;
using ik::dot;

/// What is left of a row after those before it were taken out, relative to its length, below which it depends on them.
constexpr double kDependent = 1e-9;
constexpr double kFeasible = 1e-9;

}  // namespace

void QpRows::resize(int rows, int columns) {
  A = RowMatrix::Zero(rows, columns);
  b = Eigen::VectorXd::Zero(rows);
  count = 0;
}

int QpRows::add(double wanted) {
  if (count == A.rows()) {
    A.conservativeResize(2 * count + 8, Eigen::NoChange);
    b.conservativeResize(2 * count + 8);
  }
  A.row(count).setZero();
  b[count] = wanted;
  return count++;
}

Qp::Qp(int unknowns, int equations, int inequalities) {
  const int n = unknowns, m = n + inequalities;
  reflectors_ = RowMatrix::Zero(std::min(n, equations) + 1, n);
  beta_ = Eigen::VectorXd::Zero(equations + 1);
  H_ = RowMatrix::Zero(n, n), Jt_ = RowMatrix::Zero(n, n), R_ = RowMatrix::Zero(n, n);
  for (auto* v : {&x0_, &rhs_, &y_, &normal_, &d_, &z_, &dual_step_, &full_, &multiplier_}) v->setZero(n + 4);
  active_.resize(size_t(n) + 1);
  state_.assign(size_t(m), 0);
  span_.resize(size_t(inequalities) + 1);
  last_.assign(size_t(m), 0);
}

void Qp::apply_reflections(double* v) const {
  for (int k = 0; k < rank_; ++k) {
    const double* u = reflectors_.row(k).data();
    add_scaled(-beta_[k] * dot(u + k, v + k, n_ - k), u + k, v + k, n_ - k);
  }
}
void Qp::apply_reflections_backwards(double* v) const {
  for (int k = rank_ - 1; k >= 0; --k) {
    const double* u = reflectors_.row(k).data();
    add_scaled(-beta_[k] * dot(u + k, v + k, n_ - k), u + k, v + k, n_ - k);
  }
}

void Qp::forget() { std::fill(last_.begin(), last_.end(), 0); }

/// E = [T 0]·Qᵀ with T lower triangular: x = Q·(t, y) with T·t = e, and y free.
void Qp::eliminate(const QpRows& equations, QpReport& report) {
  rank_ = 0;
  for (int i = 0; i < equations.count; ++i) {
    double* row = full_.data();
    std::copy_n(equations.A.row(i).data(), n_, row);
    const double length = std::sqrt(dot(row, row, n_));
    apply_reflections(row);
    const double left = std::sqrt(dot(row + rank_, row + rank_, n_ - rank_));
    if (rank_ == n_ || !(left > kDependent * length)) {
      ++report.dependent;
      continue;
    }
    const double head = row[rank_] > 0 ? -left : left;
    x0_[rank_] = (equations.b[i] - dot(row, x0_.data(), rank_)) / head;
    double* u = reflectors_.row(rank_).data();
    std::copy(row + rank_, row + n_, u + rank_);
    u[rank_] -= head;
    beta_[rank_] = 2 / dot(u + rank_, u + rank_, n_ - rank_);
    ++rank_;
  }
  r_ = n_ - rank_;
}

/// The cost in the free directions: |F·y − f|², its normal matrix factorised, its minimum without inequalities, J = L⁻ᵀ.
void Qp::reduce(const QpRows& cost) {
  for (int j = 0; j < r_; ++j) std::fill_n(H_.row(j).data(), j + 1, 0.0);
  std::fill_n(rhs_.data(), r_, 0.0);
  double* row = full_.data();
  for (int i = 0; i < cost.count; ++i) {
    std::copy_n(cost.A.row(i).data(), n_, row);
    apply_reflections(row);
    const double wanted = cost.b[i] - dot(row, x0_.data(), rank_);
    const double* f = row + rank_;
    add_scaled(wanted, f, rhs_.data(), r_);
    for (int j = 0; j < r_; ++j) add_scaled(f[j], f, H_.row(j).data(), j + 1);
  }
  ik::factorise(H_.data(), int(H_.cols()), r_);
  // Rows of Jᵀ = L⁻¹ by substitution.
  for (int i = 0; i < r_; ++i) {
    double* out = Jt_.row(i).data();
    std::fill_n(out, r_, 0.0);
    out[i] = 1;
    for (int k = 0; k < i; ++k) add_scaled(-H_(i, k), Jt_.row(k).data(), out, k + 1);
    const double inverse = 1 / H_(i, i);
    for (int k = 0; k <= i; ++k) out[k] *= inverse;
  }
  // y = J·Jᵀ·rhs
  std::fill_n(y_.data(), r_, 0.0);
  for (int i = 0; i < r_; ++i)
    add_scaled(dot(Jt_.row(i).data(), rhs_.data(), i + 1), Jt_.row(i).data(), y_.data(), i + 1);
}

double Qp::value(int row, const double* v) const {
  if (row < n_) return v[row];
  const Span& s = span_[size_t(row - n_)];
  return dot(C_->row(row - n_).data() + s.begin, v + s.begin, s.end - s.begin);
}
/// Rows of C are mostly zeros.
void Qp::find_spans() {
  for (int i = 0; i < m_; ++i) {
    const double* row = C_->row(i).data();
    Span s{0, n_};
    while (s.end > 0 && row[s.end - 1] == 0) --s.end;
    while (s.begin < s.end && row[s.begin] == 0) ++s.begin;
    span_[size_t(i)] = s;
  }
}
double Qp::limit(const Constraint& c) const {
  if (c.row < n_) return c.sign > 0 ? (*lower_)[c.row] : (*upper_)[c.row];
  return c.sign > 0 ? (*c_lower_)[c.row - n_] : (*c_upper_)[c.row - n_];
}

void Qp::normal(const Constraint& c) {
  double* row = full_.data();
  if (c.row < n_) {
    std::fill_n(row, n_, 0.0);
    row[c.row] = c.sign;
  } else {
    const double* a = C_->row(c.row - n_).data();
    for (int k = 0; k < n_; ++k) row[k] = c.sign * a[k];
  }
  apply_reflections(row);
  std::copy(row + rank_, row + n_, normal_.data());
}

/// Those that held at the end of the last problem first, as they will most likely hold again.
bool Qp::most_violated(const double* x, Constraint& out, double& by) const {
  double most = 0;
  for (int row = 0; row < n_ + m_; ++row) {
    if (state_[size_t(row)] != 0) continue;
    const Constraint sides[2] = {{row, 1}, {row, -1}};
    const double low = limit(sides[0]), high = limit(sides[1]);
    if (std::isinf(low) && std::isinf(high)) continue;
    const double at = value(row, x);
    for (const Constraint& c : sides) {
      const double l = c.sign > 0 ? low : high;
      if (std::isinf(l)) continue;
      const double violation = c.sign * (l - at);
      if (violation <= kFeasible * (1 + std::abs(l))) continue;
      const double rank = last_[size_t(row)] == c.sign ? 1e6 * violation : violation;
      if (rank > most) most = rank, out = c, by = violation;
    }
  }
  return most > 0;
}

void Qp::move(double length, double* x) {
  add_scaled(length, z_.data(), y_.data(), r_);
  double* step = full_.data();
  std::fill_n(step, rank_, 0.0);
  for (int k = 0; k < r_; ++k) step[rank_ + k] = length * z_[k];
  apply_reflections_backwards(step);
  for (int k = 0; k < n_; ++k) x[k] += step[k];
}

/// Turns the last columns of J so that the new normal is seen by the next one only: d = Jᵀ·normal becomes a column of R.
void Qp::add(const Constraint& c) {
  const int q = active_count_;
  for (int j = r_ - 1; j > q; --j) {
    const double a = d_[j - 1], b = d_[j], h = std::hypot(a, b);
    if (h == 0) continue;
    const double cs = a / h, sn = b / h;
    d_[j - 1] = h, d_[j] = 0;
    double *u = Jt_.row(j - 1).data(), *v = Jt_.row(j).data();
    for (int k = 0; k < r_; ++k) {
      const double p = u[k], w = v[k];
      u[k] = cs * p + sn * w;
      v[k] = cs * w - sn * p;
    }
  }
  for (int k = 0; k <= q; ++k) R_(k, q) = d_[k];
  active_[size_t(q)] = c;
  state_[size_t(c.row)] = 1;
  ++active_count_;
}

void Qp::drop(int index) {
  state_[size_t(active_[size_t(index)].row)] = 0;
  const int q = --active_count_;
  for (int j = index; j < q; ++j) {
    active_[size_t(j)] = active_[size_t(j + 1)];
    multiplier_[j] = multiplier_[j + 1];
    for (int k = 0; k <= j + 1; ++k) R_(k, j) = R_(k, j + 1);
  }
  multiplier_[q] = multiplier_[q + 1];  // of the one that is being added
  for (int j = index; j < q; ++j) {     // R has one entry below its diagonal in columns index …
    const double a = R_(j, j), b = R_(j + 1, j), h = std::hypot(a, b);
    if (h == 0) continue;
    const double cs = a / h, sn = b / h;
    for (int k = j; k < q; ++k) {
      const double p = R_(j, k), w = R_(j + 1, k);
      R_(j, k) = cs * p + sn * w;
      R_(j + 1, k) = cs * w - sn * p;
    }
    double *u = Jt_.row(j).data(), *v = Jt_.row(j + 1).data();
    for (int k = 0; k < r_; ++k) {
      const double p = u[k], w = v[k];
      u[k] = cs * p + sn * w;
      v[k] = cs * w - sn * p;
    }
  }
}

/// Moves to where the constraint holds, giving up active ones whose multipliers would turn. False: nothing can make it hold.
bool Qp::enforce(Constraint c, double violation, double* x, QpReport& report) {
  normal(c);
  const double length2 = dot(normal_.data(), normal_.data(), r_);
  multiplier_[active_count_] = 0;
  for (int pass = 0; pass <= 2 * n_ + m_; ++pass) {
    const int q = active_count_;
    for (int k = 0; k < r_; ++k) d_[k] = dot(Jt_.row(k).data(), normal_.data(), r_);
    std::fill_n(z_.data(), r_, 0.0);
    for (int k = q; k < r_; ++k) add_scaled(d_[k], Jt_.row(k).data(), z_.data(), r_);
    for (int i = q - 1; i >= 0; --i) {  // R·dual_step = d₁
      double sum = d_[i];
      for (int k = i + 1; k < q; ++k) sum -= R_(i, k) * dual_step_[k];
      dual_step_[i] = sum / R_(i, i);
    }
    double dual = std::numeric_limits<double>::infinity();
    int leaves = -1;
    for (int i = 0; i < q; ++i) {
      if (dual_step_[i] <= 0) continue;
      const double t = multiplier_[i] / dual_step_[i];
      if (t < dual) dual = t, leaves = i;
    }
    const double slope = dot(z_.data(), normal_.data(), r_);
    double free2 = 0, all2 = 0;
    for (int k = 0; k < r_; ++k) all2 += d_[k] * d_[k];
    for (int k = q; k < r_; ++k) free2 += d_[k] * d_[k];
    const bool can_move = free2 > kDependent * kDependent * all2 && length2 > 0;
    const double primal = can_move ? violation / slope : std::numeric_limits<double>::infinity();
    const double t = std::min(primal, dual);
    if (std::isinf(t)) return false;
    for (int i = 0; i < q; ++i) multiplier_[i] -= t * dual_step_[i];
    multiplier_[q] += t;
    if (can_move) {
      move(t, x);
      violation -= t * slope;
    }
    ++report.changes;
    if (t == primal) {
      add(c);
      return true;
    }
    drop(leaves);
  }
  return false;
}

QpReport Qp::solve(int unknowns, const QpRows& cost, const QpRows& equations, const Eigen::VectorXd& lower,
                   const Eigen::VectorXd& upper, const RowMatrix& C, int inequalities, const Eigen::VectorXd& c_lower,
                   const Eigen::VectorXd& c_upper, Eigen::Ref<Eigen::VectorXd> x) {
  n_ = unknowns, m_ = inequalities;
  C_ = &C, lower_ = &lower, upper_ = &upper, c_lower_ = &c_lower, c_upper_ = &c_upper;
  active_count_ = 0;
  find_spans();
  std::fill(state_.begin(), state_.end(), 0);
  QpReport report;
  eliminate(equations, report);
  reduce(cost);
  std::copy_n(x0_.data(), rank_, x.data());
  std::copy_n(y_.data(), r_, x.data() + rank_);
  apply_reflections_backwards(x.data());
  Constraint c{};
  double by = 0;
  const int most = 4 * (n_ + m_);
  while (most_violated(x.data(), c, by)) {
    if (report.changes > most) {
      report.converged = false;
      break;
    }
    if (!enforce(c, by, x.data(), report)) {
      state_[size_t(c.row)] = 2;
      ++report.given_up;
    }
  }
  std::fill(last_.begin(), last_.end(), 0);
  for (int i = 0; i < active_count_; ++i) last_[size_t(active_[size_t(i)].row)] = active_[size_t(i)].sign > 0 ? 1 : -1;
  return report;
}

}  // namespace kansetsu
