#pragma once

#include "kinematics/posture_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// V_WB_B of every body, from base to tips. docs/theory/rnea.md.
template <class T, class Const>
KANSETSU_HD void velocities(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u, Motion<T>* V) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  const Motion<T> V_ground{zero, zero};
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    const Motion<T>& V_P = b.parent < 0 ? V_ground : V[b.parent];
    with_joint(b, posture, i, [&](const auto& joint) {
      Motion<T> V_B = joint.to_child(V_P);
      joint.add_rate(u + b.u, V_B);
      V[i] = V_B;
    });
  }
}

/// Spatial accelerations A_WB_B for the tree accelerations a (null: zero), the ground moving with A_ground.
template <class T, class Const>
KANSETSU_HD void accelerations(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u, const T* a,
                               const Motion<T>* V, const Motion<T>& A_ground, Motion<T>* A) {
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    const Motion<T>& A_P = b.parent < 0 ? A_ground : A[b.parent];
    with_joint(b, posture, i, [&](const auto& joint) {
      Motion<T> A_B = joint.to_child(A_P);
      if (a) joint.add_rate(a + b.u, A_B);
      joint.add_bias(V[i], u + b.u, A_B);
      A[i] = A_B;
    });
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
