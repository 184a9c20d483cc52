#pragma once

#include "dynamics/coriolis_inertia.h"
#include "dynamics/dense/mass_matrix_lanes.h"
#include "dynamics/derivatives_kernel.h"

/// Derivatives of inverse dynamics of one state, a register full of bodies or columns at a time: the formulas of
/// derivatives_kernel.h, where every entry is a product of numbers of its row and its column.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A motion in two registers.
template <class T>
struct QuadMotion {
  Quad<T> w, v;

  KANSETSU_HD static QuadMotion load_from(const T* at) { return {load<Quad<T>>(at), load<Quad<T>>(at + 4)}; }
  KANSETSU_HD void store_to(T* at) const { store(w, at), store(v, at + 4); }
  /// this + s·a
  KANSETSU_HD QuadMotion plus(const Quad<T>& s, const QuadMotion& a) const {
    return {madd(s, a.w, w), madd(s, a.v, v)};
  }
  /// this + V×b
  KANSETSU_HD QuadMotion plus_cross(const QuadMotion& V, const QuadMotion& b) const {
    return {w + cross(V.w, b.w), v + (cross(V.w, b.v) + cross(V.v, b.w))};
  }
};

/// Records of the motion of bodies, and of the carrier of each column: V, A before it.
template <class T>
struct MotionRecords {
  T *V, *A;                ///< per body
  T *V_before, *A_before;  ///< per column
};

/// V = V_λ + Σ S·u and A = A_λ + Σ S·a + V×(S·u), in O. Columns of one body move together: all hang on the parent.
template <class T, class Const>
KANSETSU_HD void motion_records(const TreeViewOf<Const>& tree, const T* S, const T* u, const T* a,
                                const MotionRecords<T>& out) {
  const Quad<T> zero(T(0));
  const QuadMotion<T> V_ground{zero, zero}, A_ground{zero, to_quad(lift<T>(-tree.gravity))};
  QuadMotion<T> V = V_ground, A = A_ground;  // of the body before
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    if (b.parent != i - 1) {
      V = b.parent < 0 ? V_ground : QuadMotion<T>::load_from(out.V + b.parent * kMotionRecord);
      A = b.parent < 0 ? A_ground : QuadMotion<T>::load_from(out.A + b.parent * kMotionRecord);
    }
    const QuadMotion<T> V_P = V, A_P = A;
    QuadMotion<T> rate{zero, zero};
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const QuadMotion<T> s = QuadMotion<T>::load_from(S + k * kMotionRecord);
      V_P.store_to(out.V_before + k * kMotionRecord);
      A_P.store_to(out.A_before + k * kMotionRecord);
      rate = rate.plus(Quad<T>(u[k]), s);
      A = A.plus(Quad<T>(a[k]), s);
    }
    V = {V.w + rate.w, V.v + rate.v};
    A = A.plus_cross(V, rate);
    V.store_to(out.V + i * kMotionRecord);
    A.store_to(out.A + i * kMotionRecord);
  }
}

/// Record of a subtree: M, 2B and F.
inline constexpr int kTwiceB = 10, kWrench = 22, kSubtreeRecord = 32;
/// Record of the external wrenches on a subtree: E.
inline constexpr int kExternalRecord = 12;

template <class P>
KANSETSU_HD CoriolisInertia<P> to_coriolis(const P* n) {
  return {{{n[0], n[1], n[2]}, {n[3], n[4], n[5]}, {n[6], n[7], n[8]}}, {n[9], n[10], n[11]}};
}

template <class P, class T, class Const>
KANSETSU_HD void subtree_records(const TreeViewOf<Const>& tree, const T* X, const MotionRecords<T>& motion,
                                 const ExternalWrench<T>* fext, T* subtree, T* external) {
  for (int i = 0; i < tree.body_count; i += P::width) {
    const Inertia<P> M = world_inertias<P>(tree, X, i);
    const Motion<P> V = load_motions<P>(motion.V + i * kMotionRecord),
                    A = load_motions<P>(motion.A + i * kMotionRecord);
    const CoriolisInertia<P> B = twice_coriolis_inertia(M, V);
    const Force<P> F = M * A + cross(V, M * V);
    const P o(0);
    const P n[kSubtreeRecord] = {M.m,       M.h.x,     M.h.y,     M.h.z,     M.I.xx,    M.I.xy,    M.I.xz,    M.I.yy,
                                 M.I.yz,    M.I.zz,    B.B11.x.x, B.B11.x.y, B.B11.x.z, B.B11.y.x, B.B11.y.y, B.B11.y.z,
                                 B.B11.z.x, B.B11.z.y, B.B11.z.z, B.p.x,     B.p.y,     B.p.z,     F.t.x,     F.t.y,
                                 F.t.z,     F.f.x,     F.f.y,     F.f.z,     o,         o,         o,         o};
    store_records(n, subtree + i * kSubtreeRecord);
  }
  if (fext) {
    for (int i = 0; i < tree.body_count; ++i) {
      T* F = subtree + i * kSubtreeRecord + kWrench;
      const Force<T>& f = fext[i].F;
      F[0] -= f.t.x, F[1] -= f.t.y, F[2] -= f.t.z, F[3] -= f.f.x, F[4] -= f.f.y, F[5] -= f.f.z;
      std::memcpy(external + i * kExternalRecord, &fext[i].E, sizeof(CoriolisInertia<T>));
    }
    add_to_ancestors<kExternalRecord>(tree, external);
  }
  add_to_ancestors<kSubtreeRecord>(tree, subtree);
}

