#pragma once

#include "dynamics/dense/mass_matrix_lanes.h"

/// The inverse of a mass matrix from M itself. M = Lᵀ·D·L keeps the zeros of M ([RBDA] 6.5), and with columns numbered depth
/// first what column i is eliminated by is one range, its subtree. All sums run over rows of registers.
///
/// Symbols   H = D·L   N = M⁻¹   W = L⁻¹: L·N = D⁻¹·Wᵀ, whose rows are zero to the left of the diagonal
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Scratch of the inverse; matrices row by row, `stride` numbers each.
template <class T>
struct SparseFactor {
  int n, stride;
  T* H;  ///< in: M. Row i: columns 0 … i
  T* L;  ///< −L, likewise
  T* N;  ///< M⁻¹, in the place of H
  T* W;  ///< per row i the columns of its block of Wᵀ
  T *D_inv, *scale;

  template <class Const>
  KANSETSU_HD SparseFactor(const TreeViewOf<Const>& tree, Carver<T>& carver)
      : n(tree.nu), stride(tree.columns.columns) {
    H = carver.template take<T>(stride * stride);
    L = carver.template take<T>(stride * stride);
    N = H;
    W = carver.template take<T>(kColumnBlock * stride);
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

/// Blocks of a row: value + Σ −L·row over the rows that next() names, in two sums that do not wait for each other. A row
/// computed just before should come last.
/// @param next  gives the place of −L and the row's index; called `count` times
template <int kBlocks, class P, class T, class Next>
KANSETSU_HD void add_rows(const T* rows, int stride, int count, Next&& next, P (&value)[kBlocks]) {
  P other[kBlocks];
  for (int b = 0; b < kBlocks; ++b) other[b] = P(0);
  const auto add = [&](P(&to)[kBlocks]) __attribute__((always_inline)) {
    const auto [L, k] = next();
    const P minus(*L);
    const T* row = rows + k * stride;
    for (int b = 0; b < kBlocks; ++b) to[b] = madd(minus, load<P>(row + b * P::width), to[b]);
  };
  if (count % 2) add(other);
  for (int n = count / 2; n > 0; --n) add(value), add(other);
  for (int b = 0; b < kBlocks; ++b) value[b] += other[b];
}

/// H_i = M_i − Σ L_ki·H_k over the subtree of i, tips to base, and likewise W_i = e_i − Σ L_ki·W_k within i's block.
/// @return whether every pivot is safe
template <class P, class T>
bool factorise_sparse(const ColumnView& view, const SparseFactor<T>& f) {
  bool safe = true;
  for (int i = f.n - 1; i >= 0; --i) {
    const int end = view.end[i];
    T *H = f.H + i * f.stride, *L = f.L + i * f.stride;
    in_chunks<4>(0, i / P::width + 1, [&](auto count, int block) __attribute__((always_inline)) {
      P value[count];
      T* to = H + block * P::width;
      for (int b = 0; b < count; ++b) value[b] = load<P>(to + b * P::width);
      int k = end;
      const auto next = [&]() __attribute__((always_inline)) {
        --k;
        return std::pair<const T*, int>(f.L + k * f.stride + i, k);
      };
      add_rows(f.H + block * P::width, f.stride, end - 1 - i, next, value);
      for (int b = 0; b < count; ++b) store(value[b], to + b * P::width);
    });
    const T D = H[i];
    safe = safe && D > T(kSafePivot) * f.scale[i];
    f.D_inv[i] = T(1) / D;
    const P inverse(-f.D_inv[i]);
    for (int c = 0; c <= i; c += P::width) store(inverse * load<P>(H + c), L + c);
    const int block = i / P::width * P::width, block_end = block + P::width < end ? block + P::width : end;
    P W = select(load<P>(view.row_lanes + block) == P(view.row_lanes[i]), P(1), P(0));
    for (int k = block_end - 1; k > i; --k) W = madd(P(f.L[k * f.stride + i]), load<P>(f.W + k * P::width), W);
    store(W, f.W + i * P::width);
  }
  return safe;
}

/// Blocks of row k of N: value − Σ L_ki·N_i over the columns i that move k.
template <int kBlocks, class P, class T>
KANSETSU_HD void substitute_row(const ColumnView& view, const SparseFactor<T>& f, int k, int at, P (&value)[kBlocks]) {
  const int* path = view.path + view.path_begin[k];
  const T* L = f.L + k * f.stride;
  const auto next = [&]() __attribute__((always_inline)) {
    const int i = *path++;
    return std::pair<const T*, int>(L + i, i);
  };
  add_rows(f.N + at, f.stride, view.path_begin[k + 1] - view.path_begin[k], next, value);
  for (int b = 0; b < kBlocks; ++b) store(value[b], f.N + k * f.stride + at + b * P::width);
}

/// N, base to tips, a block of rows at a time: what is left of the diagonal block, its mirror image, the diagonal block.
template <class P, class T>
void invert_sparse(const ColumnView& view, const SparseFactor<T>& f, const MatrixOut<T>& out) {
  for (int r = 0; r < f.n; r += P::width) {
    const int end = r + P::width < f.n ? r + P::width : f.n;
    for (int k = r; k < end; ++k) {
      in_chunks<4>(0, r / P::width, [&](auto count, int block) __attribute__((always_inline)) {
        P value[count];
        for (int b = 0; b < count; ++b) value[b] = P(0);
        substitute_row(view, f, k, block * P::width, value);
      });
    }
    for (int c = 0; c < r; c += P::width) {
      P block[P::width];
      for (int j = 0; j < P::width; ++j) block[j] = load<P>(f.N + (r + j) * f.stride + c);
      transpose(block);
      for (int j = 0; j < P::width; ++j) store(block[j], f.N + (c + j) * f.stride + r);
    }
    for (int k = r; k < end; ++k) {
      P value[1] = {P(f.D_inv[k]) * load<P>(f.W + k * P::width)};
      substitute_row(view, f, k, r, value);
    }
  }
  for (int r = (f.n - 1) / P::width * P::width; r >= 0; r -= P::width) {
    for (int k = 0; k < f.n; ++k) out.put(load<P>(f.N + k * f.stride + r), r, k);
  }
}

inline constexpr int kProductBlocks = 5;

/// What a free base does to forward dynamics by itself.
template <class T>
struct FreeBase {
  Vec3<T> g, w;  ///< gravity and angular velocity in its axes
  bool falls;    ///< gravity is the only force that keeps its direction in the world

  KANSETSU_HD void put_by_q(int k, const MatrixOut<T>& dq) const {
    put(k < 3 ? cross(g, unit(k)) : Vec3<T>{T(0), T(0), T(0)}, k, dq);
  }
  KANSETSU_HD void put_by_v(int k, const MatrixOut<T>& dv) const { put(cross(unit(k - 3), w), k, dv); }

 private:
  KANSETSU_HD static Vec3<T> unit(int i) { return {T(i == 0), T(i == 1), T(i == 2)}; }
  KANSETSU_HD static void put(const Vec3<T>& linear, int k, const MatrixOut<T>& out) {
    T* column = out.data + k * out.stride;
    for (int r = 0; r < out.n; ++r) column[r] = T(0);
    column[3] = linear.x, column[4] = linear.y, column[5] = linear.z;
  }
};

/// A column of −N·X for one or two matrices X, whose column k is zero but for the rows that k moves or that move it.
/// @param minus  −X of that column, f.stride apart
template <int kMatrices, class P, class T>
KANSETSU_HD void product_column(const ColumnView& view, const SparseFactor<T>& f, const T* minus, int k,
                                const MatrixOut<T>* out) {
  in_chunks<kProductBlocks>(0, (f.n + P::width - 1) / P::width,
                            [&](auto count, int from) __attribute__((always_inline)) {
                              P sum[kMatrices][count];
                              for (int m = 0; m < kMatrices; ++m) {
                                for (int b = 0; b < count; ++b) sum[m][b] = P(0);
                              }
                              const auto add = [&](int r) __attribute__((always_inline)) {
                                const T* row = f.N + r * f.stride + from * P::width;
                                for (int b = 0; b < count; ++b) {
                                  P n = load<P>(row + b * P::width);
                                  pin(n);
                                  for (int m = 0; m < kMatrices; ++m)
                                    sum[m][b] = madd(P(minus[m * f.stride + r]), n, sum[m][b]);
                                }
                              };
                              for (int r = view.path_begin[k]; r < view.path_begin[k + 1]; ++r) add(view.path[r]);
                              for (int r = k; r < view.end[k]; ++r) add(r);
                              for (int m = 0; m < kMatrices; ++m) {
                                for (int b = count - 1; b >= 0; --b) out[m].put(sum[m][b], (from + b) * P::width, k);
                              }
                            });
}

/// dq ← −N·dq and dv ← −N·dv. Columns of a free base that forward dynamics does not ask for are set instead:
///   by its place and, without external forces, its attitude: it falls as it did, ∂v̇ = g×e in its own axes;
///   by its linear velocity: nothing changes but the axes it is measured in, ∂v̇ = −ω×e.
/// f.L is used up.
template <class P, class T>
void apply_sparse(const ColumnView& view, const SparseFactor<T>& f, const FreeBase<T>* base, const MatrixOut<T>& dq,
                  const MatrixOut<T>& dv) {
  const MatrixOut<T> both[2] = {dq, dv};
  T *now = f.L, *next = f.L + 2 * f.stride;  // −dq and −dv of a column
  const auto read = [&](const T* column, T* to) __attribute__((always_inline)) {
    int r = 0;
    for (; r + P::width <= f.n; r += P::width) store(-load<P>(column + r), to + r);
    for (; r < f.n; ++r) to[r] = -column[r];
  };
  const auto read_both = [&](int k, T* to) __attribute__((always_inline)) {
    read(dq.data + k * dq.stride, to);
    read(dv.data + k * dv.stride, to + f.stride);
  };
  read_both(0, now);
  for (int k = 0; k < f.n; ++k) {
    if (k + 1 < f.n) read_both(k + 1, next);  // before column k is written, see MatrixOut
    const bool known_q = base && base->falls && k < 6, known_v = base && k >= 3 && k < 6;
    if (!known_q && !known_v) product_column<2, P>(view, f, now, k, both);
    if (known_q && !known_v) product_column<1, P>(view, f, now + f.stride, k, both + 1);
    if (!known_q && known_v) product_column<1, P>(view, f, now, k, both);
    if (known_q) base->put_by_q(k, dq);
    if (known_v) base->put_by_v(k, dv);
    std::swap(now, next);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
