#pragma once

#include "dynamics/aba_kernel.h"

/// Responses of a tree whose inertias have been eliminated once: the accelerations of all bodies per wrench on one body, or
/// per torque on one coordinate. [Tazz13] §2.8, docs/theory/response.md: the operators T and S are applied along the
/// paths, never formed. Velocity and gravity do not appear: responses are differences.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Articulated inertias of the posture, with all forces zero.
template <class T, class Const>
KANSETSU_HD void factorise(const TreeViewOf<Const>& tree, const Posture<T>& posture, ArticulatedTree<T>& art,
                           Motion<T>* V_zero, T* u_zero, T* tau_zero) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int i = 0; i < tree.body_count; ++i) V_zero[i] = {zero, zero};
  for (int k = 0; k < tree.nu; ++k) u_zero[k] = T(0);
  for (int k = 0; k < tree.nv; ++k) tau_zero[k] = T(0);
  eliminate(tree, posture, BodyForces<T>{V_zero, nullptr}, u_zero, tau_zero, art);
}

/// dẐ of a hinge's parent for dẐ = Z on its body: Tᵀ·Z, with the torque r = dτ − Sᵀ·Z of the hinge.
template <int AX, class T, class R, class Const>
KANSETSU_HD Force<R> pass_hinge(const BodyOf<Const>& b, int i, const Posture<T>& posture, const HingeFactor<T>& factor,
                                const Force<R>& Z, const R& r) {
  const AlignedHinge<R, AX> joint{R(posture.c[i]), R(posture.s[i]), lift<R>(b.X_PJ.p)};
  const Force<R> k = (R(factor.D_inv) * r) * lift<R>(factor.U);
  return joint.to_parent(Force<R>{Z.t + from_z<AX>(k.t), Z.f + from_z<AX>(k.f)});
}

/// Projects dẐ = Z on member m of a group onto its coordinates; returns Z in the group's parent.
template <class T, class R, class Const>
KANSETSU_HD Force<R> enter_group(const TreeViewOf<Const>& tree, const Group& g, const GroupFactor<T>& f, int m,
                                 const Force<R>& Z, R* r) {
  for (int k = 0; k < g.d; ++k) {
    R& torque = r[tree.group_columns[g.columns + k]];
    torque = torque - dot(lift<R>(f.J[m * g.d + k]), Z);
  }
  return lift<R>(f.X[m]) * Z;
}
/// Adds the response of the coordinates of a group, r ← L⁻¹·r.
template <class T, class R, class Const>
KANSETSU_HD Force<R> leave_group(const TreeViewOf<Const>& tree, const Group& g, const GroupFactor<T>& f, Force<R> Z,
                                 R* r) {
  const int* columns = tree.group_columns + g.columns;
  for (int k = 0; k < g.d; ++k) {
    for (int l = 0; l < k; ++l) r[columns[k]] = msub(R(f.L[k * g.d + l]), r[columns[l]], r[columns[k]]);
    Z = madd(R(f.D_inv[k]) * r[columns[k]], lift<R>(f.K[k]), Z);
  }
  return Z;
}
/// The same with wrenches on all members at once.
template <class T, class R, class Const>
KANSETSU_HD Force<R> climb_group(const TreeViewOf<Const>& tree, const Group& g, const ArticulatedTree<T>& art,
                                 const Force<R>* Z, R* r) {
  const GroupFactor<T> f(g, art.group);
  Force<R> sum{{R(0), R(0), R(0)}, {R(0), R(0), R(0)}};
  for (int m = 0; m < g.member_count; ++m) sum += enter_group(tree, g, f, m, Z[tree.group_members[g.members + m]], r);
  return leave_group(tree, g, f, sum, r);
}

/// Climbs over step n. Z acts on body i of that step (ignored if i < 0); r holds the step's torques in its columns and
/// receives the reduced ones. Returns dẐ on the step's parent.
template <class T, class R, class Const>
KANSETSU_HD Force<R> climb(const TreeViewOf<Const>& tree, const Posture<T>& posture, const ArticulatedTree<T>& art,
                           int n, int i, const Force<R>& Z, R* r) {
  const Step& step = tree.steps[n];
  if (step.group < 0) {
    const BodyOf<Const>& b = tree.bodies[step.body];
    const int axis = b.aligned_axis;
    R& torque = r[tree.terms[tree.rows[b.u].begin].column];
    torque = torque - (axis == 0 ? Z.t.x : axis == 1 ? Z.t.y : Z.t.z);
    const HingeFactor<T>& factor = art.hinge[step.body];
    if (axis == 0) return pass_hinge<0>(b, step.body, posture, factor, Z, torque);
    if (axis == 1) return pass_hinge<1>(b, step.body, posture, factor, Z, torque);
    return pass_hinge<2>(b, step.body, posture, factor, Z, torque);
  }
  const Group& g = tree.groups[step.group];
  const GroupFactor<T> f(g, art.group);
  Force<R> out = Z;
  for (int m = 0; m < g.member_count; ++m) {
    if (tree.group_members[g.members + m] == i) out = enter_group(tree, g, f, m, Z, r);
  }
  return leave_group(tree, g, f, out, r);
}

