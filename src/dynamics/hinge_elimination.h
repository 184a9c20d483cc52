#pragma once

#include "dynamics/own_inertia.h"

/// The tight loop of the articulated-body algorithm: one aligned hinge. Axes are renamed so that the hinge is about z;
/// the result is then turned in the plane only, shifted by a constant and added to the parent.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// U = P·S, 1/D and u = τ − Sᵀ·Z of an aligned hinge, in renamed axes. docs/theory/aba.md.
template <class T>
struct HingeFactor {
  Force<T> U;
  T D_inv, u;
};

/// State and constants of an aligned hinge between B and P.
template <class T>
struct HingeState {
  const T &c, &s;
  Vec3<T> p;  ///< p_PB
  T rate, tau, rotor;
};

/// Eliminates an aligned hinge. P and Z: of its body with its subtree; on return, if `passes_on`, their share in the parent.
/// @param V  velocity of B, for the acceleration V × S·q̇
/// @param kShifts  whether that share is about the parent's origin, else about the hinge
/// @param keep  called with the factor and U/D
/// @param singular  out: 1 if the hinge moves no inertia
template <int AX, bool kShifts, class T, class Keep>
KANSETSU_HD void eliminate_axis(const HingeState<T>& hinge, const Motion<T>& V, bool passes_on, T& singular,
                                ArticulatedInertia<T>& P, Force<T>& Z, const Keep& keep) {
  const Sym3<T> A = to_z<AX>(P.A), M = to_z<AX>(P.M);
  const Mat3<T> B = to_z<AX>(P.B);
  const Vec3<T> Zt = to_z<AX>(Z.t), Zf = to_z<AX>(Z.f);

  const Force<T> U{{A.xz, A.yz, A.zz}, B.z};
  const T& rotor = hinge.rotor;
  const T floor = T(kPivotNoise<T>) * trace(A);
  const T D = A.zz + rotor;
  const auto regular = D > floor;
  const T D_inv = select(regular, T(1) / D, T(0));
  singular = select(regular, T(0), T(1));
  const T u = hinge.tau - Zt.z;
  const Force<T> k = D_inv * U;
  keep(HingeFactor<T>{U, D_inv, u}, k);  // at once, so that registers become free
  if (!passes_on) return;

  // P' = P − U·D⁻¹·Uᵀ. Along the axis the rotor's share U·J/D remains: exactly zero without a rotor.
  const T rest = select(regular, rotor * D_inv, T(1));
  const Sym3<T> A1{msub(U.t.x, k.t.x, A.xx),
                   msub(U.t.x, k.t.y, A.xy),
                   rest * U.t.x,
                   msub(U.t.y, k.t.y, A.yy),
                   rest * U.t.y,
                   rest * U.t.z};
  const Mat3<T> B1{madd(-U.t.x, k.f, B.x), madd(-U.t.y, k.f, B.y), rest * U.f};
  const Sym3<T> M1{msub(U.f.x, k.f.x, M.xx), msub(U.f.x, k.f.y, M.xy), msub(U.f.x, k.f.z, M.xz),
                   msub(U.f.y, k.f.y, M.yy), msub(U.f.y, k.f.z, M.yz), msub(U.f.z, k.f.z, M.zz)};

  // Z' = Z + P'·c + U·D⁻¹·u with the bias c = V × S·q̇, which has no component along the axis.
  const Vec3<T> w = to_z<AX>(V.w), v = to_z<AX>(V.v);
  const T& r = hinge.rate;
  const T cx = w.y * r, cy = -(w.x * r), dx = v.y * r, dy = -(v.x * r);
  const Vec3<T> Zt1{madd(A1.xx, cx, madd(A1.xy, cy, madd(B1.x.x, dx, madd(B1.x.y, dy, madd(k.t.x, u, Zt.x))))),
                    madd(A1.xy, cx, madd(A1.yy, cy, madd(B1.y.x, dx, madd(B1.y.y, dy, madd(k.t.y, u, Zt.y))))),
                    madd(A1.xz, cx, madd(A1.yz, cy, madd(B1.z.x, dx, madd(B1.z.y, dy, madd(k.t.z, u, Zt.z)))))};
  const Vec3<T> Zf1{madd(B1.x.x, cx, madd(B1.y.x, cy, madd(M1.xx, dx, madd(M1.xy, dy, madd(k.f.x, u, Zf.x))))),
                    madd(B1.x.y, cx, madd(B1.y.y, cy, madd(M1.xy, dx, madd(M1.yy, dy, madd(k.f.y, u, Zf.y))))),
                    madd(B1.x.z, cx, madd(B1.y.z, cy, madd(M1.xz, dx, madd(M1.yz, dy, madd(k.f.z, u, Zf.z)))))};

  const TurnZ<T> turn_z(hinge.c, hinge.s);
  ArticulatedInertia<T> P_z{turn_z(A1), turn_z(B1), turn_z(M1)};
  Vec3<T> t = turn_z(Zt1);
  const Vec3<T> f = turn_z(Zf1);
  if constexpr (kShifts) {
    const Vec3<T> p = to_z<AX>(hinge.p);
    P_z = shift(p, P_z);
    t = add_cross(t, p, f);
  }
  P = {from_z<AX>(P_z.A), from_z<AX>(P_z.B), from_z<AX>(P_z.M)};
  Z = {from_z<AX>(t), from_z<AX>(f)};
}

