#pragma once

#include <cstring>
#include <utility>

#include "kinematics/joint_kernel.h"

/// Many spatial quantities of one state, a register full at once. Two layouts:
///   records  the numbers of one item are contiguous, in groups of four; for work item by item, and sums along a tree
///   lanes    the same number of kColumnBlock items is contiguous, so that a register holds it for several items and the
///            operators of Motion, Inertia, … work on all of them
namespace kansetsu::kernel::inline KANSETSU_ISA {

template <class P, class Real>
KANSETSU_HD P load(const Real* at) {
  P out;
  std::memcpy(&out, at, sizeof(P));
  return out;
}
template <class P, class Real>
KANSETSU_HD void store(const P& value, Real* at) {
  std::memcpy(at, &value, sizeof(P));
}

/// Keeps a value that several products use in its register; gcc would load it again for each.
template <class P>
KANSETSU_HD void pin([[maybe_unused]] P& value) {
#if defined(__x86_64__)
  __asm__("" : "+v"(value.v));
#endif
}

/// One step of a transposition: lanes whose index has bit S change places between a and b.
template <int S, class P, std::size_t... J>
KANSETSU_HD void exchange(P& a, P& b, std::index_sequence<J...>) {
  constexpr int kWidth = P::width;
  const auto low = __builtin_shufflevector(a.v, b.v, (int(J) & S ? kWidth + int(J) - S : int(J))...);
  const auto high = __builtin_shufflevector(a.v, b.v, (int(J) & S ? kWidth + int(J) : int(J) + S)...);
  a = P(low);
  b = P(high);
}
template <int S, class P>
KANSETSU_HD void exchange(P& a, P& b) {
  exchange<S>(a, b, std::make_index_sequence<std::size_t(P::width)>());
}
/// Transposes each group of four lanes of four registers.
template <class P>
KANSETSU_HD void transpose_fours(P (&a)[4]) {
  exchange<1>(a[0], a[1]), exchange<1>(a[2], a[3]);
  exchange<2>(a[0], a[2]), exchange<2>(a[1], a[3]);
}

/// a[i][j] ↔ a[j][i]
template <class P>
KANSETSU_HD void transpose(P (&a)[P::width]) {
  const auto step = [&]<int S>(std::integral_constant<int, S>) __attribute__((always_inline)) {
    for (int i = 0; i < P::width; ++i) {
      if (!(i & S)) exchange<S>(a[i], a[i + S]);
    }
  };
  if constexpr (P::width >= 2) step(std::integral_constant<int, 1>());
  if constexpr (P::width >= 4) step(std::integral_constant<int, 2>());
  if constexpr (P::width >= 8) step(std::integral_constant<int, 4>());
}

/// Four numbers of P::width items, from records that `at(j)` points into.
template <class P, class At>
KANSETSU_HD void load_fours(At&& at, P (&out)[4]) {
  using Real = scalar_t<P>;
  if constexpr (P::width == 8) {
    using Four = Pack<Real, 4>;
    for (int j = 0; j < 4; ++j) {
      const Four a = load<Four>(at(j)), b = load<Four>(at(j + 4));
      out[j] = P(typename P::Vector(__builtin_shufflevector(a.v, b.v, 0, 1, 2, 3, 4, 5, 6, 7)));
    }
    transpose_fours(out);
  } else if constexpr (P::width == 4) {
    for (int j = 0; j < 4; ++j) out[j] = load<P>(at(j));
    transpose_fours(out);
  } else {
    for (int c = 0; c < 4; c += 2) {
      out[c] = load<P>(at(0) + c), out[c + 1] = load<P>(at(1) + c);
      exchange<1>(out[c], out[c + 1]);
    }
  }
}
template <class P, class At>
KANSETSU_HD void store_fours(At&& at, P a, P b, P c, P d) {
  using Real = scalar_t<P>;
  P row[4] = {a, b, c, d};
  if constexpr (P::width == 8) {
    using Four = Pack<Real, 4>;
    transpose_fours(row);
    for (int j = 0; j < 4; ++j) {
      store(Four(typename Four::Vector(__builtin_shufflevector(row[j].v, row[j].v, 0, 1, 2, 3))), at(j));
      store(Four(typename Four::Vector(__builtin_shufflevector(row[j].v, row[j].v, 4, 5, 6, 7))), at(j + 4));
    }
  } else if constexpr (P::width == 4) {
    transpose_fours(row);
    for (int j = 0; j < 4; ++j) store(row[j], at(j));
  } else {
    for (int n = 0; n < 4; n += 2) {
      exchange<1>(row[n], row[n + 1]);
      store(row[n], at(0) + n), store(row[n + 1], at(1) + n);
    }
  }
}

/// N numbers of P::width items that follow one another in records of N, or that `index` picks.
template <int N, class P, class Real>
KANSETSU_HD void load_records(const Real* records, P (&out)[N]) {
  for (int c = 0; c < N; c += 4) {
    P four[4];
    load_fours([&](int j) { return records + j * N + c; }, four);
    for (int n = 0; n < 4; ++n) out[c + n] = four[n];
  }
}
template <int N, class P, class Real>
KANSETSU_HD void load_records(const Real* records, const int* index, P (&out)[N]) {
  for (int c = 0; c < N; c += 4) {
    P four[4];
    load_fours([&](int j) { return records + index[j] * N + c; }, four);
    for (int n = 0; n < 4; ++n) out[c + n] = four[n];
  }
}
template <int N, class P, class Real>
KANSETSU_HD void store_records(const P (&lanes)[N], Real* records) {
  for (int c = 0; c < N; c += 4) {
    store_fours([&](int j) { return records + j * N + c; }, lanes[c], lanes[c + 1], lanes[c + 2], lanes[c + 3]);
  }
}

/// Adds to every record of N numbers those of its descendants: the sums over subtrees, tips to base.
template <int N, class Real, class Const>
KANSETSU_HD void add_to_ancestors(const TreeViewOf<Const>& tree, Real* records) {
  using P = std::conditional_t<(N * sizeof(Real)) % kRegisterBytes == 0, NativePack<Real>, Pack<Real, 4>>;
  constexpr int kParts = N / P::width;
  P sum[kParts];  // of the present body, complete
  for (int p = 0; p < kParts; ++p) sum[p] = load<P>(records + (tree.body_count - 1) * N + p * P::width);
  for (int i = tree.body_count - 1; i > 0; --i) {
    const int parent = tree.bodies[i].parent;
    Real* before = records + (i - 1) * N;
    if (parent == i - 1) {
      for (int p = 0; p < kParts; ++p) store(sum[p] = sum[p] + load<P>(before + p * P::width), before + p * P::width);
      continue;
    }
    if (parent >= 0) {
      Real* to = records + parent * N;
      for (int p = 0; p < kParts; ++p) store(sum[p] + load<P>(to + p * P::width), to + p * P::width);
    }
    for (int p = 0; p < kParts; ++p) sum[p] = load<P>(before + p * P::width);
  }
}

/// N numbers of all columns as lanes: number n of column k is at(k)[n · kColumnBlock].
template <class T, int N>
struct ColumnLanes {
  T* data;

