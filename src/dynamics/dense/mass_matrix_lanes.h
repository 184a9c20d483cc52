#pragma once

#include "dynamics/dense/relations.h"
#include "dynamics/dense/world_lanes.h"

/// The composite-rigid-body algorithm for one state, a register full of bodies or columns at a time. In the one frame O
/// composite inertias are sums, and M is SᵀF with F = C·S, each entry where its row and column are on one path.
namespace kansetsu::kernel::inline KANSETSU_ISA {

inline constexpr int kInertiaNumbers = 10, kInertiaRecord = 16;

template <class P>
KANSETSU_HD Inertia<P> to_inertia(const P* n) {
  return {n[0], {n[1], n[2], n[3]}, {n[4], n[5], n[6], n[7], n[8], n[9]}};
}

/// Inertias of P::width bodies from body i on, in O.
template <class P, class T, class Const>
KANSETSU_HD Inertia<P> world_inertias(const TreeViewOf<Const>& tree, const T* X, int i) {
  P n[kInertiaNumbers];
  for (int c = 0; c < kInertiaNumbers; ++c) n[c] = load<P>(tree.columns.inertia + c * tree.columns.bodies + i);
  return load_poses<P>(X + i * kPoseRecord) * to_inertia(n);
}

/// Composite inertias of all bodies, as records.
template <class P, class T, class Const>
KANSETSU_HD void composite_records(const TreeViewOf<Const>& tree, const T* X, T* C) {
  const P o(0);
  for (int i = 0; i < tree.body_count; i += P::width) {
    const Inertia<P> M = world_inertias<P>(tree, X, i);
    const P n[kInertiaRecord] = {M.m,    M.h.x,  M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.xz, M.I.yy,  //
                                 M.I.yz, M.I.zz, o,     o,     o,      o,      o,      o};
    store_rows(n, C + i * kInertiaRecord);
  }
  add_to_ancestors<kInertiaRecord, P>(tree, C);
}

/// Columns as records, to be spread over a register, and as lanes, to be taken a register full at a time.
template <class T>
struct Columns {
  T* records;
  T* lanes;
};

/// S and F = C·S of all columns.
template <class P, class T, class Const>
KANSETSU_HD void composite_forces(const TreeViewOf<Const>& tree, const T* C, const Columns<T>& S, const Columns<T>& F) {
  const int columns = tree.columns.columns;
  const P o(0);
  for (int k = 0; k < columns; k += P::width) {
    P n[kInertiaRecord];
    load_rows(C, tree.columns.body + k, n);
    const Motion<P> s = load_motions<P>(S.records + k * kMotionRecord);
    const Force<P> f = to_inertia(n) * s;
    store(s, S.lanes + k, columns);
    store(f, F.lanes + k, columns);
    const P record[kMotionRecord] = {f.t.x, f.t.y, f.t.z, o, f.f.x, f.f.y, f.f.z, o};
    store_rows(record, F.records + k * kMotionRecord);
  }
}

/// Six numbers of P::width columns in registers.
template <class P>
struct SixLanes {
  P n[6];

  template <class T>
  KANSETSU_HD SixLanes(const T* lanes, int stride) {
    for (int c = 0; c < 6; ++c) n[c] = load<P>(lanes + c * stride);
  }
  /// Powers of these motions along one force, or the other way round.
  template <class T>
  KANSETSU_HD P dot(const T* record) const {
    const P angular = madd(n[2], P(record[2]), madd(n[1], P(record[1]), n[0] * P(record[0])));
    return madd(n[5], P(record[6]), madd(n[4], P(record[5]), madd(n[3], P(record[4]), angular)));
  }
};

/// Rows r … of SᵀF, both triangles: S·F_k above the diagonal, F·S_k below it, equal to the last bit.
template <class P, class T>
KANSETSU_HD void mass_matrix_rows(const ColumnView& view, const Columns<T>& S, const Columns<T>& F, int r, int n,
                                  int stride, T* out) {
  const SixLanes<P> s(S.lanes + r, view.columns), f(F.lanes + r, view.columns);
  const BlockRelations<P> rows(view, r);
  const P zero(0);
  const int middle = rows.begin_above(n), right = rows.end_above(n);
  for (int k = 0; k < r; ++k) {
    const P value = rows.any_below(k) ? select(rows.below(k), f.dot(S.records + k * kMotionRecord), zero) : zero;
    store_rows(value, r, n, out + k * stride);
  }
  for (int k = r; k < middle; ++k) {
    const P upper = select(rows.above(k), s.dot(F.records + k * kMotionRecord), zero);
    const P lower = select(rows.below(k), f.dot(S.records + k * kMotionRecord), zero);
    store_rows(select(rows.at_most(k), upper, lower), r, n, out + k * stride);
  }
  for (int k = middle; k < right; ++k) {
    store_rows(select(rows.above(k), s.dot(F.records + k * kMotionRecord), zero), r, n, out + k * stride);
  }
  for (int k = right; k < n; ++k) store_rows(zero, r, n, out + k * stride);
}

/// @param out  column after column, `stride` ≥ nu apart
template <class T, class Const>
void mass_matrix_lanes(const TreeViewOf<Const>& tree, const Columns<T>& S, const Columns<T>& F, int stride, T* out) {
  using P = NativePack<T>;
  for (int r = 0; r < tree.nu; r += P::width) {
    mass_matrix_rows<P>(tree.columns, S, F, block_start<P>(r, tree.nu), tree.nu, stride, out);
  }
  for (int k = 0; k < tree.nu; ++k) out[k * stride + k] += T(tree.rotor_inertia[k]);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
