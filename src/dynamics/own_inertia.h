#pragma once

#include "kinematics/joint_kernel.h"

/// A body's own inertia and bias force in the articulated-body recursion, computed where first needed instead of stored.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Velocities and external wrenches that the bias wrenches are made of.
template <class T>
struct BodyForces {
  const Motion<T>* V;
  const Force<T>* fext;  ///< in B; may be null

  /// V ×* M·V − fext
  template <class Const>
  KANSETSU_HD Force<T> bias(const BodyOf<Const>& b, int i) const {
    const Vec3<T> zero{T(0), T(0), T(0)};
    Force<T> Z{zero, zero};
    if (!b.massless) Z = cross(V[i], lift<T>(b.M_B) * V[i]);
    if (fext) Z -= fext[i];
    return Z;
  }
};

/// Rounding error of a recursion: projected inertia at or below this share of a body's own scale counts as zero.
template <class T>
inline constexpr scalar_t<T> kPivotNoise = scalar_t<T>(sizeof(scalar_t<T>) == 8 ? 1e-13 : 5e-5);
template <class T>
KANSETSU_HD T trace(const Sym3<T>& A) {
  return A.xx + A.yy + A.zz;
}

/// P̂ and Ẑ of body i: the sum deposited by its children, or its own if it has none.
template <class T, class Const>
KANSETSU_HD ArticulatedInertia<T> collected_inertia(const BodyOf<Const>& b, int i, const ArticulatedInertia<T>* P) {
  return b.leaf ? to_articulated(lift<T>(b.M_B)) : P[i];
}
template <class T, class Const>
KANSETSU_HD Force<T> collected_bias(const BodyOf<Const>& b, int i, const BodyForces<T>& forces, const Force<T>* Z) {
  return b.leaf ? forces.bias(b, i) : Z[i];
}

/// Adds the result of a step to its parent; the first step of a parent also adds the parent's own inertia and bias force.
template <class T, class Const>
KANSETSU_HD void deposit(const TreeViewOf<Const>& tree, const Step& step, const BodyForces<T>& forces,
                         const ArticulatedInertia<T>& P_step, const Force<T>& Z_step, ArticulatedInertia<T>* P,
                         Force<T>* Z) {
  const int p = step.parent;
  if (!step.opens) {
    P[p] += P_step;
    Z[p] += Z_step;
    return;
  }
  const BodyOf<Const>& b = tree.bodies[p];
  if (b.massless) {
    P[p] = P_step;
  } else {
    const Inertia<T> M = lift<T>(b.M_B);
    P[p] = {P_step.A + M.I, P_step.B + skew(M.h), P_step.M + Sym3<T>::diagonal(M.m, M.m, M.m)};
  }
  Z[p] = Z_step + forces.bias(b, p);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
