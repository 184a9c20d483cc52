#pragma once

#include "dynamics/own_inertia.h"
#include "kansetsu/spatial/small_matrix.h"

/// Two or three concurrent hinges with nothing between them as one node of the articulated-body algorithm: a hip or a
/// shoulder. One 3 × 3 factorisation replaces three eliminations and two shifts, and no accuracy is lost to massless bodies
/// when the outer axes come close to each other.
///
/// Symbols   E = [e₁ e₂ e₃], angular velocity of the last body per hinge rate, in that body's axes
///           D = EᵀAE + rotors,  U = [AE; BᵀE],  P' = P − U·D⁻¹·Uᵀ        spec/dynamics.md §5 with J = [E; 0]
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Per node, stored with its first body.
template <class T>
struct MergedFactor {
  Vec3<T> e[3];
  Force<T> U[3];
  Motion<T> C;  ///< acceleration of the last body at q̈ = 0 with the parent at rest
  Ldlt<T, 3> D;
  T u[3];
};

template <class T>
KANSETSU_HD Vec3<T> turn_axis(int axis, const T& c, const T& s, const Vec3<T>& a) {
  return axis == 0 ? turn<0>(c, s, a) : axis == 1 ? turn<1>(c, s, a) : turn<2>(c, s, a);
}
template <int AX, class T>
KANSETSU_HD ArticulatedInertia<T> turn_inertia(const T& c, const T& s, const ArticulatedInertia<T>& P) {
  const TurnZ<T> turn_z(c, s);
  return {from_z<AX>(turn_z(to_z<AX>(P.A))), from_z<AX>(turn_z(to_z<AX>(P.B))), from_z<AX>(turn_z(to_z<AX>(P.M)))};
}

