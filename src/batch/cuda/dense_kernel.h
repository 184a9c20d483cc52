#pragma once

#include "batch/cuda/state_kernel.h"

/// Inverses of mass matrices, and products with them, by a block of threads: some states side by side, one thread for each
/// column of each of them, the matrices in shared memory. Phases between which all threads of the block meet are functions
/// of their own, so that a host can play the threads one after the other.
///
/// M = Lᵀ·D·L with L unit lower triangular, eliminated from the last coordinate to the first: what a tree leaves zero stays
/// zero ([RBDA] §6.5), and D is what the articulated-body algorithm divides by.
namespace kansetsu::batch::cuda {

/// How the matrices lie in shared memory: row j of the matrix of state s begins at s·state_stride + j·row_stride.
struct DenseShape {
  int n = 0;       ///< rows and columns
  int states = 1;  ///< side by side
  int row_stride = 0, state_stride = 0;

  int threads() const { return n * states; }
  /// Numbers of shared memory: the matrices, then one column per thread.
  KANSETSU_HD int column_start() const { return states * state_stride; }
  std::size_t numbers() const { return std::size_t(column_start()) + std::size_t(n) * std::size_t(threads()); }
};

/// As many states as the shared memory has room for, up to eight: that many floats of neighbouring states are a sector of
/// memory. No states if a single one does not fit.
template <class Real>
DenseShape dense_shape(int n, std::size_t shared_bytes) {
  constexpr int kVector = 4, kBanks = 32, kMostThreads = 512;
  DenseShape shape;
  shape.n = n;
  shape.row_stride = (n + kVector - 1) / kVector * kVector;
  shape.state_stride = shape.row_stride * n;
  while (shape.state_stride % kBanks != kVector) shape.state_stride += kVector;  // states in different banks
  for (shape.states = 8; shape.states > 0; shape.states /= 2) {
    if (shape.threads() <= kMostThreads && shape.numbers() * sizeof(Real) <= shared_bytes) break;
  }
  return shape;
}

template <class Real>
struct DenseArguments {
  Fields<const Real> M;
  Fields<Real> M_inv;   ///< may be M
  Fields<Real> dq, dv;  ///< derivatives of inverse dynamics; become −M⁻¹ times them. May be null
};

/// One thread's view of its block. thread = column·states + state.
template <class Real>
struct DenseThread {
  const DenseShape& shape;
  Real* M;          ///< of its state
  Real* column;     ///< its own numbers, every threads-th one
  int index;        ///< of its column
  int local_state;  ///< in the block
  int threads;

  KANSETSU_HD DenseThread(const DenseShape& shape_, Real* memory, int thread)
      : shape(shape_),
        M(memory + thread % shape_.states * shape_.state_stride),
        column(memory + shape_.column_start() + thread),
        index(thread / shape_.states),
        local_state(thread % shape_.states),
        threads(shape_.n * shape_.states) {}

  KANSETSU_HD Real& entry(int r, int c) const { return M[r * shape.row_stride + c]; }
  KANSETSU_HD Real& own(int r) const { return column[r * threads]; }
};

/// Reads column `index` of a symmetric matrix, as a row.
template <class Real>
KANSETSU_HD void dense_load(const DenseThread<Real>& t, const StateOf<const Real>& from) {
  const int n = t.shape.n;
  for (int i = 0; i < n; ++i) t.entry(t.index, i) = from[t.index * n + i];
  t.own(0) = t.entry(t.index, t.index) * Real(kernel::kPivotNoise<Real>);  // below it a pivot counts as zero
}

/// Eliminates coordinate j from row `index` < j. Call for j = n − 1 … 1; all threads meet after each.
template <class Real>
KANSETSU_HD void dense_eliminate(const DenseThread<Real>& t, int j) {
  if (t.index >= j) return;
  const Real floor = t.column[(j - t.index) * t.shape.states];  // what thread (j, state) put into own(0)
  const Real pivot = t.entry(j, j), w = t.entry(j, t.index);
  if (w == Real(0) || !(pivot > floor)) return;  // on different branches, or nothing to eliminate
  const Real l = w / pivot;
  for (int k = 0; k <= t.index; ++k) t.entry(t.index, k) = msub(l, t.entry(j, k), t.entry(t.index, k));
}

/// 1/D of its own coordinate onto the diagonal. All threads meet after it.
template <class Real>
KANSETSU_HD void dense_invert_pivot(const DenseThread<Real>& t) {
  const Real pivot = t.entry(t.index, t.index);
  t.entry(t.index, t.index) = pivot > t.own(0) ? Real(1) / pivot : Real(0);
}

/// Column `index` of the inverse into its own numbers. All threads meet before and after it.
template <class Real>
KANSETSU_HD void dense_solve(const DenseThread<Real>& t) {
  const int n = t.shape.n, c = t.index;
  for (int i = c + 1; i < n; ++i) t.own(i) = Real(0);
  t.own(c) = t.entry(c, c);
  for (int i = c - 1; i >= 0; --i) {  // z = D⁻¹·L⁻ᵀ·e
    Real sum = Real(0);
    for (int j = i + 1; j <= c; ++j) sum = msub(t.entry(j, i), t.own(j), sum);
    t.own(i) = t.entry(i, i) * sum;
  }
  for (int j = 1; j < n; ++j) {  // x = L⁻¹·z
    Real sum = Real(0);
    for (int i = 0; i < j; ++i) sum = madd(t.entry(j, i), t.own(i), sum);
    t.own(j) = msub(t.entry(j, j), sum, t.own(j));
  }
}

/// The inverse into the place of the matrix, and home.
template <class Real>
KANSETSU_HD void dense_keep(const DenseThread<Real>& t, bool inside, const StateOf<Real>& to) {
  const int n = t.shape.n;
  for (int i = 0; i < n; ++i) {
    t.entry(t.index, i) = t.own(i);
    if (inside) to[i * n + t.index] = t.own(i);  // row by row, neighbouring columns and states together
  }
}

/// Four numbers on a 16-byte boundary, read at once.
template <class Real>
struct alignas(16) Four {
  Real v[4];
};

/// Column `index` of −M⁻¹·X, in place. All threads meet before it, once.
template <class Real>
KANSETSU_HD void dense_multiply(const DenseThread<Real>& t, const StateOf<Real>& X) {
  constexpr int kFours = 3, kRows = 4 * kFours;  // sums in registers
  const int n = t.shape.n;
  for (int j = 0; j < n; ++j) t.own(j) = -X[j * n + t.index];
  for (int first = 0; first < n; first += kRows) {
    Real sum[kRows] = {};
    for (int j = 0; j < n; ++j) {
      const Real x = t.own(j);
      const auto* row = reinterpret_cast<const Four<Real>*>(&t.entry(j, first));
      for (int f = 0; f < kFours; ++f) {
        if (first + 4 * f >= t.shape.row_stride) break;
        const Four<Real> four = row[f];
        for (int k = 0; k < 4; ++k) sum[4 * f + k] = madd(four.v[k], x, sum[4 * f + k]);
      }
    }
    for (int k = 0; k < kRows; ++k) {
      if (first + k < n) X[(first + k) * n + t.index] = sum[k];
    }
  }
}

}  // namespace kansetsu::batch::cuda
