#pragma once

#include "kinematics/posture_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Recursive Newton–Euler algorithm in body coordinates. [RBDA] Table 5.1; docs/theory/rnea.md, errata of [Neka].
///
/// Gravity enters as an upward acceleration of the ground, so A is the apparent acceleration.
///
/// Symbols   V[i] = V_WB_B   A[i] = A_WB_B − g   F[i] = wrench across joint i, on B, in B
///           u, a = tree velocity and acceleration   fext = external wrenches on the bodies, in B; may be null
/// @param tau  out, tree coordinates
template <class T, class Const>
KANSETSU_HD void rnea(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u, const T* a,
                      const Force<T>* fext, Motion<T>* V, Motion<T>* A, Force<T>* F, T* tau) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  const Motion<T> V_ground{zero, zero}, A_ground{zero, lift<T>(-tree.gravity)};
  for (int i = 0; i < tree.body_count; ++i) {  // outward
    const BodyOf<Const>& b = tree.bodies[i];
    const Motion<T>& V_P = b.parent < 0 ? V_ground : V[b.parent];
    const Motion<T>& A_P = b.parent < 0 ? A_ground : A[b.parent];
    with_joint(b, posture, i, [&](const auto& joint) {
      Motion<T> V_B = joint.to_child(V_P);
      Motion<T> A_B = joint.to_child(A_P);
      joint.add_rate(u + b.u, V_B);
      joint.add_rate(a + b.u, A_B);
      joint.add_bias(V_B, u + b.u, A_B);
      const Inertia<T> M = lift<T>(b.M_B);
      V[i] = V_B;
      A[i] = A_B;
      F[i] = M * A_B + cross(V_B, M * V_B);
    });
    if (fext) F[i] -= fext[i];
  }
  for (int i = tree.body_count - 1; i >= 0; --i) {  // inward
    const BodyOf<Const>& b = tree.bodies[i];
    with_joint(b, posture, i, [&](const auto& joint) {
      joint.project(F[i], tau + b.u);
      if (b.parent >= 0) F[b.parent] += joint.to_parent(F[i]);
    });
    for (int k = b.u; k < b.u + b.nu; ++k) tau[k] = madd(T(tree.rotor_inertia[k]), a[k], tau[k]);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
