#pragma once

#include "dynamics/dense/mass_matrix_lanes.h"

/// The inverse of a mass matrix from M itself. M = Lᵀ·D·L keeps the zeros of M ([RBDA] 6.5), and so does L⁻¹; with columns
/// numbered depth first what column i is eliminated by is one range, its subtree, and all sums run over rows of registers.
///
/// Symbols   H = D·L   W = L⁻¹   M⁻¹ = W·D⁻¹·Wᵀ
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Scratch of the inverse; matrices row by row, `stride` numbers each.
template <class T>
struct SparseFactor {
  int n, stride;
  T* H;  ///< in: M. Row i: columns 0 … i
  T* L;  ///< likewise
  T* W;  ///< row i is column i of W: rows i … end of its subtree, zero elsewhere
  T *D_inv, *scale;

  template <class Const>
  KANSETSU_HD SparseFactor(const TreeViewOf<Const>& tree, Carver<T>& carver)
      : n(tree.nu), stride(tree.columns.columns) {
    H = carver.template take<T>(stride * stride);
    L = carver.template take<T>(stride * stride);
    W = carver.template take<T>(stride * stride);
    D_inv = carver.template take<T>(stride);
    scale = carver.template take<T>(stride);
  }
  KANSETSU_HD MatrixOut<T> mass_matrix() const { return {H, n, stride}; }
};

/// Pivots below this share of what they are the difference of are left to the articulated-body recursion, which subtracts
/// nothing from far away and knows vanishing inertias.
inline constexpr double kSafePivot = 1e-7;

/// What M's diagonal is the sum of, taken absolutely: Σ|S·F| and the rotor.
template <class P, int N, class T, class Const>
KANSETSU_HD void pivot_scales(const TreeViewOf<Const>& tree, const ColumnLanes<T, N>& lanes, T* scale) {
  for (int k = 0; k < tree.columns.columns; k += P::width) {
    P sum(0);
    for (int c = 0; c < 6; ++c) {
      const P power = load_lane<P>(lanes.at(k), kLaneS + c) * load_lane<P>(lanes.at(k), kLaneF + c);
      sum += select(power < P(0), -power, power);
    }
    store(sum, scale + k);
  }
  for (int k = 0; k < tree.nu; ++k) scale[k] += T(tree.rotor_inertia[k]);
}

/// Calls visit with 1 … kMost as a constant, for so many of the blocks from `first` on, until `end`.
template <int kMost, class Visit>
KANSETSU_HD void in_chunks(int first, int end, Visit&& visit) {
  for (; end - first >= kMost; first += kMost) visit(std::integral_constant<int, kMost>(), first);
  if constexpr (kMost > 1) {
    if (end > first) in_chunks<kMost - 1>(first, end, visit);
  }
}

/// Blocks of row i from row `at` on: first(block) − Σ L_ki·rows(k) over the columns k behind i in its subtree.
template <int kBlocks, class P, class T, class First>
KANSETSU_HD void eliminate_row(const SparseFactor<T>& f, T* matrix, int i, int end, int at, First&& first) {
  P value[kBlocks];
  for (int b = 0; b < kBlocks; ++b) value[b] = first(at + b * P::width);
  for (int k = end - 1; k > i; --k) {  // the row computed last comes last
    const P minus(-f.L[k * f.stride + i]);
    const T* row = matrix + k * f.stride + at;
    for (int b = 0; b < kBlocks; ++b) value[b] = madd(minus, load<P>(row + b * P::width), value[b]);
  }
  for (int b = 0; b < kBlocks; ++b) store(value[b], matrix + i * f.stride + at + b * P::width);
}

