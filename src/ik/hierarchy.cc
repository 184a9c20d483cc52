#include "ik/hierarchy.h"

#include <algorithm>
#include <cmath>

#include "ik/dense_rows.h"
#include "kansetsu/base/error.h"
#include "kansetsu/geometry/shape.h"

namespace kansetsu::ik {
namespace {

/// A row whose remainder is shorter than this share of it counts as dependent on others.
constexpr double kDependent = 1e-10;
/// A step along a constraint's normal below this part of the step's length does not approach it.
constexpr double kParallel = 1e-12;

/// Householder's reflection that turns a into (−sign·|a|, 0, …): v = a + sign·|a|·e₁ is written over a, its β = 2/|v|² returned.
double reflector(double* a, int n, double& head) {
  const double length = std::sqrt(dot(a, a, n));
  head = a[0] > 0 ? -length : length;
  a[0] -= head;
  const double v2 = dot(a, a, n);
  return v2 > 0 ? 2 / v2 : 0;
}
void reflect(const double* v, double beta, double* row, int n) { add_scaled(-beta * dot(v, row, n), v, row, n); }

/// x ← H⁻¹·x with the factor of factorise().
void solve_factored(const double* L, int stride, int n, double* x) {
  for (int i = 0; i < n; ++i) x[i] = (x[i] - dot(L + i * stride, x, i)) / L[i * stride + i];
  for (int i = n - 1; i >= 0; --i) {
    x[i] /= L[i * stride + i];
    add_scaled(-x[i], L + i * stride, x, i);
  }
}

}  // namespace

void Hierarchy::Matrix::allocate(int rows, int columns) {
  stride = (columns + 3) / 4 * 4;
  data.assign(size_t(std::max(rows, 1)) * size_t(std::max(stride, 4)), 0);
}

Hierarchy::Hierarchy(const Capacity& capacity) : capacity_(capacity) {
  const int n = capacity.unknowns, m = n + capacity.constraints;
  const int rows = std::max(capacity.rows, capacity.constraints);
  Z_.allocate(n, n);
  B_.allocate(rows, n);
  F_.allocate(rows, n);
  N_.allocate(n, n);
  reflectors_.allocate(n, n);
  H_.allocate(n, n);
  for (auto* v : {&z_, &step_, &g_, &t_, &dx_, &beta_, &row_, &multiplier_}) v->assign(size_t(n) + 4, 0);
  residual_.assign(size_t(rows) + 4, 0);
  relaxed_lower_.assign(size_t(m) + 1, 0);
  relaxed_upper_.assign(size_t(m) + 1, 0);
  restore_rows_.assign(size_t(std::max(capacity.constraints, 1)) * size_t(Z_.stride), 0);
  restore_b_.assign(size_t(rows) + 1, 0);
  active_.assign(size_t(n) + 1, 0);
  side_.assign(size_t(n) + 1, 0);
  side_of_.assign(size_t(m) + 1, 0);
  last_active_.assign(size_t(m) + 1, 0);
  order_.assign(size_t(rows) + 1, 0);
}

void Hierarchy::load(const HierarchyProblem& problem, double* x) {
  p_ = problem;
  n_ = r_ = problem.unknowns;
  m_ = n_ + problem.C.rows;
  if (n_ > capacity_.unknowns || problem.C.rows > capacity_.constraints) {
    throw Error("Hierarchy::solve: the problem has " + std::to_string(n_) + " unknowns and " +
                std::to_string(problem.C.rows) + " inequalities, more than " + std::to_string(capacity_.unknowns) +
                " and " + std::to_string(capacity_.constraints));
  }
  for (int i = 0; i < m_; ++i) {
    const bool bound = i < n_;
    const double* lower = bound ? problem.lower : problem.c_lower;
    const double* upper = bound ? problem.upper : problem.c_upper;
    relaxed_lower_[size_t(i)] = lower ? lower[bound ? i : i - n_] : -kInfinity;
    relaxed_upper_[size_t(i)] = upper ? upper[bound ? i : i - n_] : kInfinity;
    side_of_[size_t(i)] = 0;
  }
  for (int i = 0; i < n_; ++i) x[i] = std::clamp(0.0, relaxed_lower_[size_t(i)], relaxed_upper_[size_t(i)]);
  identity_ = true;
  w_ = 0;
}

Hierarchy::Limit Hierarchy::limit(int constraint) const {
  return {relaxed_lower_[size_t(constraint)], relaxed_upper_[size_t(constraint)]};
}
double Hierarchy::value(int constraint, const double* x) const {
  return constraint < n_ ? x[constraint] : dot(p_.C[constraint - n_], x, n_);
}
void Hierarchy::normal(int constraint, double* out) const {
  std::fill(out, out + r_, 0.0);
  if (identity_) {
    if (constraint < n_) {
      out[constraint] = 1;
    } else {
      std::copy(p_.C[constraint - n_], p_.C[constraint - n_] + n_, out);
    }
    return;
  }
  if (constraint < n_) {
    std::copy(Z_[constraint], Z_[constraint] + r_, out);
    return;
  }
  const double* c = p_.C[constraint - n_];
  for (int k = 0; k < n_; ++k) add_scaled(c[k], Z_[k], out, r_);
}

/// Appends a reflection that makes the new normal the last row of a lower triangle. False if it depends on the others.
bool Hierarchy::add_active(int constraint, int side) {
  if (w_ >= r_) return false;
  double* row = N_[w_];
  normal(constraint, row);
  const double length = std::sqrt(dot(row, row, r_));
  for (int k = 0; k < w_; ++k) reflect(reflectors_[k] + k, beta_[size_t(k)], row + k, r_ - k);
  const double left = std::sqrt(dot(row + w_, row + w_, r_ - w_));
  if (!(left > 1e3 * kDependent * length)) return false;
  double* v = reflectors_[w_];
  std::copy(row + w_, row + r_, v + w_);
  beta_[size_t(w_)] = reflector(v + w_, r_ - w_, row[w_]);
  active_[size_t(w_)] = constraint;
  side_[size_t(w_)] = side;
  side_of_[size_t(constraint)] = side;
  ++w_;
  return true;
}

void Hierarchy::refactor_active() {
  const int count = w_;
  w_ = 0;
  for (int k = 0; k < count; ++k) {
    const int constraint = active_[size_t(k)], side = side_[size_t(k)];
    if (!add_active(constraint, side)) side_of_[size_t(constraint)] = 0;
  }
}

/// The best step from z within the active inequalities: (FᵀF + ε)·t = Fᵀ·residual − damping·z, repeated with what is left
/// over, which takes ε out again (a proximal iteration).
void Hierarchy::free_step(const Level& level, double* step) {
  const int rows = level.A.rows, f = r_ - w_;
  std::fill(step, step + r_, 0.0);
  if (f <= 0) return;
  double trace = 0;
  for (int i = 0; i < rows; ++i) {
    std::copy(B_[i], B_[i] + r_, F_[i]);
    for (int k = 0; k < w_; ++k) reflect(reflectors_[k] + k, beta_[size_t(k)], F_[i] + k, r_ - k);
    trace += dot(F_[i] + w_, F_[i] + w_, f);
  }
  const bool damped = level.damping > 1e-12 * trace / f;  // enough for a factorisation by itself
  const double epsilon = damped ? 0 : std::max(1e-9 * trace / f, 1e-30);
  for (int j = 0; j < f; ++j) {
    std::fill(H_[j], H_[j] + j, 0.0);
    H_[j][j] = level.damping + epsilon;
  }
  for (int i = 0; i < rows; ++i) {
    const double* a = F_[i] + w_;
    for (int j = 0; j < f; ++j) {
      if (a[j] != 0) add_scaled(a[j], a, H_[j], j + 1);
    }
  }
  factorise(H_.data.data(), H_.stride, f);
  std::copy(z_.begin(), z_.begin() + r_, g_.begin());
  for (int k = 0; k < w_; ++k) reflect(reflectors_[k] + k, beta_[size_t(k)], g_.data() + k, r_ - k);
  double* t = step + w_;
  const int passes =
      damped ? 2 : 3;  // the second takes rounding out; three leave (ε/λ)³ of a direction with the eigenvalue λ
  for (int pass = 0; pass < passes; ++pass) {
    for (int j = 0; j < f; ++j) t_[size_t(j)] = -level.damping * (g_[size_t(w_ + j)] + t[j]);
    for (int i = 0; i < rows; ++i) add_scaled(residual_[size_t(i)] - dot(F_[i] + w_, t, f), F_[i] + w_, t_.data(), f);
    solve_factored(H_.data.data(), H_.stride, f, t_.data());
    for (int j = 0; j < f; ++j) t[j] += t_[size_t(j)];
  }
  for (int k = w_ - 1; k >= 0; --k) reflect(reflectors_[k] + k, beta_[size_t(k)], step + k, r_ - k);
}

/// The active inequality that the level pulls away from, −1 if none. With g the gradient: N·g's part within the span of the
/// active normals is Nᵀ·λ; at an upper end λ must not be positive, at a lower end not negative.
int Hierarchy::worst_multiplier(const Level& level) {
  if (w_ == 0) return -1;
  for (int j = 0; j < r_; ++j) g_[size_t(j)] = level.damping * z_[size_t(j)];
  double scale = 0;
  for (int i = 0; i < level.A.rows; ++i) {
    add_scaled(-residual_[size_t(i)], B_[i], g_.data(), r_);
    scale += std::abs(residual_[size_t(i)]) * std::sqrt(dot(B_[i], B_[i], r_));
  }
  for (int k = 0; k < w_; ++k) reflect(reflectors_[k] + k, beta_[size_t(k)], g_.data() + k, r_ - k);
  // N = L·Q₁ᵀ: Lᵀ·λ = (Qᵀ·g) of the first w
  for (int k = w_ - 1; k >= 0; --k) {
    double sum = g_[size_t(k)];
    for (int i = k + 1; i < w_; ++i) sum -= N_[i][k] * multiplier_[size_t(i)];
    multiplier_[size_t(k)] = sum / N_[k][k];
  }
  int worst = -1;
  double most = 1e-11 * scale;  // below, rounding decides the sign
  for (int k = 0; k < w_; ++k) {
    const int constraint = active_[size_t(k)];
    if (limit(constraint).lower == limit(constraint).upper) continue;
    const double wrong = side_[size_t(k)] * multiplier_[size_t(k)];
    if (wrong > most) {
      most = wrong;
      worst = k;
    }
  }
  return worst;
}

/// The first inequality that x + s·dx, 0 ≤ s ≤ length, would break.
int Hierarchy::first_blocked(const double* x, const double* dx, double& length, int& side) const {
  const double size = std::sqrt(dot(dx, dx, n_));
  int blocked = -1;
  for (int i = 0; i < m_; ++i) {
    if (side_of_[size_t(i)] != 0) continue;
    const Limit l = limit(i);
    if (l.lower == -kInfinity && l.upper == kInfinity) continue;
    const double rate = value(i, dx);
    if (std::abs(rate) <= kParallel * size) continue;
    const double room = (rate > 0 ? l.upper : l.lower) - value(i, x);
    const double s = std::max(room / rate, 0.0);
    if (s < length) {
      length = s;
      blocked = i;
      side = rate > 0 ? 1 : -1;
    }
  }
  return blocked;
}

void Hierarchy::solve_level(const Level& level, double* x, HierarchyReport& report) {
  const int rows = level.A.rows;
  for (int i = 0; i < rows; ++i) {
    residual_[size_t(i)] = level.b[i] - dot(level.A[i], x, n_);
    if (identity_) {
      std::copy(level.A[i], level.A[i] + n_, B_[i]);
      continue;
    }
    std::fill(B_[i], B_[i] + r_, 0.0);
    for (int k = 0; k < n_; ++k) {
      if (level.A[i][k] != 0) add_scaled(level.A[i][k], Z_[k], B_[i], r_);
    }
  }
  std::fill(z_.begin(), z_.begin() + r_, 0.0);
  const int most_changes = 20 + 4 * (n_ + m_);
  for (int change = 0;; ++change) {
    if (change > most_changes) {
      report.status = std::max(report.status, HierarchyStatus::kTooManyChanges);
      return;
    }
    free_step(level, step_.data());
    for (int k = 0; k < n_; ++k) dx_[size_t(k)] = identity_ ? step_[size_t(k)] : dot(Z_[k], step_.data(), r_);
    double length = 1;
    int side = 0;
    const int blocked = first_blocked(x, dx_.data(), length, side);
    add_scaled(length, step_.data(), z_.data(), r_);
    add_scaled(length, dx_.data(), x, n_);
    for (int k = 0; k < n_; ++k) x[k] = std::max(std::min(x[k], limit(k).upper), limit(k).lower);  // rounding
    for (int i = 0; i < rows; ++i) residual_[size_t(i)] -= length * dot(B_[i], step_.data(), r_);
    if (blocked >= 0) {
      ++report.changes;
      if (blocked < n_) x[blocked] = side > 0 ? limit(blocked).upper : limit(blocked).lower;
      if (add_active(blocked, side)) continue;
      side_of_[size_t(blocked)] = side;  // rounding: it depends on the active ones, and they hold it
      continue;
    }
    const int leave = worst_multiplier(level);
    if (leave < 0) return;
    ++report.changes;
    side_of_[size_t(active_[size_t(leave)])] = 0;
    std::copy(active_.begin() + leave + 1, active_.begin() + w_, active_.begin() + leave);
    std::copy(side_.begin() + leave + 1, side_.begin() + w_, side_.begin() + leave);
    --w_;
    refactor_active();
  }
}

/// Turns Z so that the rows of the level lie in its first columns, and drops these. Rows are taken longest first.
void Hierarchy::descend(const Level& level) {
  const int rows = level.A.rows;
  if (identity_) {
    for (int k = 0; k < n_; ++k) {
      std::fill(Z_[k], Z_[k] + n_, 0.0);
      Z_[k][k] = 1;
    }
    identity_ = false;
  }
  double longest = 0;
  for (int i = 0; i < rows; ++i) longest = std::max(longest, dot(level.A[i], level.A[i], n_));
  int rank = 0;
  for (; rank < std::min(rows, r_); ++rank) {
    int next = rank;
    double most = -1;
    for (int i = rank; i < rows; ++i) {
      const double length = dot(B_[i] + rank, B_[i] + rank, r_ - rank);
      if (length > most) {
        most = length;
        next = i;
      }
    }
    if (!(most > kDependent * kDependent * longest)) break;
    std::swap_ranges(B_[rank], B_[rank] + r_, B_[next]);
    double head;
    const double beta = reflector(B_[rank] + rank, r_ - rank, head);
    for (int i = rank + 1; i < rows; ++i) reflect(B_[rank] + rank, beta, B_[i] + rank, r_ - rank);
    for (int k = 0; k < n_; ++k) reflect(B_[rank] + rank, beta, Z_[k] + rank, r_ - rank);
  }
  for (int k = 0; k < n_; ++k) std::copy(Z_[k] + rank, Z_[k] + r_, Z_[k]);
  r_ -= rank;
  refactor_active();
}

/// Moves x so that violated rows of C hold; rows that cannot hold are relaxed to their value at x.
bool Hierarchy::restore(double* x) {
  int broken = 0;
  Level level{{restore_rows_.data(), 0, Z_.stride}, restore_b_.data(), 0};
  for (int i = n_; i < m_; ++i) {
    const Limit l = limit(i);
    const double at = value(i, x);
    if (at >= l.lower && at <= l.upper) continue;
    std::copy(p_.C[i - n_], p_.C[i - n_] + n_, restore_rows_.data() + broken * Z_.stride);
    restore_b_[size_t(broken)] = at < l.lower ? l.lower : l.upper;
    order_[size_t(broken++)] = i;
    relaxed_lower_[size_t(i)] = -kInfinity;
    relaxed_upper_[size_t(i)] = kInfinity;
  }
  if (broken == 0) return true;
  level.A.rows = broken;
  HierarchyReport ignored;
  solve_level(level, x, ignored);
  bool all = true;
  for (int k = 0; k < broken; ++k) {
    const int i = order_[size_t(k)];
    const double lower = p_.c_lower ? p_.c_lower[i - n_] : -kInfinity,
                 upper = p_.c_upper ? p_.c_upper[i - n_] : kInfinity;
    const double at = value(i, x), slack = 1e-9 * (1 + std::abs(restore_b_[size_t(k)]));
    all = all && at >= lower - slack && at <= upper + slack;
    relaxed_lower_[size_t(i)] = std::min(lower, at);
    relaxed_upper_[size_t(i)] = std::max(upper, at);
  }
  return all;
}

HierarchyReport Hierarchy::solve(const HierarchyProblem& problem, double* x) {
  load(problem, x);
  HierarchyReport report;
  for (int i = 0; i < n_; ++i) {
    if (relaxed_lower_[size_t(i)] > relaxed_upper_[size_t(i)]) {
      report.status = HierarchyStatus::kInfeasible;
      relaxed_lower_[size_t(i)] = relaxed_upper_[size_t(i)] = x[i] =
          0.5 * (relaxed_lower_[size_t(i)] + relaxed_upper_[size_t(i)]);
    }
  }
  if (!restore(x)) report.status = HierarchyStatus::kInfeasible;
  for (int i = 0; i < m_; ++i) {
    const int side = last_active_[size_t(i)];
    if (side == 0 || side_of_[size_t(i)] != 0) continue;
    if (value(i, x) == (side > 0 ? limit(i).upper : limit(i).lower)) add_active(i, side);
  }
  for (int k = 0; k < problem.level_count; ++k) {
    const Level& level = problem.levels[k];
    if (level.A.rows > std::max(capacity_.rows, capacity_.constraints)) {
      throw Error("Hierarchy::solve: level " + std::to_string(k) + " has " + std::to_string(level.A.rows) +
                  " rows, more than " + std::to_string(capacity_.rows));
    }
    solve_level(level, x, report);
    if (k + 1 < problem.level_count) descend(level);
    if (r_ == 0) break;
  }
  for (int i = 0; i < m_; ++i) last_active_[size_t(i)] = side_of_[size_t(i)];
  report.active = w_;
  return report;
}

}  // namespace kansetsu::ik
