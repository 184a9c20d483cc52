#pragma once

#include "kinematics/entry.h"

/// Dynamics link by link, fixed joints included: here links that the compiled tree has merged into a body are separate again.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Velocity and apparent acceleration of a link, in its own frame.
template <class T>
struct LinkMotion {
  Motion<T> V, A;
  KANSETSU_HD LinkMotion(const LinkPlacement& link, const Motion<T>* V_B, const Motion<T>* A_B,
                         const Motion<T>& A_ground)
      : V(inverse_times(lift<T>(link.X_BL), link.body < 0 ? zero() : V_B[link.body])),
        A(inverse_times(lift<T>(link.X_BL), link.body < 0 ? A_ground : A_B[link.body])) {}
  KANSETSU_HD static Motion<T> zero() { return {{T(0), T(0), T(0)}, {T(0), T(0), T(0)}}; }
};

/// Inertia with a single inertial parameter equal to one: m, m·c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
template <class T>
KANSETSU_HD Inertia<T> unit_inertia(int k) {
  const auto is = [k](int i) { return T(k == i); };
  return {is(0), {is(1), is(2), is(3)}, {is(4), is(5), is(7), is(6), is(8), is(9)}};
}

template <class T, class Const>
KANSETSU_HD void regressor(const TreeViewOf<Const>& tree, const Posture<T>& posture, const LinkPlacement* links,
                           int link_count, const Motion<T>* V, const Motion<T>* A, const Motion<T>& A_ground, T* Y) {
  for (int i = 0; i < 10 * link_count * tree.nv; ++i) Y[i] = T(0);
  for (int l = 0; l < link_count; ++l) {
    if (links[l].body < 0) continue;
    const LinkMotion<T> motion(links[l], V, A, A_ground);
    for (int k = 0; k < 10; ++k) {
      const Inertia<T> M = unit_inertia<T>(k);
      Force<T> F = lift<T>(links[l].X_BL) * (M * motion.A + cross(motion.V, M * motion.V));
      T* column = Y + (10 * l + k) * tree.nv;
      for (int i = links[l].body; i >= 0; i = tree.bodies[i].parent) {
        const BodyOf<Const>& b = tree.bodies[i];
        T torque[6] = {};
        with_joint(b, posture, i, [&](const auto& joint) {
          joint.project(F, torque);
          F = joint.to_parent(F);
        });
        for (int r = 0; r < b.nu; ++r) {
          for (int t = tree.rows[b.u + r].begin; t < tree.rows[b.u + r].end; ++t) {
            T& entry = column[tree.terms[t].column];
            entry = madd(T(tree.terms[t].ratio), torque[r], entry);
          }
        }
      }
    }
  }
}

/// Newton–Euler per link, summed from the tips in world axes at each link's origin.
template <class T>
KANSETSU_HD void reactions(const LinkPlacement* links, const int* parents, int link_count, const Transform<T>* X_WB,
                           const Motion<T>* V, const Motion<T>* A, const Motion<T>& A_ground, const Force<T>* fext,
                           Transform<T>* X_WL, Force<T>* F) {
  for (int l = 0; l < link_count; ++l) {
    const Transform<T> X_BL = lift<T>(links[l].X_BL);
    X_WL[l] = links[l].body < 0 ? X_BL : X_WB[links[l].body] * X_BL;
    const LinkMotion<T> motion(links[l], V, A, A_ground);
    const Inertia<T> M = lift<T>(links[l].M_L);
    const Force<T> own = M * motion.A + cross(motion.V, M * motion.V);
    F[l] = {X_WL[l].R * own.t, X_WL[l].R * own.f};
    if (fext) F[l] -= fext[l];
  }
  for (int l = link_count - 1; l > 0; --l) {
    const int p = parents[l];
    const Vec3<T> arm = X_WL[l].p - X_WL[p].p;
    F[p] += Force<T>{add_cross(F[l].t, arm, F[l].f), F[l].f};
    F[l] = {transpose_times(X_WL[l].R, F[l].t), transpose_times(X_WL[l].R, F[l].f)};
  }
  F[0] = {transpose_times(X_WL[0].R, F[0].t), transpose_times(X_WL[0].R, F[0].f)};
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