/// H_i = M_i − Σ L_ki·H_k and W_i = e_i − Σ L_ki·W_k over the subtree of i, tips to base.
/// @return whether every pivot is safe
template <class P, class T>
bool factorise_sparse(const ColumnView& view, const SparseFactor<T>& f) {
  constexpr int kMostBlocks = 4;
  bool safe = true;
  for (int i = f.n - 1; i >= 0; --i) {
    const int end = view.end[i];
    T *H = f.H + i * f.stride, *L = f.L + i * f.stride, *W = f.W + i * f.stride;
    in_chunks<kMostBlocks>(0, i / P::width + 1, [&](auto count, int block) __attribute__((always_inline)) {
      eliminate_row<count, P>(f, f.H, i, end, block * P::width, [&](int at) { return load<P>(H + at); });
    });
    const T D = H[i];
    safe = safe && D > T(kSafePivot) * f.scale[i];
    f.D_inv[i] = T(1) / D;
    const P inverse(f.D_inv[i]), zero(0), one(1), here = P(view.row_lanes[i]);
    for (int c = 0; c <= i; c += P::width) store(inverse * load<P>(H + c), L + c);
    const int first = i / P::width, last = (end - 1) / P::width + 1;
    for (int c = 0; c < first; ++c) store(zero, W + c * P::width);
    for (int c = last; c < f.stride / P::width; ++c) store(zero, W + c * P::width);
    in_chunks<kMostBlocks>(first, last, [&](auto count, int block) __attribute__((always_inline)) {
      eliminate_row<count, P>(f, f.W, i, end, block * P::width,
                              [&](int at) { return select(load<P>(view.row_lanes + at) == here, one, zero); });
    });
  }
  return safe;
}

inline constexpr int kProductBlocks = 5;

/// M⁻¹ = W·D⁻¹·Wᵀ: column j is the sum over the columns a that move it. Also into f.H.
template <class P, class T>
void invert_sparse(const ColumnView& view, const SparseFactor<T>& f, const MatrixOut<T>& out) {
  // The last blocks first: they are written into the next column, see MatrixOut.
  const int blocks = (f.n + P::width - 1) / P::width;
  const auto columns = [&](auto count, int from) __attribute__((always_inline)) {
    for (int j = 0; j < f.n; ++j) {
      P sum[count];
      for (int b = 0; b < count; ++b) sum[b] = P(0);
      for (int a = j; a >= 0; a = view.parent[a]) {
        const T* W = f.W + a * f.stride;
        const P share(W[j] * f.D_inv[a]);
        for (int b = 0; b < count; ++b) sum[b] = madd(share, load<P>(W + (from + b) * P::width), sum[b]);
      }
      for (int b = count - 1; b >= 0; --b) {
        store(sum[b], f.H + j * f.stride + (from + b) * P::width);
        out.put(sum[b], (from + b) * P::width, j);
      }
    }
  };
  int last = blocks;
  for (; last > kProductBlocks; --last) columns(std::integral_constant<int, 1>(), last - 1);
  in_chunks<kProductBlocks>(0, last, columns);
}

/// dq ← −M⁻¹·dq and dv ← −M⁻¹·dv with the M⁻¹ that invert_sparse() left in f.H. Column k of either is zero but for the rows
/// that k moves or that move it. f.L is used up.
template <class P, class T>
void apply_sparse(const ColumnView& view, const SparseFactor<T>& f, const MatrixOut<T>& dq, const MatrixOut<T>& dv) {
  const int blocks = (f.n + P::width - 1) / P::width;
  T *now = f.L, *next = f.L + 2 * f.stride;  // −dq and −dv of a column
  const auto read = [&](int k, T* to) __attribute__((always_inline)) {
    for (int r = 0; r < f.n; ++r) to[r] = -dq.data[k * dq.stride + r], to[f.stride + r] = -dv.data[k * dv.stride + r];
  };
  read(0, now);
  for (int k = 0; k < f.n; ++k) {
    if (k + 1 < f.n) read(k + 1, next);  // before column k is written, see MatrixOut
    in_chunks<kProductBlocks>(0, blocks, [&](auto count, int from) __attribute__((always_inline)) {
      P by_q[count], by_v[count];
      for (int b = 0; b < count; ++b) by_q[b] = by_v[b] = P(0);
      const auto add = [&](int r) __attribute__((always_inline)) {
        const P q(now[r]), v(now[f.stride + r]);
        for (int b = 0; b < count; ++b) {
          const P m = load<P>(f.H + r * f.stride + (from + b) * P::width);
          by_q[b] = madd(q, m, by_q[b]);
          by_v[b] = madd(v, m, by_v[b]);
        }
      };
      for (int r = view.first[k]; r < view.end[k]; ++r) add(r);
      for (int r = view.parent[view.first[k]]; r >= 0; r = view.parent[r]) add(r);
      for (int b = count - 1; b >= 0; --b) {
        dq.put(by_q[b], (from + b) * P::width, k);
        dv.put(by_v[b], (from + b) * P::width, k);
      }
    });
    std::swap(now, next);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
