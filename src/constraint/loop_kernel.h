#pragma once

#include <cmath>

#include "constraint/eight.h"
#include "constraint/loop_front.h"

/// Dense kernels of a front, eight columns at a time; see loop_front.h.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Pivots below this share of all that was added to the row's diagonal are those of dependent rows, as in bilateral.cc
/// (docs/theory/constrained.md).
inline constexpr double kDependentRow = 1e-9;
/// Where the six numbers of a motion stand in its record.
inline constexpr int kMotionPlace[6] = {0, 1, 2, 4, 5, 6};

inline void clear_front(const LoopFront& f) {
  for (int i = 0; i < f.kept * f.ld; i += 8) store_eight(Eight(0.0), f.F + i);
  for (int i = 0; i < f.closed * f.closed_ld; i += 8) store_eight(Eight(0.0), f.W + i);
  for (int i = 0; i < f.closed_ld; ++i) f.scale[i] = 0;
}

/// y += x, count numbers
KANSETSU_HD void add_numbers(int count, const double* x, double* y) {
  int i = 0;
  for (; i + 8 <= count; i += 8) store_eight(load_eight(y + i) + load_eight(x + i), y + i);
  for (; i < count; ++i) y[i] += x[i];
}

inline void add_child_front(const LoopFront& child, const FrontRun* runs, int count, const LoopFront& f) {
  for (const FrontRun* a = runs; a < runs + count; ++a) {
    const bool closes = a->to >= f.ld;
    for (int r = 0; r < a->count; ++r) {
      const double* from = child.F + (a->from + r) * child.ld;
      double* to = closes ? f.W + (a->to - f.ld + r) * f.closed_ld : f.F + (a->to + r) * f.ld;
      for (const FrontRun* b = runs; b < runs + count; ++b) {
        if (closes || b->to < f.ld) add_numbers(b->count, from + b->from, to + b->to);
      }
    }
    add_numbers(a->count, child.scale + a->from, f.scale + a->to);
  }
}

/// y += s·x over whole blocks
KANSETSU_HD void add_scaled(int n, double s, const double* x, double* y) {
  const Eight factor(s);
  for (int c = 0; c < n; c += 8) store_eight(madd(factor, load_eight(x + c), load_eight(y + c)), y + c);
}
KANSETSU_HD double dot_blocks(int n, const double* x, const double* y) {
  Eight sum(0.0);
  for (int c = 0; c < n; c += 8) sum = madd(load_eight(x + c), load_eight(y + c), sum);
  return total(sum);
}

/// kRows rows of F from r on += Σ weight·v[row]·v, v the rows of V
template <int kRows>
KANSETSU_HD void add_rows_product(const LoopFront& f, int r, const double* V, int stride, int count,
                                  const double* weight) {
  for (int c = 0; c < f.ld; c += 8) {
    Eight sum[kRows];
#pragma GCC unroll 4
    for (int t = 0; t < kRows; ++t) sum[t] = load_eight(f.F + (r + t) * f.ld + c);
    for (int j = 0; j < count; ++j) {
      const double* v = V + j * stride;
      const Eight right = Eight(weight ? weight[j] : -1.0) * load_eight(v + c);
#pragma GCC unroll 4
      for (int t = 0; t < kRows; ++t) sum[t] = madd(Eight(v[r + t]), right, sum[t]);
    }
#pragma GCC unroll 4
    for (int t = 0; t < kRows; ++t) store_eight(sum[t], f.F + (r + t) * f.ld + c);
  }
}
/// F += Σ weight·v·vᵀ from row `first` on. weight: null for −1
KANSETSU_HD void add_product(const LoopFront& f, int first, const double* V, int stride, int count,
                             const double* weight) {
  int r = first;
  for (; r + 4 <= f.kept; r += 4) add_rows_product<4>(f, r, V, stride, count, weight);
  for (; r < f.kept; ++r) add_rows_product<1>(f, r, V, stride, count, weight);
}

/// Which of the rows order[j …] has lost least of its diagonal, as a place in `order`; −1 if none has anything left.
KANSETSU_HD int strongest_row(const LoopFront& f, int j, double least) {
  int best = -1;
  double most = kDependentRow;
  for (int k = j; k < f.closed; ++k) {
    const int i = f.order[k];
    const double left = f.W[i * f.closed_ld + f.ld + i], whole = f.scale[f.ld + i];
    if (left > least && left > most * whole) best = k, most = left / whole;
  }
  return best;
}

