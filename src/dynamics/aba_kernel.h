#pragma once

#include "dynamics/group_kernel.h"
#include "dynamics/hinge_elimination.h"
#include "kansetsu/spatial/small_matrix.h"
#include "kinematics/velocity_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The results of the inward sweep of the articulated-body algorithm.
template <class T>
struct ArticulatedTree {
  ArticulatedInertia<T>* P;  ///< per body, in B: P̂ of [Tazz13] (25)
  Force<T>* Z;               ///< per body, in B: articulated bias force Ẑ of [Tazz13] (26)
  HingeFactor<T>* hinge;     ///< per body: of aligned hinges
  T* group;                  ///< factors of the coupling groups, laid out by GroupFactor
  Ldlt<T, 6>* base;          ///< of P[0] if the base is free
  T* singular;               ///< per column of v: 1 if its projected inertia vanished, else 0
};

template <class T, class Const>
KANSETSU_HD ArticulatedTree<T> carve_articulated(const TreeViewOf<Const>& tree, Carver<T>& carver) {
  ArticulatedTree<T> out;
  out.P = carver.template take<ArticulatedInertia<T>>(tree.body_count);
  out.Z = carver.template take<Force<T>>(tree.body_count);
  out.hinge = carver.template take<HingeFactor<T>>(tree.body_count);
  out.group = carver.template take<T>(tree.group_scratch);
  out.base = carver.template take<Ldlt<T, 6>>(1);
  out.singular = carver.template take<T>(tree.nv);
  return out;
}

/// Articulated inertia of the free base, factorised.
template <class T, class Const>
KANSETSU_HD void factor_base(const TreeViewOf<Const>& tree, const BodyForces<T>& forces, ArticulatedTree<T>& art) {
  art.P[0] = collected_inertia(tree.bodies[0], 0, art.P);
  art.Z[0] = collected_bias(tree.bodies[0], 0, forces, art.Z);
  const T angular = trace(art.P[0].A), linear = trace(art.P[0].M);
  *art.base = factor(art.P[0], T(kPivotNoise<T>) * select(angular < linear, angular, linear));
  for (int k = 0; k < 6; ++k) art.singular[k] = art.base->dropped;
}

/// Inward sweep over the inertias and bias forces, tips to base. docs/theory/aba.md; groups: docs/theory/gears.md.
template <class T, class Const>
KANSETSU_HD void eliminate(const TreeViewOf<Const>& tree, const Posture<T>& posture, const BodyForces<T>& forces,
                           const T* u, const T* tau, ArticulatedTree<T>& art) {
  for (int n = tree.step_count - 1; n >= 0; --n) {
    const Step& step = tree.steps[n];
    if (step.group >= 0) {
      eliminate_group(tree, step, posture, forces, u, tau, art.P, art.Z, art.group, art.singular);
      continue;
    }
    switch (tree.bodies[step.body].aligned_axis) {
      case 0:
        eliminate_hinge<0>(tree, step, posture, forces, u, tau, art.P, art.Z, art.hinge, art.singular);
        break;
      case 1:
        eliminate_hinge<1>(tree, step, posture, forces, u, tau, art.P, art.Z, art.hinge, art.singular);
        break;
      default:
        eliminate_hinge<2>(tree, step, posture, forces, u, tau, art.P, art.Z, art.hinge, art.singular);
        break;
    }
  }
  if (tree.free_base) factor_base(tree, forces, art);
}

/// Outward sweep: accelerations from base to tips. docs/theory/aba.md; groups: docs/theory/gears.md.
/// @param A  in: A[0] if the base is free; out: acceleration of every body, in B, apparent if A_ground is
template <class T, class Const>
KANSETSU_HD void substitute(const TreeViewOf<Const>& tree, const Posture<T>& posture, const Motion<T>* V, const T* u,
                            const Motion<T>& A_ground, const ArticulatedTree<T>& art, Motion<T>* A, T* vdot) {
  for (int n = 0; n < tree.step_count; ++n) {
    const Step& step = tree.steps[n];
    if (step.group >= 0) {
      const Group& g = tree.groups[step.group];
      substitute_group(tree, g, g.parent < 0 ? A_ground : A[g.parent], art.group, A, vdot);
      continue;
    }
    const BodyOf<Const>& b = tree.bodies[step.body];
    const Motion<T>& A_P = b.parent < 0 ? A_ground : A[b.parent];
    switch (b.aligned_axis) {
      case 0:
        substitute_hinge<0>(tree, step.body, posture, V, u, A_P, art.hinge, A, vdot);
        break;
      case 1:
        substitute_hinge<1>(tree, step.body, posture, V, u, A_P, art.hinge, A, vdot);
        break;
      default:
        substitute_hinge<2>(tree, step.body, posture, V, u, A_P, art.hinge, A, vdot);
        break;
    }
  }
}

/// The articulated-body algorithm with coupling groups. [Tazz13] §2.4, docs/theory/aba.md.
///
/// Gravity is an upward acceleration of the ground, so A is apparent; for a free base it is subtracted at the end.
///
/// Symbols   V[i] = V_WB_B   P, Z = articulated inertia and bias wrench in B   A[i] = A_WB_B − g
template <class T, class Const>
KANSETSU_HD void aba(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u, const T* tau,
                     const Force<T>* fext, Motion<T>* V, ArticulatedTree<T>& art, Motion<T>* A, T* vdot) {
  velocities(tree, posture, u, V);
  eliminate(tree, posture, BodyForces<T>{V, fext}, u, tau, art);
  const Vec3<T> zero{T(0), T(0), T(0)};
  const Motion<T> A_ground{zero, lift<T>(-tree.gravity)};
  if (tree.free_base) {
    const Force<T> F{{tau[0], tau[1], tau[2]}, {tau[3], tau[4], tau[5]}};
    A[0] = solve(*art.base, F - art.Z[0]);
    const Vec3<T> lift_off = A[0].v - transpose_times(posture.X_PB[0].R, A_ground.v);
    vdot[0] = A[0].w.x, vdot[1] = A[0].w.y, vdot[2] = A[0].w.z;
    vdot[3] = lift_off.x, vdot[4] = lift_off.y, vdot[5] = lift_off.z;
  }
  substitute(tree, posture, V, u, A_ground, art, A, vdot);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
