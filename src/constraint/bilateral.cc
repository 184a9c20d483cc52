#include "constraint/bilateral.h"

#include <algorithm>
#include <cmath>

namespace kansetsu {
namespace {

/// Pivots below this share of their row's diagonal are those of dependent rows (docs/theory/constrained.md). Where rows depend on each
/// other in the very posture that connections hold, a gap of 1e-11, as project() leaves it, leaves as much of a row: its square
/// root is the way to that posture. Such a row must not be held either: it would take forces beyond any bound.
constexpr double kDependent = 1e-9;
/// Rows that answer forces by so little, beside the strongest, are directions in which nothing can move: squares of
/// rounding errors of their Jacobians.
constexpr double kImmovable = 1e-26;
/// Rows that keep so much of their diagonal in any order are far from dependent: no search for the strongest. A search costs a third
/// of a small system's forward dynamics.
constexpr double kSafeShare = 1e-3;
/// Rows of N_ and columns of columns_ are worked on so many numbers at a time.
constexpr int kWidth = 4;
using Some = Eigen::Matrix<double, kWidth, 1>;
constexpr int whole(int count) { return (count + kWidth - 1) / kWidth * kWidth; }

}  // namespace

void BilateralElimination::reserve(int bilateral_rows, int rows) {
  if (bilateral_rows <= C_.rows() && rows <= T_.cols()) return;
  const long nb = std::max<long>(bilateral_rows, C_.rows()), n = std::max<long>(rows, T_.cols());
  C_.resize(nb, nb);
  N_.resize(nb, whole(int(nb)));
  columns_.resize(whole(int(nb)), nb);
  T_.resize(nb, std::max(n, N_.cols()));
  pivot_.resize(size_t(nb));
  held_.resize(size_t(n));
  s_.resize(nb);
  work_.resize(nb);
  diagonal_.resize(nb);
}

/// B = C·Cᵀ, the row with the most left of its diagonal first: the weakest rows, which may be rounding errors, come last.
void BilateralElimination::factorise(const double* G, int stride, double least) {
  double strongest = 0;
  for (int i = 0; i < nb_; ++i) strongest = std::max(strongest, diagonal_[i] = G[i * stride + i]);
  least = std::max(least, kImmovable * strongest);
  C_.topLeftCorner(nb_, nb_).setZero();
  rank_ = 0;
  for (int k = 0; k < nb_; ++k) {
    int best = -1;
    double most = least;
    for (int i = 0; i < nb_; ++i) {
      if (diagonal_[i] > most && diagonal_[i] > kDependent * G[i * stride + i]) best = i, most = diagonal_[i];
    }
    if (best < 0) return;
    const double root = std::sqrt(diagonal_[best]);
    for (int i = 0; i < nb_; ++i) {
      if (diagonal_[i] < 0) continue;  // taken
      double value = G[i * stride + best];
      for (int j = 0; j < k; ++j) value -= C_(i, j) * C_(best, j);
      C_(i, k) = value / root;
      diagonal_[i] = std::max(diagonal_[i] - C_(i, k) * C_(i, k), 0.0);
    }
    diagonal_[best] = -1;
    pivot_[size_t(k)] = best;
    ++rank_;
  }
}

/// B = C·Cᵀ, C a triangle. A column is summed in registers and goes to memory as a whole.
/// @return whether every row keeps a safe share; if not, nothing is factorised
bool BilateralElimination::factorise_as_given(const double* G, int stride, double least) {
  double strongest = 0;
  for (int i = 0; i < nb_; ++i) strongest = std::max(strongest, G[i * stride + i]);
  least = std::max(least, kImmovable * strongest);
  const long height = columns_.rows();
  double* columns = columns_.data();
  for (int k = 0; k < nb_; ++k) {
    double scale = 0;
    for (int i = k / kWidth * kWidth; i < nb_; i += kWidth) {
      Some left = Some::Zero();
      if (i + kWidth <= nb_) {
        left = Eigen::Map<const Some>(G + k * stride + i);
      } else {
        for (int lane = 0; i + lane < nb_; ++lane) left[lane] = G[k * stride + i + lane];
      }
      for (int m = 0; m < k; ++m) left -= columns[m * height + k] * Eigen::Map<const Some>(columns + m * height + i);
      if (i <= k) {  // the first: it has the diagonal
        const double pivot = left[k - i];
        if (!(pivot > least && pivot > kSafeShare * G[k * stride + k])) return false;
        scale = 1 / std::sqrt(pivot);
      }
      Eigen::Map<Some>(columns + k * height + i) = scale * left;
    }
  }
  C_.topLeftCorner(nb_, nb_).setZero();
  for (int k = 0; k < nb_; ++k) {
    for (int i = k; i < nb_; ++i) C_(i, k) = columns[k * height + i];
    pivot_[size_t(k)] = k;
  }
  rank_ = nb_;
  return true;
}

void BilateralElimination::normal_matrix() {
  for (int i = 0; i < rank_; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = C_.col(i).head(nb_).dot(C_.col(j).head(nb_));
      for (int k = 0; k < j; ++k) sum -= N_(i, k) * N_(j, k);
      N_(i, j) = i == j ? std::sqrt(std::max(sum, 0.0)) : sum / N_(j, j);
    }
  }
}