  KANSETSU_HD static constexpr int size(int columns) { return N * columns; }
  KANSETSU_HD T* at(int k) const {
    const unsigned block = unsigned(k) / kColumnBlock, lane = unsigned(k) % kColumnBlock;
    return data + block * (N * kColumnBlock) + lane;
  }
};
template <class P, class T>
KANSETSU_HD P load_lane(const T* at, int n) {
  return load<P>(at + n * kColumnBlock);
}
template <class P, class T>
KANSETSU_HD Vec3<P> load_vec3(const T* at, int n) {
  return {load_lane<P>(at, n), load_lane<P>(at, n + 1), load_lane<P>(at, n + 2)};
}
template <class P, class T>
KANSETSU_HD void store_lanes(const Vec3<P>& a, T* at, int n) {
  store(a.x, at + n * kColumnBlock), store(a.y, at + (n + 1) * kColumnBlock), store(a.z, at + (n + 2) * kColumnBlock);
}
template <class P, class T>
KANSETSU_HD void store_lanes(const Motion<P>& a, T* at, int n) {
  store_lanes(a.w, at, n), store_lanes(a.v, at, n + 3);
}
template <class P, class T>
KANSETSU_HD void store_lanes(const Force<P>& a, T* at, int n) {
  store_lanes(a.t, at, n), store_lanes(a.f, at, n + 3);
}

/// `Count` numbers of a block of columns in registers, for products with the same numbers of one column.
template <class P, int Count>
struct LaneRow {
  P n[Count];

  template <class T>
  KANSETSU_HD LaneRow(const T* block, int number) {
    for (int c = 0; c < Count; ++c) n[c] = load_lane<P>(block, number + c);
  }
  template <class T>
  KANSETSU_HD P dot(const T* column, int number) const {
    P sum = n[0] * P(column[number * kColumnBlock]);
    for (int c = 1; c < Count; ++c) sum = madd(n[c], P(column[(number + c) * kColumnBlock]), sum);
    return sum;
  }
  template <class T>
  KANSETSU_HD P add_dot(P sum, const T* column, int number) const {
    for (int c = 0; c < Count; ++c) sum = madd(n[c], P(column[(number + c) * kColumnBlock]), sum);
    return sum;
  }
};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