inline void close_rows(LoopFront& f, double least) {
  for (int i = 0; i < f.closed; ++i) f.order[i] = i;
  f.rank = 0;
  for (int j = 0; j < f.closed; ++j) {
    const int best = strongest_row(f, j, least);
    if (best < 0) break;
    const int p = f.order[best];
    f.order[best] = f.order[j];
    f.order[j] = p;
    double* pivot = f.W + p * f.closed_ld;
    const double inverse = 1 / std::sqrt(pivot[f.ld + p]);
    for (int c = 0; c < f.closed_ld; c += 8) store_eight(load_eight(pivot + c) * Eight(inverse), pivot + c);
    for (int k = j + 1; k < f.closed; ++k) {
      const int i = f.order[k];
      double* row = f.W + i * f.closed_ld;
      add_scaled(f.closed_ld, -pivot[f.ld + i], pivot, row);
      row[f.ld + p] = 0;
    }
    pivot[f.ld + p] = inverse;
    ++f.rank;
  }
  for (int k = f.rank; k < f.closed; ++k) {
    double* row = f.W + f.order[k] * f.closed_ld;
    for (int c = 0; c < f.closed_ld; c += 8) store_eight(Eight(0.0), row + c);
  }
  if (f.rank > 0) add_product(f, 0, f.W, f.closed_ld, f.closed, nullptr);
}

inline void free_front_columns(const LoopFront& f) {
  for (int k = f.columns - 1; k >= 0; --k) {  // the outermost first; only rows of a are kept up to date meanwhile
    double* z = f.z + k * f.ld;
    const double* S = f.S + 8 * k;
    for (int i = 0; i < 6; ++i) add_scaled(f.ld, S[kMotionPlace[i]], f.F + i * f.ld, z);
    double D = f.D_inv[k];
    for (int i = 0; i < 6; ++i) D -= S[kMotionPlace[i]] * z[i];
    f.D_inv[k] = D > 0 ? 1 / D : 0;
    for (int i = 0; i < 6; ++i) add_scaled(f.ld, f.D_inv[k] * z[i], z, f.F + i * f.ld);
  }
  add_product(f, 6, f.z, f.ld, f.columns, f.D_inv);
  for (int k = 0; k < f.columns; ++k) {
    const double* z = f.z + k * f.ld;
    for (int c = 0; c < f.ld; c += 8) {
      const Eight row = load_eight(z + c);
      store_eight(madd(row * Eight(f.D_inv[k]), row, load_eight(f.scale + c)), f.scale + c);
    }
  }
}

inline double reduce_front(const LoopFront& f) {
  double *r = f.r, *y = f.r + f.ld, left = 0;
  for (int j = 0; j < f.rank; ++j) {
    const int p = f.order[j];
    const double* row = f.W + p * f.closed_ld;
    y[p] *= row[f.ld + p];
    for (int k = j + 1; k < f.closed; ++k) {
      const int i = f.order[k];
      y[i] = msub(row[f.ld + i], y[p], y[i]);
    }
    add_scaled(f.ld, -y[p], row, r);
  }
  for (int k = f.rank; k < f.closed; ++k) {
    double& rest = y[f.order[k]];
    left = std::fmax(left, std::fabs(rest));
    rest = 0;
  }
  for (int k = f.columns - 1; k >= 0; --k) {
    const double* S = f.S + 8 * k;
    double drive = 0;
    for (int i = 0; i < 6; ++i) drive = madd(S[kMotionPlace[i]], r[i], drive);
    f.drive[k] = drive;
    add_scaled(f.ld, f.D_inv[k] * drive, f.z + k * f.ld, r);
  }
  return left;
}

inline void substitute_front(const LoopFront& f, double* x, double* rates) {
  for (int k = 0; k < f.columns; ++k) {
    const double* S = f.S + 8 * k;
    rates[k] = f.D_inv[k] * (dot_blocks(f.ld, f.z + k * f.ld, x) + f.drive[k]);
    for (int i = 0; i < 6; ++i) x[i] = madd(S[kMotionPlace[i]], rates[k], x[i]);
  }
  for (int j = f.rank - 1; j >= 0; --j) {
    const int p = f.order[j];
    const double* row = f.W + p * f.closed_ld;
    x[f.ld + p] =
        -(f.r[f.ld + p] + dot_blocks(f.closed_ld, row, x)) * row[f.ld + p];  // its own column is zero until now
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