/// Lanes of the derivatives, for each column k with M, B, F, E of its subtree:
///   S   F = M·S   by_q = 2B·Ψ̇ + M·Ψ̈ + E·S + S×*F   by_v = 2B·S + M·Σ   Ψ̈   Σ = Ψ̇ + Ṡ   Ψ̇ (angular)   2Bᵀ·S   Eᵀ·S
inline constexpr int kLaneByQ = 12, kLaneByV = 18, kLanePsiDdot = 24, kLaneSum = 30, kLanePsiDot = 36, kLaneRowB = 39,
                     kLaneRowE = 42, kDerivativeLanes = 45;

template <class P, class T, class Const>
KANSETSU_HD void derivative_lanes(const TreeViewOf<Const>& tree, const T* S_all, const MotionRecords<T>& motion,
                                  const T* subtree, const T* external, const ColumnLanes<T, kDerivativeLanes>& out) {
  const ColumnView& view = tree.columns;
  for (int k = 0; k < view.columns; k += P::width) {
    T* to = out.at(k);
    const Motion<P> S = load_motions<P>(S_all + k * kMotionRecord);
    const Motion<P> V = load_motions<P>(motion.V_before + k * kMotionRecord);
    const Motion<P> A = load_motions<P>(motion.A_before + k * kMotionRecord);
    const Motion<P> Psi_dot = cross(V, S), Psi_ddot = cross(A, S) + cross(V, Psi_dot);
    Motion<P> S_dot = Psi_dot;  // S×S = 0: the same where a column is alone on its body
    if (view.block_joint[unsigned(k) / kColumnBlock]) S_dot = cross(load_motions<P>(motion.V, view.body + k), S);
    const Motion<P> sum = Psi_dot + S_dot;
    P n[kSubtreeRecord];
    load_records(subtree, view.body + k, n);
    const Inertia<P> M = to_inertia(n);
    const CoriolisInertia<P> B = to_coriolis(n + kTwiceB);
    const Force<P> F{{n[kWrench], n[kWrench + 1], n[kWrench + 2]}, {n[kWrench + 3], n[kWrench + 4], n[kWrench + 5]}};
    Force<P> by_q = B * Psi_dot + M * Psi_ddot + cross(S, F);
    if (external) {
      P e[kExternalRecord];
      load_records(external, view.body + k, e);
      const CoriolisInertia<P> E = to_coriolis(e);
      by_q += E * S;
      store_lanes(transpose_times(E, S), to, kLaneRowE);
    }
    store_lanes(S, to, kLaneS);
    store_lanes(M * S, to, kLaneF);
    store_lanes(by_q, to, kLaneByQ);
    store_lanes(B * S + M * sum, to, kLaneByV);
    store_lanes(Psi_ddot, to, kLanePsiDdot);
    store_lanes(sum, to, kLaneSum);
    store_lanes(Psi_dot.w, to, kLanePsiDot);
    store_lanes(transpose_times(B, S), to, kLaneRowB);
  }
}

/// Entries of the derivatives by q and v and of the mass matrix between a block of rows and one column.
template <class P>
struct DerivativeEntries {
  P q, v, a;
};
template <class P, bool kMass, bool kExternal>
struct DerivativeRows {
  LaneRow<P, 6> S, F;
  LaneRow<P, 3> row_B, row_E;

  template <class T>
  KANSETSU_HD DerivativeRows(const T* block)
      : S(block, kLaneS), F(block, kLaneF), row_B(block, kLaneRowB), row_E(block, kExternal ? kLaneRowE : kLaneRowB) {}

  /// The rows are descendants of the column, or belong to its body.
  template <class T>
  KANSETSU_HD DerivativeEntries<P> below(const T* column) const {
    P q = F.add_dot(row_B.dot(column, kLanePsiDot), column, kLanePsiDdot);
    if constexpr (kExternal) q = row_E.add_dot(q, column, kLaneS);
    return {q, F.add_dot(row_B.dot(column, kLaneS), column, kLaneSum), kMass ? F.dot(column, kLaneS) : q};
  }
  /// The column is a descendant of the rows.
  template <class T>
  KANSETSU_HD DerivativeEntries<P> above(const T* column) const {
    const P q = S.dot(column, kLaneByQ);
    return {q, S.dot(column, kLaneByV), kMass ? S.dot(column, kLaneF) : q};
  }
};

template <class T>
struct DerivativesOut {
  MatrixOut<T> dq, dv, da;

