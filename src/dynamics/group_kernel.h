#pragma once

#include "dynamics/own_inertia.h"

/// A coupling group in the articulated-body algorithm: every primitive that is not an aligned hinge on its own, and every
/// gear. [Tazz13] §2.6–2.7, docs/theory/gears.md; its single ratio γ is a matrix Γ here.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Views into the scratch memory of one group. d = number of coordinates y, members in ascending order.
template <class T>
struct GroupFactor {
  Transform<T>* X;  ///< per member: pose of the member in the group's parent
  Motion<T>* J;     ///< per member d columns: acceleration of the member per ÿ, in the member's frame
  Motion<T>* C;     ///< per member: acceleration at ÿ = 0 with the parent at rest, in the member's frame
  Force<T>* K;      ///< d columns, in the parent's frame; after factorisation W = L⁻¹·K
  T* L;             ///< d × d, row-major: D = L·diag·Lᵀ, unit diagonal not stored
  T* D_inv;         ///< d reciprocal pivots, zero where the pivot vanished
  T* e;             ///< d; after factorisation L⁻¹·e

  KANSETSU_HD GroupFactor(const Group& g, T* scratch) {
    T* at = scratch + g.scratch;
    const auto take = [&](int count) {
      T* here = at;
      at += count;
      return here;
    };
    X = reinterpret_cast<Transform<T>*>(take(12 * g.member_count));
    J = reinterpret_cast<Motion<T>*>(take(6 * g.member_count * g.d));
    C = reinterpret_cast<Motion<T>*>(take(6 * g.member_count));
    K = reinterpret_cast<Force<T>*>(take(6 * g.d));
    L = take(g.d * g.d);
    D_inv = take(g.d);
    e = take(g.d);
  }
};

template <class T, class Const>
KANSETSU_HD Transform<T> pose_in_parent(const BodyOf<Const>& b, const Posture<T>& posture, int i) {
  Transform<T> X;
  with_joint(b, posture, i, [&](const auto& joint) { X = joint.compose(Transform<T>{}); });
  return X;
}

/// P − s·F·Fᵀ
template <class T>
KANSETSU_HD void subtract_outer(const T& s, const Force<T>& F, ArticulatedInertia<T>& P) {
  const Force<T> k = s * F;
  P.A = P.A - Sym3<T>{F.t.x * k.t.x, F.t.x * k.t.y, F.t.x * k.t.z, F.t.y * k.t.y, F.t.y * k.t.z, F.t.z * k.t.z};
  P.B = P.B - outer(F.t, k.f);
  P.M = P.M - Sym3<T>{F.f.x * k.f.x, F.f.x * k.f.y, F.f.x * k.f.z, F.f.y * k.f.y, F.f.y * k.f.z, F.f.z * k.f.z};
}

/// D = L·diag·Lᵀ in place (row-major, lower triangle); the reciprocal of a pivot at or below its floor is zero.
template <class T>
KANSETSU_HD void factor_group(int d, const T* floor, T* L, T* D_inv) {
  for (int j = 0; j < d; ++j) {
    const T pivot = L[j * d + j];
    const T inverse = select(pivot > floor[j], T(1) / pivot, T(0));
    D_inv[j] = inverse;
    for (int i = d - 1; i > j; --i) {
      const T l = L[i * d + j] * inverse;
      for (int k = j + 1; k <= i; ++k) L[i * d + k] = msub(l, L[k * d + j], L[i * d + k]);
      L[i * d + j] = l;
    }
  }
}

/// Kinematics of the members relative to the group's parent: X, J, C.
template <class T, class Const>
KANSETSU_HD void place_members(const TreeViewOf<Const>& tree, const Group& g, const Posture<T>& posture,
                               const Motion<T>* V, const T* u, GroupFactor<T>& f) {
  const int* members = tree.group_members + g.members;
  const Const* gamma = tree.group_gamma + g.gamma;
  for (int m = 0; m < g.member_count; ++m) {
    const int i = members[m];
    const BodyOf<Const>& b = tree.bodies[i];
    int parent = -1;  // its position among the members, −1: the group's parent
    for (int k = 0; k < m; ++k) {
      if (members[k] == b.parent) parent = k;
    }
    const Transform<T> X_PB = pose_in_parent(b, posture, i);
    const Motion<T> bias = cross(V[i], joint_rate(b, u + b.u));
    f.X[m] = parent < 0 ? X_PB : f.X[parent] * X_PB;
    f.C[m] = parent < 0 ? bias : inverse_times(X_PB, f.C[parent]) + bias;
    for (int k = 0; k < g.d; ++k) {
      T rate[6];
      for (int r = 0; r < b.nu; ++r) rate[r] = T(gamma[r * g.d + k]);
      const Motion<T> own = joint_rate(b, rate);
      f.J[m * g.d + k] = parent < 0 ? own : inverse_times(X_PB, f.J[parent * g.d + k]) + own;
    }
    gamma += b.nu * g.d;
  }
}