template <int AX, class T, class Const>
KANSETSU_HD void eliminate_hinge(const TreeViewOf<Const>& tree, const Step& step, const Posture<T>& posture,
                                 const BodyForces<T>& forces, const T* rate, const T* tau, ArticulatedInertia<T>* P_all,
                                 Force<T>* Z_all, HingeFactor<T>* factors, T* singular) {
  const int i = step.body;
  const BodyOf<Const>& b = tree.bodies[i];
  const CoordinateTermOf<Const>& term =
      tree.terms[tree.rows[b.u].begin];  // an aligned hinge on its own has one, of ratio ±1
  const HingeState<T> hinge{posture.c[i],
                            posture.s[i],
                            lift<T>(b.X_PJ.p),
                            rate[b.u],
                            T(term.ratio) * tau[term.column],
                            T(tree.rotor_inertia[b.u])};
  ArticulatedInertia<T> P = collected_inertia(b, i, P_all);
  Force<T> Z = collected_bias(b, i, forces, Z_all);
  eliminate_axis<AX, true>(hinge, forces.V[i], b.parent >= 0, singular[term.column], P, Z,
                           [&](const HingeFactor<T>& factor, const Force<T>&) { factors[i] = factor; });
  if (b.parent >= 0) deposit(tree, step, forces, P, Z, P_all, Z_all);
}

/// a' = X·a_P + c,  q̈ = D⁻¹(u − Uᵀa'),  a = a' + S·q̈
template <int AX, class T, class Const>
KANSETSU_HD void substitute_hinge(const TreeViewOf<Const>& tree, int i, const Posture<T>& posture, const Motion<T>* V,
                                  const T* rate, const Motion<T>& A_P, const HingeFactor<T>* factors, Motion<T>* A,
                                  T* vdot) {
  const BodyOf<Const>& b = tree.bodies[i];
  const AlignedHinge<T, AX> joint{posture.c[i], posture.s[i], lift<T>(b.X_PJ.p)};
  Motion<T> A_B = joint.to_child(A_P);
  joint.add_bias(V[i], rate + b.u, A_B);
  const HingeFactor<T>& factor = factors[i];
  const T acceleration = factor.D_inv * (factor.u - dot(Motion<T>{to_z<AX>(A_B.w), to_z<AX>(A_B.v)}, factor.U));
  joint.add_rate(&acceleration, A_B);
  A[i] = A_B;
  const CoordinateTermOf<Const>& term = tree.terms[tree.rows[b.u].begin];
  vdot[term.column] = T(term.ratio) * acceleration;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
