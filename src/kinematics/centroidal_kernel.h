#pragma once

#include "kinematics/world_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Mass, centre of mass (in O) and, if A is not null, the centroidal matrix and its rate: momentum about the centre of
/// mass in world axes is A·u, its change at u̇ = 0 is Ȧ·u. Per tree coordinate one column.
///   A = X_G(C·S),  Ȧ = X_G(Ċ·S + C·Ṡ) − [ċ × linear part; 0]  with C the composite inertia below the coordinate and
///   Ċ·m = V×*(M m) − M(V×m) summed over its bodies.
///
/// @param C, C_dot  per body composite inertia and its rate; C_dot and A_dot may be null
template <class T, class Const>
KANSETSU_HD void centroidal(const TreeViewOf<Const>& tree, const Transform<T>* X, const Motion<T>* S,
                            const Motion<T>* V, Inertia<T>* C, ArticulatedInertia<T>* C_dot, T& mass, Vec3<T>& com,
                            Force<T>* A, Force<T>* A_dot) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  if (!V) A_dot = nullptr;
  mass = T(0);
  Vec3<T> h = zero, linear = zero;  // Σ m·c and Σ linear momentum
  for (int i = 0; i < tree.body_count; ++i) {
    C[i] = X[i] * lift<T>(tree.bodies[i].M_B);
    mass = mass + C[i].m;
    h += C[i].h;
    if (!A_dot) continue;
    linear += (C[i] * V[i]).f;
    // V×*M − M V×: rotational part w̃I − Iw̃ − (ũh̃ + h̃ũ), coupling (first-moment) part of skew(p), no mass part
    const Mat3<T> W = skew(V[i].w), U = skew(V[i].v), H = skew(C[i].h), I = to_mat3(C[i].I);
    C_dot[i] = {to_sym3((W * I - I * W) - (U * H + H * U)), skew((C[i] * V[i]).f), {}};
    C_dot[i].M = Sym3<T>::diagonal(T(0), T(0), T(0));
  }
  const T mass_inv = select(mass > T(0), T(1) / mass, T(0));
  com = mass_inv * h;
  if (!A) return;
  const Vec3<T> com_rate = mass_inv * linear;
  for (int i = tree.body_count - 1; i >= 0; --i) {
    const BodyOf<Const>& b = tree.bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const Force<T> column = C[i] * S[k];
      A[k] = {column.t - cross(com, column.f), column.f};
      if (!A_dot) continue;
      const Force<T> rate = C_dot[i] * S[k] + C[i] * cross(V[i], S[k]);
      A_dot[k] = {rate.t - cross(com, rate.f) - cross(com_rate, column.f), rate.f};
    }
    if (b.parent < 0) continue;
    C[b.parent] = C[b.parent] + C[i];
    if (A_dot) C_dot[b.parent] += C_dot[i];
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
