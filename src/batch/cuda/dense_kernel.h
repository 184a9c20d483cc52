#pragma once

#include "batch/cuda/column_kernel.h"

/// Inverses of mass matrices, and products with them, by a block of threads: several states, one thread for each column of each
/// state, the matrices in shared memory. Phases between barriers of the block are separate functions, so that the host can run
/// the threads one after the other.
///
/// M = Lᵀ·D·L with L unit lower triangular, eliminated from the last coordinate to the first: the zeros of a tree stay
/// zero ([RBDA] §6.5), and D is what the articulated-body algorithm divides by. W = L⁻¹ has the zeros of L, so that
/// M⁻¹ = W·D⁻¹·Wᵀ costs few products, all of them of whole columns.
namespace kansetsu::batch::cuda {

/// Four numbers on a 16-byte boundary, for one wide load.
template <class Real>
struct alignas(16) Four {
  Real v[4];
};

/// Layout of a state in shared memory: two matrices of n rows, then n records of kRecord numbers.
struct DenseShape {
  static constexpr int kRecord = 16;

  int n = 0;       ///< rows and columns
  int states = 1;  ///< per block
  int row_stride = 0, state_stride = 0;

  int threads() const { return n * states; }
  std::size_t numbers() const { return std::size_t(states) * std::size_t(state_stride); }
};

/// As many states as fit into shared memory, up to `most`: eight floats of neighbouring states are a sector of
/// memory. No states if a single one does not fit.
template <class Real>
DenseShape dense_shape(int n, std::size_t shared_bytes, int most = 8) {
  constexpr int kVector = 4, kBanks = 32, kMostThreads = 512;
  DenseShape shape;
  shape.n = n;
  shape.row_stride = (n + kVector - 1) / kVector * kVector;
  shape.state_stride = 2 * shape.row_stride * n + DenseShape::kRecord * n;
  while (shape.state_stride % kBanks != kVector) shape.state_stride += kVector;  // states in different banks
  for (shape.states = most; shape.states > 0; shape.states /= 2) {
    if (shape.threads() <= kMostThreads && shape.numbers() * sizeof(Real) <= shared_bytes) break;
  }
  return shape;
}

template <class Real>
struct DenseArguments {
  Fields<Real> M_inv;
  Fields<Real> dq, dv;  ///< become −M⁻¹ times derivatives of inverse dynamics. May be null
  /// Inputs: either columns (see column_kernel.h), or M, and then dq and dv hold derivatives of inverse dynamics.
  Fields<const Real> columns;
  const ColumnOf<Real>* tree;  ///< n of them, with columns only
  Fields<const Real> M;        ///< may be M_inv

  static DenseArguments of_matrices(const Fields<const Real>& M, const Fields<Real>& M_inv, const Fields<Real>& dq,
                                    const Fields<Real>& dv) {
    return {M_inv, dq, dv, {}, nullptr, M};
  }
  static DenseArguments of_columns(const ColumnOf<Real>* tree, const Fields<const Real>& columns,
                                   const Fields<Real>& M_inv, const Fields<Real>& dq, const Fields<Real>& dv) {
    return {M_inv, dq, dv, columns, tree, {}};
  }
};

/// One thread's view of its block. thread = column·states + state.
template <class Real>
struct DenseThread {
  const DenseShape& shape;
  Real* M;          ///< of its state: the lower triangle of M, then L·D, then all of M⁻¹
  Real* W;          ///< of its state, columns as rows
  Real* record;     ///< of its state: numbers of rows, and last a pivot
  int index;        ///< of its column
  int local_state;  ///< in the block

  KANSETSU_HD DenseThread(const DenseShape& shape_, Real* memory, int thread)
      : shape(shape_),
        M(memory + thread % shape_.states * shape_.state_stride),
        W(M + shape_.row_stride * shape_.n),
        record(W + shape_.row_stride * shape_.n),
        index(thread / shape_.states),
        local_state(thread % shape_.states) {}

