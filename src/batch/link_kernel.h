#pragma once

#include "kansetsu/spatial/inertia.h"
#include "model/tree.h"

/// The links of the user on the bodies of the tree: poses out, wrenches and inertias in.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// X_WL of the links whose frame differs from their body's; the others have the pose of the body.
template <class T>
KANSETSU_HD void link_poses(const LinkPlacement* links, const int* moved, int moved_count, const Transform<T>* X_WB,
                            Transform<T>* X_WL) {
  for (int i = 0; i < moved_count; ++i) {
    const LinkPlacement& link = links[moved[i]];
    const Transform<T> X_BL = lift<T>(link.X_BL);
    X_WL[i] = link.body < 0 ? X_BL : X_WB[link.body] * X_BL;
  }
}

/// Sums of wrenches on the bodies in body frames, from wrenches at the links' origins in world axes.
template <class T>
KANSETSU_HD void body_wrenches(const LinkPlacement* links, int link_count, int body_count, const Transform<T>* X_WB,
                               const Force<T>* wrenches, Force<T>* out) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int i = 0; i < body_count; ++i) out[i] = {zero, zero};
  for (int l = 0; l < link_count; ++l) {
    const LinkPlacement& link = links[l];
    if (link.body < 0) continue;
    const Mat3<T>& R_WB = X_WB[link.body].R;
    const Vec3<T> t = transpose_times(R_WB, wrenches[l].t), f = transpose_times(R_WB, wrenches[l].f);
    out[link.body] += Force<T>{add_cross(t, lift<T>(link.X_BL.p), f), f};
  }
}

/// Inertias of the bodies from those of the links, ten numbers each: [m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz].
/// Returns a number that is zero in lanes where the massless bodies of the tree have zero inertia.
template <class T>
KANSETSU_HD T body_inertias(const LinkPlacement* links, int link_count, const T* parameters, int body_count,
                            BodyOf<T>* bodies) {
  const T zero = T(0);
  for (int i = 0; i < body_count; ++i) {
    bodies[i].M_B = {zero, {zero, zero, zero}, {zero, zero, zero, zero, zero, zero}};
  }
  for (int l = 0; l < link_count; ++l, parameters += 10) {
    if (links[l].body < 0) continue;
    const T* p = parameters;
    const Inertia<T> M_L{p[0], {p[1], p[2], p[3]}, {p[4], p[5], p[7], p[6], p[8], p[9]}};
    Inertia<T>& M_B = bodies[links[l].body].M_B;
    M_B = M_B + lift<T>(links[l].X_BL) * M_L;
  }
  T stray = zero;
  for (int i = 0; i < body_count; ++i) {
    if (!bodies[i].massless) continue;
    const Inertia<T>& M = bodies[i].M_B;
    for (const T& x : {M.m, M.h.x, M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.xz, M.I.yy, M.I.yz, M.I.zz}) {
      stray = select(x == zero, stray, T(1));
    }
  }
  return stray;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
