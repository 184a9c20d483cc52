#pragma once

#include "kinematics/kernel_table.h"
#include "kinematics/world_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A column of a frame's Jacobian and its rate. From O (world axes, fixed point) to the frame F:
///   at the world's origin      shift by a constant
///   local, world-aligned       shift to Fo, which moves with velocity v_F
///   local                      … and turn into F's axes, which turn with w_F
template <class T>
struct FrameView {
  Axes axes;
  Vec3<T> r;         ///< from O to the point the column refers to
  Mat3<T> R;         ///< R_WF
  Vec3<T> w_F, v_F;  ///< velocity of F, world axes

  KANSETSU_HD Motion<T> column(const Motion<T>& S) const {
    const Motion<T> J{S.w, add_cross(S.v, S.w, r)};
    if (axes != Axes::kLocal) return J;
    return {transpose_times(R, J.w), transpose_times(R, J.v)};
  }
  KANSETSU_HD Motion<T> rate(const Motion<T>& S, const Motion<T>& S_dot) const {
    Motion<T> D{S_dot.w, add_cross(S_dot.v, S_dot.w, r)};
    if (axes == Axes::kWorld) return D;
    D.v = add_cross(D.v, S.w, v_F);
    if (axes == Axes::kLocalWorldAligned) return D;
    const Vec3<T> J_v = add_cross(S.v, S.w, r);
    return {transpose_times(R, D.w - cross(w_F, S.w)), transpose_times(R, D.v - cross(w_F, J_v))};
  }
};

/// @param S  subspaces in O   @param V  velocities in O, null if J_dot is
/// @param O  position of O in the world
template <class T, class Const>
KANSETSU_HD void jacobian(const TreeViewOf<Const>& tree, const Transform<T>* X, const Motion<T>* S, const Motion<T>* V,
                          const Vec3<T>& O, int body, const Transform<>& X_BF, Axes axes, Motion<T>* J,
                          Motion<T>* J_dot) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int k = 0; k < tree.nv; ++k) {
    J[k] = {zero, zero};
    if (J_dot) J_dot[k] = {zero, zero};
  }
  if (body < 0) return;
  const Transform<T> X_OF = X[body] * lift<T>(X_BF);
  FrameView<T> view{axes, axes == Axes::kWorld ? -O : X_OF.p, X_OF.R, zero, zero};
  if (V) {
    view.w_F = V[body].w;
    view.v_F = add_cross(V[body].v, V[body].w, X_OF.p);
  }
  for (int i = body; i >= 0; i = tree.bodies[i].parent) {
    const BodyOf<Const>& b = tree.bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const Motion<T> column = view.column(S[k]);
      for (int t = tree.rows[k].begin; t < tree.rows[k].end; ++t) {
        const CoordinateTermOf<Const>& term = tree.terms[t];
        J[term.column] = madd(T(term.ratio), column, J[term.column]);
        if (J_dot && V) {
          J_dot[term.column] = madd(T(term.ratio), view.rate(S[k], cross(V[i], S[k])), J_dot[term.column]);
        }
      }
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