  KANSETSU_HD Real& entry(int r, int c) const { return M[r * shape.row_stride + c]; }
  KANSETSU_HD Real& w(int r, int c) const { return W[c * shape.row_stride + r]; }
  KANSETSU_HD Real* row_record(int r) const { return record + r * DenseShape::kRecord; }
  /// Below it a pivot counts as zero; later 1/D.
  KANSETSU_HD Real& pivot(int r) const { return row_record(r)[DenseShape::kRecord - 1]; }
  KANSETSU_HD Four<Real>* fours(Real* row) const { return reinterpret_cast<Four<Real>*>(row); }
};

/// Column `index` of a symmetric matrix. All threads meet after it.
template <class Real>
KANSETSU_HD void dense_load(const DenseThread<Real>& t, const StateOf<const Real>& from) {
  const int n = t.shape.n;
  for (int r = 0; r < n; ++r) t.entry(r, t.index) = from[r * n + t.index];
  t.pivot(t.index) = t.entry(t.index, t.index) * Real(kernel::kPivotNoise<Real>);
}

/// The numbers of row `index`. All threads meet after it.
template <class Real>
KANSETSU_HD void dense_load_row(const DenseThread<Real>& t, const StateOf<const Real>& columns) {
  for (int k = 0; k < kRowNumbers; ++k) t.row_record(t.index)[k] = columns[t.index * kColumnNumbers + k];
}

/// Column `index` of the lower triangle of the mass matrix. All threads meet before and after it.
template <class Real>
KANSETSU_HD void dense_mass(const DenseThread<Real>& t, const ColumnOf<Real>* tree) {
  const int n = t.shape.n, c = t.index, end = tree[c].end;
  Real S[6];
  for (int k = 0; k < 6; ++k) S[k] = t.row_record(c)[k];
  for (int r = 0; r < n; ++r) {
    Real sum = Real(0);
    if (r >= c && r < end) {
      const Real* F = t.row_record(r) + 6;
      for (int k = 0; k < 6; ++k) sum = madd(F[k], S[k], sum);
    }
    if (r == c) {
      sum += tree[c].rotor;
      t.pivot(c) = sum * Real(kernel::kPivotNoise<Real>);
    }
    t.entry(r, c) = sum;
  }
}

/// Eliminates coordinate j from row `index` < j. Call for j = n − 1 … 1; all threads meet after each.
template <class Real>
KANSETSU_HD void dense_eliminate(const DenseThread<Real>& t, int j) {
  const int i = t.index;
  if (i >= j) return;
  const Real pivot = t.entry(j, j), w = t.entry(j, i);
  if (w == Real(0) || !(pivot > t.pivot(j))) return;  // on different branches, or nothing to eliminate
  const Real l = w / pivot;
  constexpr int kAhead = 3;  // loads before the first store
  const Four<Real>* from = t.fours(&t.entry(j, 0));
  Four<Real>* to = t.fours(&t.entry(i, 0));
  const int fours = i / 4 + 1;  // entries beyond the diagonal are not used
  for (int first = 0; first < fours; first += kAhead) {
    Four<Real> a[kAhead], b[kAhead];
    for (int f = 0; f < kAhead; ++f) {
      if (first + f < fours) a[f] = from[first + f], b[f] = to[first + f];
    }
    for (int f = 0; f < kAhead; ++f) {
      if (first + f >= fours) break;
      for (int k = 0; k < 4; ++k) b[f].v[k] = msub(l, a[f].v[k], b[f].v[k]);
      to[first + f] = b[f];
    }
  }
}

/// 1/D of its own coordinate. All threads meet after it.
template <class Real>
KANSETSU_HD void dense_invert_pivot(const DenseThread<Real>& t) {
  const Real D = t.entry(t.index, t.index);
  t.pivot(t.index) = D > t.pivot(t.index) ? Real(1) / D : Real(0);
}

/// Column `index` of W. All threads meet before and after it.
/// @param end  one past the last row that may differ from zero
template <class Real>
KANSETSU_HD void dense_invert_factor(const DenseThread<Real>& t, int end) {
  const int c = t.index;
  for (int r = 0; r < t.shape.row_stride; ++r) t.w(r, c) = Real(r == c);
  for (int j = c + 1; j < end; ++j) {
    Real sum = Real(0);
    for (int i = c; i < j; ++i) sum = msub(t.entry(j, i), t.w(i, c), sum);
    t.w(j, c) = t.pivot(j) * sum;
  }
}

/// Rows `first` … of a sum of columns of a matrix, in registers.
template <int kFours, class Real>
struct DenseSum {
  Real sum[4 * kFours] = {};

