#pragma once

#include <cstring>
#include <utility>

#include "kinematics/joint_kernel.h"

/// Many spatial quantities of one state as arrays of numbers ("lanes"): number n of item i stands at [n·stride + i], so that
/// a register takes the same number of several items, and the operators of Motion, Inertia, … do a register full at once.
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

template <class P, class Real>
KANSETSU_HD Vec3<P> load_vec3(const Real* at, int stride) {
  return {load<P>(at), load<P>(at + stride), load<P>(at + 2 * stride)};
}
template <class P, class Real>
KANSETSU_HD Motion<P> load_motion(const Real* at, int stride) {
  return {load_vec3<P>(at, stride), load_vec3<P>(at + 3 * stride, stride)};
}
template <class P, class Real>
KANSETSU_HD Force<P> load_force(const Real* at, int stride) {
  return {load_vec3<P>(at, stride), load_vec3<P>(at + 3 * stride, stride)};
}
template <class P, class Real>
KANSETSU_HD void store(const Vec3<P>& a, Real* at, int stride) {
  store(a.x, at), store(a.y, at + stride), store(a.z, at + 2 * stride);
}
template <class P, class Real>
KANSETSU_HD void store(const Motion<P>& a, Real* at, int stride) {
  store(a.w, at, stride), store(a.v, at + 3 * stride, stride);
}
template <class P, class Real>
KANSETSU_HD void store(const Force<P>& a, Real* at, int stride) {
  store(a.t, at, stride), store(a.f, at + 3 * stride, stride);
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
KANSETSU_HD void exchange_all(P (&a)[P::width]) {
  for (int i = 0; i < P::width; ++i) {
    if (!(i & S)) exchange<S>(a[i], a[i + S], std::make_index_sequence<std::size_t(P::width)>());
  }
}
/// a[i][j] ↔ a[j][i]
template <class P>
KANSETSU_HD void transpose(P (&a)[P::width]) {
  if constexpr (P::width >= 2) exchange_all<1>(a);
  if constexpr (P::width >= 4) exchange_all<2>(a);
  if constexpr (P::width >= 8) exchange_all<4>(a);
}

/// Records: the N numbers of one item side by side, N a multiple of 8. What is done item by item is done in this form.
/// N numbers of P::width consecutive items, between records and lanes.
template <int N, class P, class Real>
KANSETSU_HD void store_rows(const P (&lanes)[N], Real* records) {
  for (int c = 0; c < N; c += P::width) {
    P block[P::width];
    for (int j = 0; j < P::width; ++j) block[j] = lanes[c + j];
    transpose(block);
    for (int j = 0; j < P::width; ++j) store(block[j], records + j * N + c);
  }
}
template <int N, class P, class Real>
KANSETSU_HD void load_rows(const Real* records, P (&lanes)[N]) {
  for (int c = 0; c < N; c += P::width) {
    P block[P::width];
    for (int j = 0; j < P::width; ++j) block[j] = load<P>(records + j * N + c);
    transpose(block);
    for (int j = 0; j < P::width; ++j) lanes[c + j] = block[j];
  }
}
/// The same of the items index[0], index[1], …
template <int N, class P, class Real>
KANSETSU_HD void load_rows(const Real* records, const int* index, P (&lanes)[N]) {
  for (int c = 0; c < N; c += P::width) {
    P block[P::width];
    for (int j = 0; j < P::width; ++j) block[j] = load<P>(records + index[j] * N + c);
    transpose(block);
    for (int j = 0; j < P::width; ++j) lanes[c + j] = block[j];
  }
}

/// Adds to every record those of its descendants: the sums over subtrees, tips to base.
template <int N, class P, class Real, class Const>
KANSETSU_HD void add_to_ancestors(const TreeViewOf<Const>& tree, Real* records) {
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

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
