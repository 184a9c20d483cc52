#pragma once

#include "kinematics/posture_kernel.h"

/// Kinematics in one frame for all bodies: world axes at a fixed point O. With a free base O is the present position of the
/// base, which avoids cancellation far from the world's origin.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// X_OB of every body; O is the world's origin, or the base's present position if `at_base` and the base is free.
template <class T, class Const>
KANSETSU_HD void poses(const TreeViewOf<Const>& tree, const Posture<T>& posture, bool at_base, Transform<T>* X) {
  const Transform<T> ground;
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    const Transform<T>& X_P = b.parent < 0 ? ground : X[b.parent];
    with_joint(b, posture, i,
               [&](const auto& joint) { X[i] = b.concurrent ? joint.compose_in_place(X_P) : joint.compose(X_P); });
    if (i == 0 && at_base && tree.free_base) X[0].p = {T(0), T(0), T(0)};
  }
}

/// Motion subspaces of all tree coordinates, in O: V_O of a body is the sum of S·u over its ancestors.
template <class T, class Const>
KANSETSU_HD void subspaces(const TreeViewOf<Const>& tree, const Transform<T>* X, Motion<T>* S) {
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    for (int k = 0; k < b.nu; ++k) S[b.u + k] = X[i] * subspace<T>(b, k);
  }
}

/// Velocities of all bodies, in O.
template <class T, class Const>
KANSETSU_HD void world_velocities(const TreeViewOf<Const>& tree, const Motion<T>* S, const T* u, Motion<T>* V) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    Motion<T> sum = b.parent < 0 ? Motion<T>{zero, zero} : V[b.parent];
    for (int k = b.u; k < b.u + b.nu; ++k) sum = madd(u[k], S[k], sum);
    V[i] = sum;
  }
}

/// Accelerations of all bodies, in O: Σ S·a + V × (S·u). With a null the drift alone.
template <class T, class Const>
KANSETSU_HD void world_accelerations(const TreeViewOf<Const>& tree, const Motion<T>* S, const T* u, const T* a,
                                     const Motion<T>* V, const Motion<T>& A_ground, Motion<T>* A) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    Motion<T> rate{zero, zero};
    Motion<T> sum = b.parent < 0 ? A_ground : A[b.parent];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      rate = madd(u[k], S[k], rate);
      if (a) sum = madd(a[k], S[k], sum);
    }
    A[i] = sum + cross(V[i], rate);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