  /// Adds x times column c; `rows` points to its numbers.
  KANSETSU_HD void add(const Real& x, const Real* rows, int count) {
    const auto* four = reinterpret_cast<const Four<Real>*>(rows);
    for (int f = 0; f < kFours; ++f) {
      if (4 * f >= count) break;
      const Four<Real> a = four[f];
      for (int k = 0; k < 4; ++k) sum[4 * f + k] = madd(a.v[k], x, sum[4 * f + k]);
    }
  }
};

/// Where the numbers of column `index` go: row r of the result to to[row(r)].
template <int kFours, class Real, class Row>
KANSETSU_HD void dense_put(const DenseSum<kFours, Real>& s, int first, int n, const StateOf<Real>& to, const Row& row) {
  for (int k = 0; k < 4 * kFours; ++k) {
    if (first + k < n) to[row(first + k)] = s.sum[k];
  }
}

/// Column `index` of M⁻¹, into the place of M and home. All threads meet before and after it.
template <int kFours, class Real, class Row>
KANSETSU_HD void dense_inverse(const DenseThread<Real>& t, bool inside, const StateOf<Real>& to, const Row& row) {
  const int n = t.shape.n, c = t.index;
  for (int first = 0; first < n; first += 4 * kFours) {
    DenseSum<kFours, Real> s;
    for (int k = 0; k <= c; ++k) {
      const Real w = t.w(c, k);
      if (w != Real(0)) s.add(w * t.pivot(k), &t.w(first, k), t.shape.row_stride - first);
    }
    for (int k = 0; k < 4 * kFours; ++k) {
      if (first + k < t.shape.row_stride) t.entry(c, first + k) = s.sum[k];
    }
    if (inside) dense_put(s, first, n, to, row);
  }
}

/// Column `index` of −M⁻¹·X, in place. All threads meet before it, once.
template <int kFours, class Real>
KANSETSU_HD void dense_multiply(const DenseThread<Real>& t, const StateOf<Real>& X) {
  const int n = t.shape.n;
  for (int j = 0; j < n; ++j) t.w(j, t.index) = -X[j * n + t.index];
  for (int first = 0; first < n; first += 4 * kFours) {
    DenseSum<kFours, Real> s;
    for (int j = 0; j < n; ++j) s.add(t.w(j, t.index), &t.entry(j, first), t.shape.row_stride - first);
    dense_put(s, first, n, X, [&](int r) { return r * n + t.index; });
  }
}

/// The factors of a column in the entries of a derivative: entry r is S_r·by if r is before it, or (M·S)_r·psi + (2Bᵀ·S)_r·w.
template <class Real>
struct EntryMaker {
  Real by[6], psi[6], w[3];