/// One elimination step over a group: its articulated inertia and bias force are added to P and Z of its parent.
template <class T, class Const>
KANSETSU_HD void eliminate_group(const TreeViewOf<Const>& tree, const Step& step, const Posture<T>& posture,
                                 const BodyForces<T>& forces, const T* u, const T* tau, ArticulatedInertia<T>* P_all,
                                 Force<T>* Z_all, T* scratch, T* singular) {
  const Group& g = tree.groups[step.group];
  const int d = g.d;
  const int* members = tree.group_members + g.members;
  const int* columns = tree.group_columns + g.columns;
  GroupFactor<T> f(g, scratch);
  place_members(tree, g, posture, forces.V, u, f);

  const Vec3<T> zero{T(0), T(0), T(0)};
  ArticulatedInertia<T> P{
      {T(0), T(0), T(0), T(0), T(0), T(0)}, {zero, zero, zero}, {T(0), T(0), T(0), T(0), T(0), T(0)}};
  Force<T> Z{zero, zero};
  T* floor = f.e;  // borrowed until e is needed
  for (int k = 0; k < d; ++k) {
    f.K[k] = {zero, zero};
    floor[k] = T(0);
    for (int l = 0; l <= k; ++l) f.L[k * d + l] = T(0);
  }
  // D = Σ JᵀPJ + Σ ΓᵀrotorΓ,  K = Σ X·P·J
  const Const* gamma = tree.group_gamma + g.gamma;
  for (int m = 0; m < g.member_count; ++m) {
    const BodyOf<Const>& b = tree.bodies[members[m]];
    const ArticulatedInertia<T> P_B = collected_inertia(b, members[m], P_all);
    for (int k = 0; k < d; ++k) {
      const Motion<T>& J = f.J[m * d + k];
      const Force<T> U = P_B * J;
      floor[k] += T(kPivotNoise<T>) * madd(dot(J.w, J.w), trace(P_B.A), dot(J.v, J.v) * trace(P_B.M));
      f.K[k] += f.X[m] * U;
      for (int l = 0; l <= k; ++l) f.L[k * d + l] += dot(f.J[m * d + l], U);
    }
    for (int r = 0; r < b.nu; ++r, gamma += d) {
      for (int k = 0; k < d; ++k) {
        for (int l = 0; l <= k; ++l) f.L[k * d + l] += T(gamma[k] * gamma[l] * tree.rotor_inertia[b.u + r]);
      }
    }
  }
  factor_group(d, floor, f.L, f.D_inv);

  // e = τ − Σ Jᵀ(P·C + Z);  P_p += Σ X·P,  Z_p += Σ X·(P·C + Z)
  for (int k = 0; k < d; ++k) {
    singular[columns[k]] = select(f.D_inv[k] == T(0), T(1), T(0));
    f.e[k] = tau[columns[k]];
  }
  for (int m = 0; m < g.member_count; ++m) {
    const BodyOf<Const>& b = tree.bodies[members[m]];
    const ArticulatedInertia<T> P_B = collected_inertia(b, members[m], P_all);
    const Force<T> F = P_B * f.C[m] + collected_bias(b, members[m], forces, Z_all);
    for (int k = 0; k < d; ++k) f.e[k] = f.e[k] - dot(f.J[m * d + k], F);
    P += f.X[m] * P_B;
    Z += f.X[m] * F;
  }
  // W = L⁻¹K, e ← L⁻¹e;  P_p −= Wᵀ D⁻¹ W,  Z_p += Wᵀ D⁻¹ e
  for (int k = 0; k < d; ++k) {
    for (int l = 0; l < k; ++l) {
      f.K[k] = madd(-f.L[k * d + l], f.K[l], f.K[k]);
      f.e[k] = msub(f.L[k * d + l], f.e[l], f.e[k]);
    }
    subtract_outer(f.D_inv[k], f.K[k], P);
    Z = madd(f.D_inv[k] * f.e[k], f.K[k], Z);
  }
  if (step.parent >= 0) deposit(tree, step, forces, P, Z, P_all, Z_all);
}

/// ÿ = L⁻ᵀ D⁻¹ (L⁻¹e − W·a_p);  a = X⁻¹·a_p + C + J·ÿ
template <class T, class Const>
KANSETSU_HD void substitute_group(const TreeViewOf<Const>& tree, const Group& g, const Motion<T>& A_P, T* scratch,
                                  Motion<T>* A, T* vdot) {
  const int d = g.d;
  const int* columns = tree.group_columns + g.columns;
  const GroupFactor<T> f(g, scratch);
  for (int k = d - 1; k >= 0; --k) {
    T y = f.D_inv[k] * (f.e[k] - dot(A_P, f.K[k]));
    for (int l = k + 1; l < d; ++l) y = msub(f.L[l * d + k], vdot[columns[l]], y);
    vdot[columns[k]] = y;
  }
  for (int m = 0; m < g.member_count; ++m) {
    Motion<T> A_B = inverse_times(f.X[m], A_P) + f.C[m];
    for (int k = 0; k < d; ++k) A_B = madd(vdot[columns[k]], f.J[m * d + k], A_B);
    A[tree.group_members[g.members + m]] = A_B;
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