/// The torque about a hinge of the tree is in the direction of the hinge; columns have the user's sign.
template <class T, class Const>
KANSETSU_HD T column_sign(const TreeViewOf<Const>& tree, const Step& step) {
  return step.group >= 0 ? T(1) : T(tree.terms[tree.rows[tree.bodies[step.body].u].begin].ratio);
}

/// Descends over step n: accelerations of its bodies, and of its columns into vdot, for the torques r of climb().
template <class T, class R, class Const>
KANSETSU_HD void descend(const TreeViewOf<Const>& tree, const Posture<T>& posture, const ArticulatedTree<T>& art, int n,
                         const Motion<R>& A_P, const R* r, Motion<R>* A, R* vdot) {
  const Step& step = tree.steps[n];
  if (step.group < 0) {
    const int i = step.body;
    const BodyOf<Const>& b = tree.bodies[i];
    const HingeFactor<T>& factor = art.hinge[i];
    const int column = tree.terms[tree.rows[b.u].begin].column;
    const Force<R> U = lift<R>(factor.U);
    const auto go = [&]<int AX>(const AlignedHinge<R, AX>& joint) {
      Motion<R> A_B = joint.to_child(A_P);
      const R y = R(factor.D_inv) * (r[column] - dot(Motion<R>{to_z<AX>(A_B.w), to_z<AX>(A_B.v)}, U));
      joint.add_rate(&y, A_B);
      A[i] = A_B;
      vdot[column] = column_sign<R>(tree, step) * y;
    };
    const Vec3<R> p = lift<R>(b.X_PJ.p);
    const R c = R(posture.c[i]), s = R(posture.s[i]);
    if (b.aligned_axis == 0) go(AlignedHinge<R, 0>{c, s, p});
    if (b.aligned_axis == 1) go(AlignedHinge<R, 1>{c, s, p});
    if (b.aligned_axis == 2) go(AlignedHinge<R, 2>{c, s, p});
    return;
  }
  const Group& g = tree.groups[step.group];
  const GroupFactor<T> f(g, art.group);
  const int* columns = tree.group_columns + g.columns;
  for (int k = g.d - 1; k >= 0; --k) {
    R y = R(f.D_inv[k]) * (r[columns[k]] - dot(A_P, lift<R>(f.K[k])));
    for (int l = k + 1; l < g.d; ++l) y = msub(R(f.L[l * g.d + k]), vdot[columns[l]], y);
    vdot[columns[k]] = y;
  }
  for (int m = 0; m < g.member_count; ++m) {
    Motion<R> A_B = inverse_times(lift<R>(f.X[m]), A_P);
    for (int k = 0; k < g.d; ++k) A_B = madd(vdot[columns[k]], lift<R>(f.J[m * g.d + k]), A_B);
    A[tree.group_members[g.members + m]] = A_B;
  }
}

/// Carries dẐ = Z on body i, or torques already in r (then n is their step and i = −1), to the base; leaves the base's
/// acceleration in A[0] and vdot if it is free.
template <class T, class Const>
KANSETSU_HD void ascend(const TreeViewOf<Const>& tree, const Posture<T>& posture, const ArticulatedTree<T>& art, int n,
                        int i, Force<T> Z, T* r, Motion<T>* A, T* vdot) {
  for (; n >= 0; n = i < 0 ? -1 : tree.bodies[i].step) {
    Z = climb(tree, posture, art, n, i, Z, r);
    i = tree.steps[n].parent;
  }
  if (!tree.free_base) return;
  A[0] = solve(*art.base, -Z);
  vdot[0] = A[0].w.x, vdot[1] = A[0].w.y, vdot[2] = A[0].w.z;
  vdot[3] = A[0].v.x, vdot[4] = A[0].v.y, vdot[5] = A[0].v.z;
}

/// Accelerations of all bodies and columns of the steps 0 … last.
template <class T, class R, class Const>
KANSETSU_HD void descend_all(const TreeViewOf<Const>& tree, const Posture<T>& posture, const ArticulatedTree<T>& art,
                             int last, const R* r, Motion<R>* A, R* vdot) {
  const Motion<R> A_ground{{R(0), R(0), R(0)}, {R(0), R(0), R(0)}};
  for (int m = 0; m <= last; ++m) {
    const int p = tree.steps[m].parent;
    descend(tree, posture, art, m, p < 0 ? A_ground : A[p], r, A, vdot);
  }
}

