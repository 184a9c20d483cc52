#pragma once

#include "kinematics/posture_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Composite-rigid-body algorithm. [RBDA] Table 6.2.
/// Calls out(k, l, value) for every pair of tree coordinates with l ≤ k whose entry of the mass matrix may differ from
/// zero: l runs over the coordinates of the same body and of its ancestors, nearest first.
///
/// Symbols   C[i] = composite inertia of the subtree of i, in B
template <class T, class Out, class Const>
KANSETSU_HD void crba(const TreeViewOf<Const>& tree, const Posture<T>& posture, Inertia<T>* C, Out&& out) {
  for (int i = 0; i < tree.body_count; ++i) C[i] = lift<T>(tree.bodies[i].M_B);
  for (int i = tree.body_count - 1; i >= 0; --i) {
    const BodyOf<Const>& b = tree.bodies[i];
    for (int k = b.nu - 1; k >= 0; --k) {
      Force<T> F = C[i] * subspace<T>(b, k);
      T row[6] = {};
      with_joint(b, posture, i, [&](const auto& joint) { joint.project(F, row); });
      row[k] += T(tree.rotor_inertia[b.u + k]);
      for (int l = k; l >= 0; --l) out(b.u + k, b.u + l, row[l]);
      for (int j = i; tree.bodies[j].parent >= 0;) {
        with_joint(tree.bodies[j], posture, j, [&](const auto& joint) { F = joint.to_parent(F); });
        j = tree.bodies[j].parent;
        const BodyOf<Const>& ancestor = tree.bodies[j];
        with_joint(ancestor, posture, j, [&](const auto& joint) { joint.project(F, row); });
        for (int l = ancestor.nu - 1; l >= 0; --l) out(b.u + k, ancestor.u + l, row[l]);
      }
    }
    if (b.parent < 0) continue;
    with_joint(b, posture, i, [&](const auto& joint) { C[b.parent] = C[b.parent] + joint.to_parent(C[i]); });
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