void BilateralElimination::eliminate(double* G, int stride, int bilateral_rows, int rows, double least,
                                     RowOrder order) {
  reserve(bilateral_rows, rows);
  nb_ = bilateral_rows;
  nr_ = rows - bilateral_rows;
  if (order == RowOrder::kStrongestFirst || !factorise_as_given(G, stride, least)) factorise(G, stride, least);
  if (rank_ < nb_) normal_matrix();
  for (int k = 0; k < rank_; ++k) {
    const int p = pivot_[size_t(k)];
    T_.row(k).head(nr_) = Eigen::Map<const Eigen::RowVectorXd>(G + p * stride + nb_, nr_);
    for (int j = 0; j < k; ++j) T_.row(k).head(nr_) -= C_(p, j) * T_.row(j).head(nr_);
    T_.row(k).head(nr_) /= C_(p, k);
  }
  for (int r = 0; r < nr_; ++r) {
    double* row = G + (nb_ + r) * stride + nb_;
    const double whole = row[r];
    for (int k = 0; k < rank_; ++k) Eigen::Map<Eigen::RowVectorXd>(row, nr_) -= T_(k, r) * T_.row(k).head(nr_);
    held_[size_t(r)] = !(row[r] > kHeld * whole);
  }
  for (int r = 0; r < nr_; ++r) {  // what is left of rows that cannot move is rounding errors
    if (!held_[size_t(r)]) continue;
    for (int c = 0; c < nr_; ++c) G[(nb_ + r) * stride + nb_ + c] = G[(nb_ + c) * stride + nb_ + r] = 0;
  }
}

double BilateralElimination::hold(const double* y_b, double* y_r) {
  for (int k = 0; k < rank_; ++k) {
    const int p = pivot_[size_t(k)];
    double value = y_b[p];
    for (int j = 0; j < k; ++j) value -= C_(p, j) * s_[j];
    s_[k] = value / C_(p, k);
  }
  double left = 0;
  for (int i = 0; rank_ < nb_ && i < nb_; ++i) {
    double value = y_b[i];
    for (int k = 0; k < rank_; ++k) value -= C_(i, k) * s_[k];
    left = std::max(left, std::abs(value));
  }
  for (int k = 0; k < rank_; ++k) {
    for (int r = 0; r < nr_; ++r) y_r[r] -= T_(k, r) * s_[k];
  }
  return left;
}

void BilateralElimination::forces(const double* f_r, double* f_b) const {
  Eigen::VectorXd& x = work_;
  for (int k = 0; k < rank_; ++k) {
    double value = s_[k];
    for (int r = 0; r < nr_; ++r) value += T_(k, r) * f_r[r];
    x[k] = value;
  }
  if (rank_ == nb_) {  // C is a permuted triangle: Cᵀ·f = x
    for (int k = rank_ - 1; k >= 0; --k) {
      double value = x[k];
      for (int j = k + 1; j < rank_; ++j) value += C_(pivot_[size_t(j)], k) * f_b[pivot_[size_t(j)]];
      f_b[pivot_[size_t(k)]] = -value / C_(pivot_[size_t(k)], k);
    }
    return;
  }
  for (int i = 0; i < rank_; ++i) {  // (Cᵀ·C)⁻¹·x by its factor
    for (int k = 0; k < i; ++k) x[i] -= N_(i, k) * x[k];
    x[i] /= N_(i, i);
  }
  for (int i = rank_ - 1; i >= 0; --i) {
    for (int k = i + 1; k < rank_; ++k) x[i] -= N_(k, i) * x[k];
    x[i] /= N_(i, i);
  }
  for (int i = 0; i < nb_; ++i) f_b[i] = -C_.row(i).head(rank_).dot(x.head(rank_));
}

/// With all rows independent, C = Pᵀ·L: the rows of L⁻¹ one after the other, in N_, then L⁻ᵀ·L⁻¹. There are no
/// other rows: T_ is free.
void BilateralElimination::invert(double* out, int stride) {
  if (rank_ < nb_) {
    Eigen::VectorXd& unit = diagonal_;
    for (int c = 0; c < nb_; ++c) {
      unit.head(nb_).setZero();
      unit[c] = -1;
      hold(unit.data(), nullptr);
      forces(nullptr, out + c * stride);
    }
    return;
  }
  for (int i = 0; i < nb_; ++i) {
    const double* row = &C_(pivot_[size_t(i)], 0);
    double* to = &N_(i, 0);
    std::fill_n(to, whole(nb_), 0.0);
    const double scale = 1 / row[i];
    for (int j = 0; j < i; ++j) {
      const double* from = &N_(j, 0);
      const double by = scale * row[j];
      for (int k = 0; k < whole(j + 1); k += kWidth) {
        for (int lane = 0; lane < kWidth; ++lane) to[k + lane] -= by * from[k + lane];
      }
    }
    to[i] = scale;
  }
  for (int i = 0; i < nb_; ++i) {
    double* sum = T_.data();
    std::fill_n(sum, whole(i + 1), 0.0);
    for (int j = i; j < nb_; ++j) {
      const double* from = &N_(j, 0);
      const double by = from[i];
      for (int k = 0; k < whole(i + 1); k += kWidth) {
        for (int lane = 0; lane < kWidth; ++lane) sum[k + lane] += by * from[k + lane];
      }
    }
    const int a = pivot_[size_t(i)];
    for (int k = 0; k <= i; ++k) out[pivot_[size_t(k)] * stride + a] = out[a * stride + pivot_[size_t(k)]] = sum[k];
  }
}

}  // namespace kansetsu
