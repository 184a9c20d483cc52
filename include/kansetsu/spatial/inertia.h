#pragma once

#include "kansetsu/spatial/spatial.h"

namespace kansetsu {

/// Rigid-body inertia about the frame's origin: mass, first moment h = m·c and rotational inertia I. [RBDA] eq. 2.63.
template <class T = double>
struct Inertia {
  T m{};
  Vec3<T> h;
  Sym3<T> I;

  KANSETSU_HD friend Inertia operator+(const Inertia& a, const Inertia& b) { return {a.m + b.m, a.h + b.h, a.I + b.I}; }
  friend bool operator==(const Inertia&, const Inertia&) = default;
};

/// Articulated-body inertia P = [A B; Bᵀ M]: the wrench that gives a handle body the acceleration [ω̇; v̇].
template <class T = double>
struct ArticulatedInertia {
  Sym3<T> A;
  Mat3<T> B;
  Sym3<T> M;

  KANSETSU_HD friend ArticulatedInertia operator+(const ArticulatedInertia& a, const ArticulatedInertia& b) {
    return {a.A + b.A, a.B + b.B, a.M + b.M};
  }
  KANSETSU_HD ArticulatedInertia& operator+=(const ArticulatedInertia& b) { return *this = *this + b; }
};

/// −skew(a)·skew(b) = (a·b)·1 − b·aᵀ, symmetrised: the rotational inertia that pairs of first moment and offset give.
template <class T>
KANSETSU_HD Sym3<T> parallel_axis(const Vec3<T>& a, const Vec3<T>& b) {
  const T xx = a.x * b.x, yy = a.y * b.y, zz = a.z * b.z;
  const T half = T(scalar_t<T>(0.5));
  return {yy + zz, -half * madd(a.x, b.y, a.y * b.x), -half * madd(a.x, b.z, a.z * b.x),
          xx + zz, -half * madd(a.y, b.z, a.z * b.y), xx + yy};
}

/// Mass m at com, with the inertia J_com about it, both in the axes of the frame.
template <class T>
KANSETSU_HD Inertia<T> make_inertia(const T& m, const Vec3<T>& com, const Sym3<T>& J_com) {
  return {m, m * com, J_com + m * parallel_axis(com, com)};
}

template <class T>
KANSETSU_HD Force<T> operator*(const Inertia<T>& M_B, const Motion<T>& V_B) {
  return {add_cross(M_B.I * V_B.w, M_B.h, V_B.v), add_cross(M_B.m * V_B.v, V_B.w, M_B.h)};
}
template <class T>
KANSETSU_HD Force<T> operator*(const ArticulatedInertia<T>& P, const Motion<T>& V) {
  return {P.A * V.w + P.B * V.v, transpose_times(P.B, V.w) + P.M * V.v};
}

/// M_A = X_AB * M_B
template <class T>
KANSETSU_HD Inertia<T> operator*(const Transform<T>& X_AB, const Inertia<T>& M_B) {
  const Vec3<T> h = X_AB.R * M_B.h;
  const Vec3<T> h_A = madd(M_B.m, X_AB.p, h);
  // I_A = R I Rᵀ − p̃ h̃ − h̃_A p̃, symmetric as a whole
  return {M_B.m, h_A, congruence(X_AB.R, M_B.I) + parallel_axis(h + h_A, X_AB.p)};
}

template <class T>
KANSETSU_HD ArticulatedInertia<T> to_articulated(const Inertia<T>& M) {
  return {M.I, skew(M.h), Sym3<T>::diagonal(M.m, M.m, M.m)};
}

/// The same articulated inertia about a point −p away: P_A for parallel axes with p = p_AB.
template <class T>
KANSETSU_HD ArticulatedInertia<T> shift(const Vec3<T>& p, const ArticulatedInertia<T>& P) {
  const Sym3<T>& M = P.M;
  // B' = B + p̃ M: column by column
  const Vec3<T> b0 = add_cross(P.B.column_x(), p, {M.xx, M.xy, M.xz});
  const Vec3<T> b1 = add_cross(P.B.column_y(), p, {M.xy, M.yy, M.yz});
  const Vec3<T> b2 = add_cross(P.B.column_z(), p, {M.xz, M.yz, M.zz});
  const Mat3<T> B{{b0.x, b1.x, b2.x}, {b0.y, b1.y, b2.y}, {b0.z, b1.z, b2.z}};
  // A' = A + p̃ Bᵀ + (p̃ Bᵀ)ᵀ + p̃ M p̃ᵀ = A + p̃ Bᵀ + (p̃ B'ᵀ)ᵀ: entry (i, j) is A_ij + (p × B_j)_i + (p × B'_i)_j
  const Mat3<T>& C = P.B;
  Sym3<T> A;
  A.xx = msub(p.z, C.x.y + B.x.y, madd(p.y, C.x.z + B.x.z, P.A.xx));
  A.yy = msub(p.x, C.y.z + B.y.z, madd(p.z, C.y.x + B.y.x, P.A.yy));
  A.zz = msub(p.y, C.z.x + B.z.x, madd(p.x, C.z.y + B.z.y, P.A.zz));
  A.xy = msub(p.x, B.x.z, madd(p.z, B.x.x, msub(p.z, C.y.y, madd(p.y, C.y.z, P.A.xy))));
  A.xz = msub(p.y, B.x.x, madd(p.x, B.x.y, msub(p.z, C.z.y, madd(p.y, C.z.z, P.A.xz))));
  A.yz = msub(p.y, B.y.x, madd(p.x, B.y.y, msub(p.x, C.z.z, madd(p.z, C.z.x, P.A.yz))));
  return {A, B, M};
}

/// shift() by d along z.
template <class T>
KANSETSU_HD ArticulatedInertia<T> shift_z(const T& d, const ArticulatedInertia<T>& P) {
  const Sym3<T>& M = P.M;
  const Mat3<T>& C = P.B;
  const Mat3<T> B{{msub(d, M.xy, C.x.x), msub(d, M.yy, C.x.y), msub(d, M.yz, C.x.z)},
                  {madd(d, M.xx, C.y.x), madd(d, M.xy, C.y.y), madd(d, M.xz, C.y.z)},
                  C.z};
  const Sym3<T> A{msub(d, C.x.y + B.x.y, P.A.xx), madd(d, B.x.x - C.y.y, P.A.xy), msub(d, C.z.y, P.A.xz),
                  madd(d, C.y.x + B.y.x, P.A.yy), madd(d, C.z.x, P.A.yz),         P.A.zz};
  return {A, B, M};
}

/// P_A = X_AB * P_B
template <class T>
KANSETSU_HD ArticulatedInertia<T> operator*(const Transform<T>& X_AB, const ArticulatedInertia<T>& P_B) {
  const Mat3<T>& R = X_AB.R;
  return shift(X_AB.p,
               ArticulatedInertia<T>{congruence(R, P_B.A), times_transpose(R * P_B.B, R), congruence(R, P_B.M)});
}

template <class T, class S>
KANSETSU_HD Inertia<T> lift(const Inertia<S>& M) {
  return {lift<T>(M.m), lift<T>(M.h), lift<T>(M.I)};
}

}  // namespace kansetsu
