#pragma once

#include "kansetsu/spatial/inertia.h"

namespace kansetsu {

/// The matrix B with 2·B·m = V ×* (M·m) − M·(V × m) + m ×* (M·V): what a change m of velocity does to the gyroscopic
/// wrench V ×* M·V, beside its acceleration. [EW21] Echeandia & Wensing 2021. In the order [angular; linear] its linear
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

/// 2·B₁₁ = w̃ I − I w̃ − ũ h̃ − h̃ ũ − L̃ with V = [w; u] and M·V = [L; p].
template <class T>
KANSETSU_HD CoriolisInertia<T> coriolis_inertia(const Inertia<T>& M, const Motion<T>& V) {
  const Force<T> momentum = M * V;
  const Mat3<T> W = skew(V.w), U = skew(V.v), H = skew(M.h), I = to_mat3(M.I);
  const Mat3<T> twice = (W * I - I * W) - (U * H + H * U) - skew(momentum.t);
  return {T(scalar_t<T>(0.5)) * twice, momentum.f};
}

}  // namespace kansetsu