/// Torques on any columns: one full sweep, tips to base and back. R may be a pack of right-hand sides for one posture.
/// @param Z  scratch, one per body   @param r  in: the torques; used up
template <class T, class R, class Const>
KANSETSU_HD void respond_to_torques(const TreeViewOf<Const>& tree, const Posture<T>& posture,
                                    const ArticulatedTree<T>& art, Force<R>* Z, R* r, Motion<R>* A, R* vdot) {
  const Vec3<R> zero{R(0), R(0), R(0)};
  for (int i = 0; i < tree.body_count; ++i) Z[i] = {zero, zero};
  for (int n = tree.step_count - 1; n >= 0; --n) {
    const Step& step = tree.steps[n];
    Force<R> up{zero, zero};
    if (step.group < 0) {
      R& torque = r[tree.terms[tree.rows[tree.bodies[step.body].u].begin].column];
      torque = column_sign<R>(tree, step) * torque;
      up = climb(tree, posture, art, n, step.body, Z[step.body], r);
    } else {
      up = climb_group(tree, tree.groups[step.group], art, Z, r);
    }
    if (step.parent >= 0) Z[step.parent] += up;
  }
  if (tree.free_base) {
    Ldlt<R, 6> base;
    for (int k = 0; k < Lower<R, 6>::size; ++k) base.l.a[k] = R(art.base->l.a[k]);
    const Force<R> F{{r[0], r[1], r[2]}, {r[3], r[4], r[5]}};
    A[0] = solve(base, F - Z[0]);
    vdot[0] = A[0].w.x, vdot[1] = A[0].w.y, vdot[2] = A[0].w.z;
    vdot[3] = A[0].v.x, vdot[4] = A[0].v.y, vdot[5] = A[0].v.z;
  }
  descend_all(tree, posture, art, tree.step_count - 1, r, A, vdot);
}

/// M⁻¹ without forming M: unit torques in, accelerations out. A single posture takes a register full of columns at a time.
/// @param out  nv × nv, a pointer or any type with an operator[]
template <class T, class Matrix, class Const>
KANSETSU_HD void mass_matrix_inverse(const TreeViewOf<Const>& tree, const Posture<T>& posture,
                                     const ArticulatedTree<T>& art, Carver<T>& carver, const Matrix& out) {
  constexpr bool kBlocks = kHasPacks && std::is_floating_point_v<T>;
  using R = std::conditional_t<kBlocks, NativePack<scalar_t<T>>, T>;
  constexpr int kWidth = int(sizeof(R) / sizeof(T));
  const int nv = tree.nv;
  Force<R>* Z = carver.template take<Force<R>>(tree.body_count);
  Motion<R>* A = carver.template take<Motion<R>>(tree.body_count);
  R* r = carver.template take<R>(nv);
  R* vdot = carver.template take<R>(nv);
  for (int first = 0; first < nv; first += kWidth) {
    const int count = nv - first < kWidth ? nv - first : kWidth;
    for (int k = 0; k < nv; ++k) r[k] = R(0);
    for (int c = 0; c < count; ++c) {
      if constexpr (kBlocks)
        r[first + c].set(c, T(1));
      else
        r[first] = T(1);
    }
    respond_to_torques(tree, posture, art, Z, r, A, vdot);
    for (int k = 0; k < nv; ++k) {
      for (int c = 0; c < count; ++c) {
        if constexpr (kBlocks)
          out[(first + c) * nv + k] = vdot[k][c];
        else
          out[first * nv + k] = vdot[k];
      }
    }
  }
}

/// Layout of a factor block: posture, articulated tree, then scratch of the calls that use them.
template <class T>
struct Factor {
  Carver<T> carver;
  Posture<T> posture;
  ArticulatedTree<T> art;
  Motion<T>* A;
  T *u, *r, *vdot;
  int* path;  ///< step_count entries

  template <class Const>
  KANSETSU_HD Factor(const TreeViewOf<Const>& tree, void* block)
      : carver(block), posture(carve_posture(tree, carver)), art(carve_articulated(tree, carver)) {
    A = carver.template take<Motion<T>>(tree.body_count);
    u = carver.template take<T>(tree.nu);
    r = carver.template take<T>(tree.nv);
    vdot = carver.template take<T>(tree.nv);
    path = carver.take_ints(tree.step_count);
  }
};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