  template <bool kMass, class P>
  KANSETSU_HD void put(const DerivativeEntries<P>& value, int r, int k) const {
    dq.put(value.q, r, k);
    dv.put(value.v, r, k);
    if constexpr (kMass) da.put(value.a, r, k);
  }
};

/// Rows r … of all derivatives; of the mass matrix if kMass.
template <class P, bool kMass, bool kExternal, class T>
KANSETSU_HD void derivative_rows(const ColumnView& view, const ColumnLanes<T, kDerivativeLanes>& lanes, int r, int n,
                                 const DerivativesOut<T>& out) {
  const DerivativeRows<P, kMass, kExternal> block(lanes.at(r));
  const BlockRelations<P> rows(view, r, n);
  const P zero(0);
  const auto masked = [&](const auto& mask, const DerivativeEntries<P>& a,
                          const DerivativeEntries<P>& b) __attribute__((always_inline)) {
    return DerivativeEntries<P>{select(mask, a.q, b.q), select(mask, a.v, b.v), select(mask, a.a, b.a)};
  };
  const DerivativeEntries<P> none{zero, zero, zero};
  for (int k = 0; k < r; ++k) {
    if (rows.any_below(k))
      out.template put<kMass>(masked(rows.below(k), block.below(lanes.at(k)), none), r, k);
    else
      out.template put<kMass>(none, r, k);
  }
  for (int k = r; k < rows.left; ++k) {
    const DerivativeEntries<P> above = masked(rows.above(k), block.above(lanes.at(k)), none);
    const DerivativeEntries<P> below = masked(rows.below(k), block.below(lanes.at(k)), none);
    DerivativeEntries<P> value = masked(rows.before_body(k), above, below);
    value.a = select(rows.at_most(k), above.a, below.a);  // the mass matrix is symmetric to the last bit
    out.template put<kMass>(value, r, k);
  }
  for (int k = rows.left; k < rows.right; ++k) {
    out.template put<kMass>(masked(rows.above(k), block.above(lanes.at(k)), none), r, k);
  }
  for (int k = rows.right; k < n; ++k) out.template put<kMass>(none, r, k);
}

template <bool kMass, bool kExternal, class T, class Const>
void derivative_matrices(const TreeViewOf<Const>& tree, const ColumnLanes<T, kDerivativeLanes>& lanes,
                         const DerivativesOut<T>& out) {
  using P = NativePack<T>;
  for (int r = (tree.nu - 1) / P::width * P::width; r >= 0; r -= P::width) {
    derivative_rows<P, kMass, kExternal>(tree.columns, lanes, r, tree.nu, out);
  }
  if constexpr (kMass) {
    for (int k = 0; k < tree.nu; ++k) out.da.data[k * out.da.stride + k] += T(tree.rotor_inertia[k]);
  }
}

/// All steps from the posture to the matrices.
template <class T>
struct DerivativeLanes {
  T *X, *S, *subtree, *external;
  MotionRecords<T> motion;
  ColumnLanes<T, kDerivativeLanes> lanes;

  template <class Const>
  KANSETSU_HD DerivativeLanes(const TreeViewOf<Const>& tree, Carver<T>& carver) {
    const int bodies = tree.columns.bodies, columns = tree.columns.columns;
    X = carver.template take<T>(kPoseRecord * bodies);
    subtree = carver.template take<T>(kSubtreeRecord * bodies);
    external = carver.template take<T>(kExternalRecord * bodies);
    motion.V = carver.template take<T>(kMotionRecord * bodies);
    motion.A = carver.template take<T>(kMotionRecord * bodies);
    motion.V_before = carver.template take<T>(kMotionRecord * columns);
    motion.A_before = carver.template take<T>(kMotionRecord * columns);
    S = carver.template take<T>(kMotionRecord * columns);
    lanes.data = carver.template take<T>(kDerivativeLanes * columns);
  }
};

/// @param u,a  in the columns of S: those of v up to signs if the tree is ordered   @param out  dv and da as dq; da may be null
template <class T, class Const>
KANSETSU_HD void rnea_derivatives_lanes(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u,
                                        const T* a, const ExternalWrench<T>* fext, DerivativeLanes<T>& w,
                                        const DerivativesOut<T>& out) {
  using P = NativePack<T>;
  world_records(tree, posture, w.X, w.S);
  motion_records(tree, w.S, u, a, w.motion);
  subtree_records<P>(tree, w.X, w.motion, fext, w.subtree, w.external);
  derivative_lanes<P>(tree, w.S, w.motion, w.subtree, fext ? w.external : nullptr, w.lanes);
  const bool mass = out.da.data != nullptr;
  if (fext)
    mass ? derivative_matrices<true, true>(tree, w.lanes, out) : derivative_matrices<false, true>(tree, w.lanes, out);
  else
    mass ? derivative_matrices<true, false>(tree, w.lanes, out) : derivative_matrices<false, false>(tree, w.lanes, out);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
