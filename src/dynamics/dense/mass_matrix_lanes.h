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
  for (int i = 0; i < tree.body_count; i += P::width) {
    const Inertia<P> M = world_inertias<P>(tree, X, i);
    const P o(0);
    const P n[kInertiaRecord] = {M.m,    M.h.x,  M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.xz, M.I.yy,  //
                                 M.I.yz, M.I.zz, o,     o,     o,      o,      o,      o};
    store_records(n, C + i * kInertiaRecord);
  }
  add_to_ancestors<kInertiaRecord>(tree, C);
}

/// Lanes of the mass matrix: S, and F = C·S.
inline constexpr int kLaneS = 0, kLaneF = 6, kMassLanes = 12;

template <class P, class T, class Const>
KANSETSU_HD void mass_lanes(const TreeViewOf<Const>& tree, const T* C, const T* S,
                            const ColumnLanes<T, kMassLanes>& out) {
  for (int k = 0; k < tree.columns.columns; k += P::width) {
    P n[kInertiaRecord];
    load_records(C, tree.columns.body + k, n);
    const Motion<P> s = load_motions<P>(S + k * kMotionRecord);
    store_lanes(s, out.at(k), kLaneS);
    store_lanes(to_inertia(n) * s, out.at(k), kLaneF);
  }
}

/// Rows r … of SᵀF, both triangles: S·F_k above the diagonal, F·S_k below it, equal to the last bit.
template <class P, class T>
KANSETSU_HD void mass_matrix_rows(const ColumnView& view, const ColumnLanes<T, kMassLanes>& lanes, int r,
                                  const MatrixOut<T>& out) {
  const LaneRow<P, 6> S(lanes.at(r), kLaneS), F(lanes.at(r), kLaneF);
  const BlockRelations<P> rows(view, r, out.n);
  const P zero(0);
  for (int k = 0; k < r; ++k) {
    out.put(rows.any_below(k) ? select(rows.below(k), F.dot(lanes.at(k), kLaneS), zero) : zero, r, k);
  }
  for (int k = r; k < rows.left; ++k) {
    const P upper = select(rows.above(k), S.dot(lanes.at(k), kLaneF), zero);
    const P lower = select(rows.below(k), F.dot(lanes.at(k), kLaneS), zero);
    out.put(select(rows.at_most(k), upper, lower), r, k);
  }
  for (int k = rows.left; k < rows.right; ++k) {
    out.put(select(rows.above(k), S.dot(lanes.at(k), kLaneF), zero), r, k);
  }
  for (int k = rows.right; k < out.n; ++k) out.put(zero, r, k);
}

/// Everything between the posture and the mass matrix.
template <class T>
struct MassLanes {
  T *X, *C, *S;
  ColumnLanes<T, kMassLanes> lanes;

  template <class Const>
  KANSETSU_HD MassLanes(const TreeViewOf<Const>& tree, Carver<T>& carver) {
    const int bodies = tree.columns.bodies, columns = tree.columns.columns;
    X = carver.template take<T>(kPoseRecord * bodies);
    C = carver.template take<T>(kInertiaRecord * bodies);
    S = carver.template take<T>(kMotionRecord * columns);
    lanes.data = carver.template take<T>(kMassLanes * columns);
  }
  template <class Const>
  KANSETSU_HD void load(const TreeViewOf<Const>& tree, const Posture<T>& posture) const {
    using P = NativePack<T>;
    world_records(tree, posture, X, S);
    composite_records<P>(tree, X, C);
    mass_lanes<P>(tree, C, S, lanes);
  }
};

template <class T, class Const>
void mass_matrix_lanes(const TreeViewOf<Const>& tree, const ColumnLanes<T, kMassLanes>& lanes,
                       const MatrixOut<T>& out) {
  using P = NativePack<T>;
  for (int r = (out.n - 1) / P::width * P::width; r >= 0; r -= P::width) {
    mass_matrix_rows<P>(tree.columns, lanes, r, out);
  }
  for (int k = 0; k < out.n; ++k) out.data[k * out.stride + k] += T(tree.rotor_inertia[k]);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
