#pragma once

#include "constraint/contact_thresholds.h"
#include "constraint/kernel_table.h"
#include "dynamics/dense/derivative_lanes.h"
#include "dynamics/dense/sparse_inverse.h"
#include "dynamics/reduced_matrix.h"

/// How the bodies of a figure move; and, for trees with gears, M = Lᵀ·D·L and bias torques by the mass matrix. All in O, a
/// register full of bodies or columns at a time; [RBDA] 5.3, 6.2, 6.5.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Record of a subtree: inertia, then the wrench that holds it at v̇ = 0.
inline constexpr int kBiasWrench = kInertiaNumbers;

/// V = V_λ + Σ S·u and A = A_λ + V×(S·u), in O, without gravity.
inline void drift_records(const TreeView& tree, const double* S, const double* u, double* V_all, double* A_all) {
  const Quad<double> zero(0.0);
  const QuadMotion<double> ground{zero, zero};
  QuadMotion<double> V = ground, A = ground;  // of the body before
  for (int i = 0; i < tree.body_count; ++i) {
    const Body& b = tree.bodies[i];
    if (b.parent != i - 1) {
      V = b.parent < 0 ? ground : QuadMotion<double>::load_from(V_all + b.parent * kMotionRecord);
      A = b.parent < 0 ? ground : QuadMotion<double>::load_from(A_all + b.parent * kMotionRecord);
    }
    QuadMotion<double> rate = ground;
    for (int k = b.u; k < b.u + b.nu; ++k) {
      rate = rate.plus(Quad<double>(u[k]), QuadMotion<double>::load_from(S + k * kMotionRecord));
    }
    V = {V.w + rate.w, V.v + rate.v};
    A = A.plus_cross(V, rate);
    V.store_to(V_all + i * kMotionRecord);
    A.store_to(A_all + i * kMotionRecord);
  }
}

/// Inertia and bias wrench of every subtree.
template <class P>
KANSETSU_HD void bias_records(const TreeView& tree, const MechanicsBlock& m) {
  const Vec3<P> up = lift<P>(-tree.gravity);
  for (int i = 0; i < tree.body_count; i += P::width) {
    const Inertia<P> M = world_inertias<P>(tree, m.X, i);
    const Motion<P> V = load_motions<P>(m.V + i * kMotionRecord);
    Motion<P> A = load_motions<P>(m.A + i * kMotionRecord);
    A.v += up;
    const Force<P> F = M * A + cross(V, M * V);
    const P n[kInertiaRecord] = {M.m,    M.h.x,  M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.xz, M.I.yy,
                                 M.I.yz, M.I.zz, F.t.x, F.t.y, F.t.z,  F.f.x,  F.f.y,  F.f.z};
    store_records(n, m.subtree + i * kInertiaRecord);
  }
  add_to_ancestors<kInertiaRecord>(tree, m.subtree);
}

/// Lanes of M, and the bias torque of every column.
template <class P>
KANSETSU_HD void bias_lanes(const TreeView& tree, const MechanicsBlock& m, double* torque) {
  const ColumnLanes<double, kMassLanes> out{m.lanes};
  for (int k = 0; k < tree.columns.columns; k += P::width) {
    P n[kInertiaRecord];
    load_records(m.subtree, tree.columns.body + k, n);
    const Motion<P> s = load_motions<P>(m.S + k * kMotionRecord);
    const P* f = n + kBiasWrench;
    store_lanes(s, out.at(k), kLaneS);
    store_lanes(to_inertia(n) * s, out.at(k), kLaneF);
    store(dot(s, Force<P>{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}), torque + k);
  }
}

/// Row i of −L from the row H_i of D·L. A pivot that is nothing beside `scale`, what it was before the elimination, belongs
/// to a column that nothing resists: it stands still.
template <class P>
KANSETSU_HD bool finish_row(const MechanicsBlock& m, int i, double scale) {
  const double* H = m.H + i * m.stride;
  const bool resists = H[i] > threshold::kNoResistance * scale;
  m.D_inv[i] = resists ? 1 / H[i] : 0;
  const P inverse(-m.D_inv[i]);
  for (int c = 0; c <= i; c += P::width) store(inverse * load<P>(H + c), m.L + i * m.stride + c);
  return resists;
}

/// Any pattern that is closed under elimination.
template <class P>
int factorise_pattern(int n, const MechanicsBlock& m) {
  int singular = 0;
  for (int i = 0; i < n; ++i) m.scratch[i] = m.H[i * m.stride + i];
  for (int i = n - 1; i >= 0; --i) {
    singular += !finish_row<P>(m, i, m.scratch[i]);
    const double *row = m.H + i * m.stride, *L = m.L + i * m.stride;
    for (int p = m.path_begin[i]; p < m.path_begin[i + 1]; ++p) {
      const int j = m.path[p];
      double* to = m.H + j * m.stride;
      for (int r = m.path_begin[i]; r <= p; ++r) to[m.path[r]] = madd(L[j], row[m.path[r]], to[m.path[r]]);
    }
  }
  return singular;
}

/// Row j of Z += Σ −L_ij · row i, kPacks registers of it from column c on.
template <int kPacks, class P>
KANSETSU_HD void gather_rows(const MechanicsBlock& m, int j, double* Z, int stride, int c) {
  P sum[kPacks];
  double* to = Z + j * stride + c;
  for (int p = 0; p < kPacks; ++p) sum[p] = load<P>(to + p * P::width);
  for (int k = m.below_begin[j]; k < m.below_begin[j + 1]; ++k) {
    const int i = m.below[k];
    const P factor(m.L[i * m.stride + j]);
    const double* row = Z + i * stride + c;
    for (int p = 0; p < kPacks; ++p) sum[p] = madd(factor, load<P>(row + p * P::width), sum[p]);
  }
  for (int p = 0; p < kPacks; ++p) store(sum[p], to + p * P::width);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