  KANSETSU_HD Real before(const Four<Real>* row) const {
    const Four<Real> a = row[0], b = row[1];
    const Real low = madd(a.v[2], by[2], madd(a.v[1], by[1], a.v[0] * by[0]));
    const Real high = madd(b.v[1], by[5], madd(b.v[0], by[4], a.v[3] * by[3]));
    return low + high;
  }
  KANSETSU_HD Real after(const Four<Real>* row) const {
    const Four<Real> a = row[1], b = row[2], c = row[3];
    const Real low = madd(b.v[0], psi[2], madd(a.v[3], psi[1], a.v[2] * psi[0]));
    const Real high = madd(b.v[3], psi[5], madd(b.v[2], psi[4], b.v[1] * psi[3]));
    return madd(c.v[2], w[2], madd(c.v[1], w[1], madd(c.v[0], w[0], low))) + high;
  }
};
template <class Real>
KANSETSU_HD EntryMaker<Real> entries_by_q(const StateOf<const Real>& columns, int c) {
  EntryMaker<Real> out;
  for (int k = 0; k < 6; ++k) {
    out.by[k] = columns[c * kColumnNumbers + kByQ + k];
    out.psi[k] = columns[c * kColumnNumbers + kByQ + 6 + k];
  }
  for (int k = 0; k < 3; ++k) out.w[k] = columns[c * kColumnNumbers + kByQ + 12 + k];
  return out;
}
template <class Real>
KANSETSU_HD EntryMaker<Real> entries_by_v(const StateOf<const Real>& columns, int c) {
  EntryMaker<Real> out;
  for (int k = 0; k < 6; ++k) {
    out.by[k] = columns[c * kColumnNumbers + kByV + k];
    out.psi[k] = columns[c * kColumnNumbers + kByV + 6 + k];
  }
  for (int k = 0; k < 3; ++k) out.w[k] = columns[c * kColumnNumbers + k];
  return out;
}

/// Column `index` of −M⁻¹·X; the entries of X are computed where needed. All threads meet before it, once.
template <int kFours, class Real, class Row>
KANSETSU_HD void dense_derivative(const DenseThread<Real>& t, const ColumnOf<Real>* tree, const EntryMaker<Real>& make,
                                  const StateOf<Real>& to, const Row& row) {
  const int n = t.shape.n, c = t.index, own_first = tree[c].first, end = tree[c].end;
  for (int first = 0; first < n; first += 4 * kFours) {
    DenseSum<kFours, Real> s;
    for (int r = 0; r < end; ++r) {
      const bool after = r >= own_first;
      if (!after && tree[r].end <= c) continue;  // neither moves the other
      const Four<Real>* record = t.fours(t.row_record(r));
      const Real x = after ? make.after(record) : make.before(record);
      s.add(-x, &t.entry(r, first), t.shape.row_stride - first);
    }
    dense_put(s, first, n, to, row);
  }
}

/// All phases, in turn.
/// @param each  each(phase) calls phase(thread, state, inside) of all threads of the block, and returns when all are done.
///   A thread without a state (not inside) computes with the numbers of another one and does not write its result.
template <bool kColumns, int kFours, class Real, class Each>
KANSETSU_HD void dense_run(int n, const DenseArguments<Real>& a, Each&& each) {
  using Thread = DenseThread<Real>;
  using State = std::ptrdiff_t;
  const auto columns = [&](State s) { return StateOf<const Real>(a.columns, s); };
  const auto column = [&](int k) { return kColumns ? a.tree[k].column : k; };
  if constexpr (kColumns) {
    each([&](const Thread& t, State s, bool) { dense_load_row(t, columns(s)); });
    each([&](const Thread& t, State, bool) { dense_mass(t, a.tree); });
  } else {
    each([&](const Thread& t, State s, bool) { dense_load(t, StateOf<const Real>(a.M, s)); });
  }
  for (int j = n - 1; j > 0; --j) {
    each([&](const Thread& t, State, bool) { dense_eliminate(t, j); });
  }
  each([&](const Thread& t, State, bool) { dense_invert_pivot(t); });
  each([&](const Thread& t, State, bool) { dense_invert_factor(t, kColumns ? a.tree[t.index].end : n); });
  each([&](const Thread& t, State s, bool inside) {
    const int own = column(t.index);
    dense_inverse<kFours>(t, inside, StateOf<Real>(a.M_inv, s), [&](int r) { return column(r) * n + own; });
  });
  if (!a.dq.data) return;
  each([&](const Thread& t, State s, bool inside) {
    if (!inside) return;
    const StateOf<Real> dq(a.dq, s), dv(a.dv, s);
    if constexpr (kColumns) {
      const int own = column(t.index);
      const auto row = [&](int r) { return column(r) * n + own; };
      dense_derivative<kFours>(t, a.tree, entries_by_q(columns(s), t.index), dq, row);
      dense_derivative<kFours>(t, a.tree, entries_by_v(columns(s), t.index), dv, row);
    } else {
      dense_multiply<kFours>(t, dq);
      dense_multiply<kFours>(t, dv);
    }
  });
}

}  // namespace kansetsu::batch::cuda
