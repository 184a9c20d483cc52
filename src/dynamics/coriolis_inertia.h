#pragma once

#include "kansetsu/spatial/inertia.h"

namespace kansetsu {

/// The matrix B with 2·B·m = V ×* (M·m) − M·(V × m) + m ×* (M·V): the effect of a change m of velocity on the gyroscopic
/// wrench V ×* M·V, apart from its acceleration. [EW21] Echeandia & Wensing 2021. In the order [angular; linear] its linear
/// columns vanish, B = [B₁₁ 0; −p̃ 0] with p the linear momentum, so twelve numbers hold it.
template <class T>
struct CoriolisInertia {
  Mat3<T> B11;
  Vec3<T> p;

  KANSETSU_HD friend CoriolisInertia operator+(const CoriolisInertia& a, const CoriolisInertia& b) {
    return {a.B11 + b.B11, a.p + b.p};
  }
};

template <class T>
KANSETSU_HD Force<T> operator*(const CoriolisInertia<T>& B, const Motion<T>& m) {
  return {B.B11 * m.w, cross(m.w, B.p)};
}
/// The row mᵀ·B as a force: dot(n, transpose_times(B, m)) = dot(m, B·n). Its linear part is zero.
template <class T>
KANSETSU_HD Vec3<T> transpose_times(const CoriolisInertia<T>& B, const Motion<T>& m) {
  return add_cross(transpose_times(B.B11, m.w), B.p, m.v);
}

/// Twice that matrix: 2·B₁₁ = w̃ I − I w̃ − ũ h̃ − h̃ ũ − L̃ with V = [w; u] and M·V = [L; p]. All but L̃ is symmetric:
/// w̃ I − I w̃ = G + Gᵀ with G = w̃ I, and −ũ h̃ − h̃ ũ = 2(u·h) 1 − u hᵀ − h uᵀ.
template <class T>
KANSETSU_HD CoriolisInertia<T> twice_coriolis_inertia(const Inertia<T>& M, const Motion<T>& V) {
  const Force<T> momentum = M * V;
  const Sym3<T>& I = M.I;
  const Vec3<T>&w = V.w, &u = V.v, &h = M.h, &L = momentum.t;
  const Vec3<T> Gx = cross(w, Vec3<T>{I.xx, I.xy, I.xz});  // columns of G
  const Vec3<T> Gy = cross(w, Vec3<T>{I.xy, I.yy, I.yz});
  const Vec3<T> Gz = cross(w, Vec3<T>{I.xz, I.yz, I.zz});
  const T ux = u.x * h.x, uy = u.y * h.y, uz = u.z * h.z;
  const T xx = Gx.x + (uy + uz), yy = Gy.y + (ux + uz), zz = Gz.z + (ux + uy);
  const T xy = (Gy.x + Gx.y) - madd(u.x, h.y, u.y * h.x);
  const T xz = (Gz.x + Gx.z) - madd(u.x, h.z, u.z * h.x);
  const T yz = (Gz.y + Gy.z) - madd(u.y, h.z, u.z * h.y);
  return {{{xx + xx, xy + L.z, xz - L.y}, {xy - L.z, yy + yy, yz + L.x}, {xz + L.y, yz - L.x, zz + zz}},
          momentum.f + momentum.f};
}
template <class T>
KANSETSU_HD CoriolisInertia<T> coriolis_inertia(const Inertia<T>& M, const Motion<T>& V) {
  const CoriolisInertia<T> twice = twice_coriolis_inertia(M, V);
  const T half = T(scalar_t<T>(0.5));
  return {half * twice.B11, half * twice.p};
}

}  // namespace kansetsu