template <class T, class Const>
KANSETSU_HD void eliminate_merged(const TreeViewOf<Const>& tree, const Step& step, const Posture<T>& posture,
                                  const BodyForces<T>& forces, const T* rate, const T* tau,
                                  ArticulatedInertia<T>* P_all, Force<T>* Z_all, MergedFactor<T>* factors,
                                  T* singular) {
  const int n = step.hinges, first = step.body, last = first + n - 1;
  const BodyOf<Const>& end = tree.bodies[last];
  MergedFactor<T>& f = factors[first];
  const Vec3<T> zero{T(0), T(0), T(0)};

  // Axes and bias, from the first hinge to the last; external wrenches on the massless bodies meet the hinges before them.
  f.C = {zero, zero};
  f.u[0] = f.u[1] = f.u[2] = T(0);
  for (int k = 0; k < n; ++k) {
    const BodyOf<Const>& b = tree.bodies[first + k];
    const int axis = b.aligned_axis;
    const T &c = posture.c[first + k], &s = posture.s[first + k];
    for (int j = 0; j < k; ++j) f.e[j] = turn_back_axis(axis, c, s, f.e[j]);
    f.e[k] = {T(axis == 0), T(axis == 1), T(axis == 2)};
    const Motion<T>& V = forces.V[first + k];
    const T& r = rate[b.u];
    f.C.w = turn_back_axis(axis, c, s, f.C.w);
    f.C.v = turn_back_axis(axis, c, s, f.C.v);
    if (axis == 0) f.C += {cross_axis<0>(V.w, r), cross_axis<0>(V.v, r)};
    if (axis == 1) f.C += {cross_axis<1>(V.w, r), cross_axis<1>(V.v, r)};
    if (axis == 2) f.C += {cross_axis<2>(V.w, r), cross_axis<2>(V.v, r)};
    if (forces.fext && first + k < last) {
      for (int j = 0; j <= k; ++j) f.u[j] = f.u[j] + dot(f.e[j], forces.fext[first + k].t);
    }
  }
  for (int k = n; k < 3; ++k) f.e[k] = zero;  // a missing third hinge: an axis without effect

  ArticulatedInertia<T> P = collected_inertia(end, last, P_all);
  Force<T> Z = collected_bias(end, last, forces, Z_all);
  Z += P * f.C;
  const T scale = trace(P.A);
  for (int k = 0; k < 3; ++k) f.U[k] = {P.A * f.e[k], transpose_times(P.B, f.e[k])};
  Lower<T, 3> D;
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l <= k; ++l) D(k, l) = dot(f.e[k], f.U[l].t);
  }
  for (int k = 0; k < n; ++k) {
    const BodyOf<Const>& b = tree.bodies[first + k];
    const CoordinateTermOf<Const>& term = tree.terms[tree.rows[b.u].begin];
    D(k, k) = D(k, k) + T(tree.rotor_inertia[b.u]);
    f.u[k] = madd(T(term.ratio), tau[term.column], f.u[k] - dot(f.e[k], Z.t));
  }
  f.D = Ldlt<T, 3>::factor(D, T(kPivotNoise<T>) * scale);
  for (int k = 0; k < n; ++k) {
    const BodyOf<Const>& b = tree.bodies[first + k];
    singular[tree.terms[tree.rows[b.u].begin].column] = select(f.D.l(k, k) == T(0), T(1), T(0));
  }
  if (step.parent < 0) return;

  // W = L⁻¹Uᵀ, y = L⁻¹u;  P' = P − WᵀD⁻¹W,  Z' = Z + WᵀD⁻¹y
  Force<T> W[3] = {f.U[0], f.U[1], f.U[2]};
  T y[3] = {f.u[0], f.u[1], f.u[2]};
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < k; ++l) {
      W[k] = madd(-f.D.l(k, l), W[l], W[k]);
      y[k] = msub(f.D.l(k, l), y[l], y[k]);
    }
    const T d = f.D.l(k, k);
    const Force<T> w = d * W[k];
    P.A = {msub(W[k].t.x, w.t.x, P.A.xx), msub(W[k].t.x, w.t.y, P.A.xy), msub(W[k].t.x, w.t.z, P.A.xz),
           msub(W[k].t.y, w.t.y, P.A.yy), msub(W[k].t.y, w.t.z, P.A.yz), msub(W[k].t.z, w.t.z, P.A.zz)};
    P.B = {madd(-W[k].t.x, w.f, P.B.x), madd(-W[k].t.y, w.f, P.B.y), madd(-W[k].t.z, w.f, P.B.z)};
    P.M = {msub(W[k].f.x, w.f.x, P.M.xx), msub(W[k].f.x, w.f.y, P.M.xy), msub(W[k].f.x, w.f.z, P.M.xz),
           msub(W[k].f.y, w.f.y, P.M.yy), msub(W[k].f.y, w.f.z, P.M.yz), msub(W[k].f.z, w.f.z, P.M.zz)};
    Z = madd(y[k], w, Z);
  }
  for (int k = n - 1; k >= 0; --k) {
    const int axis = tree.bodies[first + k].aligned_axis;
    const T &c = posture.c[first + k], &s = posture.s[first + k];
    if (axis == 0) P = turn_inertia<0>(c, s, P);
    if (axis == 1) P = turn_inertia<1>(c, s, P);
    if (axis == 2) P = turn_inertia<2>(c, s, P);
    if (forces.fext && first + k < last) Z -= forces.fext[first + k];
    Z = {turn_axis(axis, c, s, Z.t), turn_axis(axis, c, s, Z.f)};
  }
  const Vec3<T> p = lift<T>(tree.bodies[first].X_PJ.p);
  deposit(tree, step, forces, shift(p, P), Force<T>{add_cross(Z.t, p, Z.f), Z.f}, P_all, Z_all);
}

template <class T, class Const>
KANSETSU_HD void substitute_merged(const TreeViewOf<Const>& tree, const Step& step, const Posture<T>& posture,
                                   const Motion<T>& A_P, const MergedFactor<T>* factors, Motion<T>* A, T* vdot) {
  const int n = step.hinges, first = step.body;
  const MergedFactor<T>& f = factors[first];
  const Vec3<T> p = lift<T>(tree.bodies[first].X_PJ.p);
  Motion<T> A_B{A_P.w, add_cross(A_P.v, A_P.w, p)};
  for (int k = 0; k < n; ++k) {
    const int axis = tree.bodies[first + k].aligned_axis;
    const T &c = posture.c[first + k], &s = posture.s[first + k];
    A_B = {turn_back_axis(axis, c, s, A_B.w), turn_back_axis(axis, c, s, A_B.v)};
  }
  T y[3];
  for (int k = 0; k < 3; ++k) y[k] = f.u[k] - dot(A_B, f.U[k]);  // U·C is in u already
  f.D.solve(y);
  A_B += f.C;
  for (int k = 0; k < n; ++k) {
    A_B.w = madd(y[k], f.e[k], A_B.w);
    const CoordinateTermOf<Const>& term = tree.terms[tree.rows[tree.bodies[first + k].u].begin];
    vdot[term.column] = T(term.ratio) * y[k];
  }
  A[first + n - 1] = A_B;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
