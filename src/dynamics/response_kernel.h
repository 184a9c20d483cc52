#pragma once

#include "dynamics/aba_kernel.h"

/// Responses of a tree whose inertias have been eliminated once: what a wrench on one body, or a torque on one
/// coordinate, does to all the others. Seed 000 §2.8, spec/dynamics.md §6: the operators T and S are applied along the
/// paths, never formed. No velocity, no gravity: responses are differences.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Articulated inertias of the posture, with all forces zero.
template <class T>
KANSETSU_HD void factorise(const TreeView& tree, const Posture<T>& posture, ArticulatedTree<T>& art, Motion<T>* V_zero,
                           T* u_zero, T* tau_zero) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int i = 0; i < tree.body_count; ++i) V_zero[i] = {zero, zero};
  for (int k = 0; k < tree.nu; ++k) u_zero[k] = T(0);
  for (int k = 0; k < tree.nv; ++k) tau_zero[k] = T(0);
  eliminate(tree, posture, BodyForces<T>{V_zero, nullptr}, u_zero, tau_zero, art);
}

/// dẐ of a hinge's parent for dẐ = Z on its body: Tᵀ·Z, with the torque r = dτ − Sᵀ·Z it meets.
template <int AX, class T>
KANSETSU_HD Force<T> pass_hinge(const Body& b, int i, const Posture<T>& posture, const HingeFactor<T>& factor,
                                const Force<T>& Z, const T& r) {
  const AlignedHinge<T, AX> joint{posture.c[i], posture.s[i], lift<T>(b.X_PJ.p)};
  const Force<T> k = (factor.D_inv * r) * factor.U;
  return joint.to_parent(Force<T>{Z.t + from_z<AX>(k.t), Z.f + from_z<AX>(k.f)});
}

/// dẐ = Z on member m of a group meets its coordinates; returns Z as the group's parent sees it.
template <class T>
KANSETSU_HD Force<T> enter_group(const TreeView& tree, const Group& g, const GroupFactor<T>& f, int m, const Force<T>& Z,
                                 T* r) {
  for (int k = 0; k < g.d; ++k) {
    T& torque = r[tree.group_columns[g.columns + k]];
    torque = torque - dot(f.J[m * g.d + k], Z);
  }
  return f.X[m] * Z;
}
/// Adds what the coordinates of a group answer, r ← L⁻¹·r.
template <class T>
KANSETSU_HD Force<T> leave_group(const TreeView& tree, const Group& g, const GroupFactor<T>& f, Force<T> Z, T* r) {
  const int* columns = tree.group_columns + g.columns;
  for (int k = 0; k < g.d; ++k) {
    for (int l = 0; l < k; ++l) r[columns[k]] = msub(f.L[k * g.d + l], r[columns[l]], r[columns[k]]);
    Z = madd(f.D_inv[k] * r[columns[k]], f.K[k], Z);
  }
  return Z;
}
/// The same with wrenches on all members at once.
template <class T>
KANSETSU_HD Force<T> climb_group(const TreeView& tree, const Group& g, const ArticulatedTree<T>& art, const Force<T>* Z,
                                 T* r) {
  const GroupFactor<T> f(g, art.group);
  Force<T> sum{{T(0), T(0), T(0)}, {T(0), T(0), T(0)}};
  for (int m = 0; m < g.member_count; ++m) sum += enter_group(tree, g, f, m, Z[tree.group_members[g.members + m]], r);
  return leave_group(tree, g, f, sum, r);
}

/// Climbs over step n. Z acts on body i of that step (ignored if i < 0), r holds the step's torques in its columns and
/// receives what they become; returns dẐ on the step's parent.
template <class T>
KANSETSU_HD Force<T> climb(const TreeView& tree, const Posture<T>& posture, const ArticulatedTree<T>& art, int n, int i,
                           const Force<T>& Z, T* r) {
  const Step& step = tree.steps[n];
  if (step.group < 0) {
    const Body& b = tree.bodies[step.body];
    const int axis = b.aligned_axis;
    T& torque = r[tree.terms[tree.rows[b.u].begin].column];
    torque = torque - (axis == 0 ? Z.t.x : axis == 1 ? Z.t.y : Z.t.z);
    const HingeFactor<T>& factor = art.hinge[step.body];
    if (axis == 0) return pass_hinge<0>(b, step.body, posture, factor, Z, torque);
    if (axis == 1) return pass_hinge<1>(b, step.body, posture, factor, Z, torque);
    return pass_hinge<2>(b, step.body, posture, factor, Z, torque);
  }
  const Group& g = tree.groups[step.group];
  const GroupFactor<T> f(g, art.group);
  Force<T> out = Z;
  for (int m = 0; m < g.member_count; ++m) {
    if (tree.group_members[g.members + m] == i) out = enter_group(tree, g, f, m, Z, r);
  }
  return leave_group(tree, g, f, out, r);
}

/// Torque about a tree's hinge is in hinge direction; columns carry the user's sign.
template <class T>
KANSETSU_HD T column_sign(const TreeView& tree, const Step& step) {
  return step.group >= 0 ? T(1) : T(tree.terms[tree.rows[tree.bodies[step.body].u].begin].ratio);
}

/// Goes down over step n: accelerations of its bodies, and of its columns into vdot, for the torques r left by climb().
template <class T>
KANSETSU_HD void descend(const TreeView& tree, const Posture<T>& posture, const ArticulatedTree<T>& art, int n,
                         const Motion<T>& A_P, const T* r, Motion<T>* A, T* vdot) {
  const Step& step = tree.steps[n];
  if (step.group < 0) {
    const int i = step.body;
    const Body& b = tree.bodies[i];
    const HingeFactor<T>& factor = art.hinge[i];
    const int column = tree.terms[tree.rows[b.u].begin].column;
    const auto go = [&]<int AX>(const AlignedHinge<T, AX>& joint) {
      Motion<T> A_B = joint.to_child(A_P);
      const T y = factor.D_inv * (r[column] - dot(Motion<T>{to_z<AX>(A_B.w), to_z<AX>(A_B.v)}, factor.U));
      joint.add_rate(&y, A_B);
      A[i] = A_B;
      vdot[column] = column_sign<T>(tree, step) * y;
    };
    const Vec3<T> p = lift<T>(b.X_PJ.p);
    if (b.aligned_axis == 0) go(AlignedHinge<T, 0>{posture.c[i], posture.s[i], p});
    if (b.aligned_axis == 1) go(AlignedHinge<T, 1>{posture.c[i], posture.s[i], p});
    if (b.aligned_axis == 2) go(AlignedHinge<T, 2>{posture.c[i], posture.s[i], p});
    return;
  }
  const Group& g = tree.groups[step.group];
  const GroupFactor<T> f(g, art.group);
  const int* columns = tree.group_columns + g.columns;
  for (int k = g.d - 1; k >= 0; --k) {
    T y = f.D_inv[k] * (r[columns[k]] - dot(A_P, f.K[k]));
    for (int l = k + 1; l < g.d; ++l) y = msub(f.L[l * g.d + k], vdot[columns[l]], y);
    vdot[columns[k]] = y;
  }
  for (int m = 0; m < g.member_count; ++m) {
    Motion<T> A_B = inverse_times(f.X[m], A_P);
    for (int k = 0; k < g.d; ++k) A_B = madd(vdot[columns[k]], f.J[m * g.d + k], A_B);
    A[tree.group_members[g.members + m]] = A_B;
  }
}

/// Carries dẐ = Z on body i, or torques already in r (then n is their step and i = −1), to the base; leaves the base's
/// acceleration in A[0] and vdot if it is free.
template <class T>
KANSETSU_HD void ascend(const TreeView& tree, const Posture<T>& posture, const ArticulatedTree<T>& art, int n, int i,
                        Force<T> Z, T* r, Motion<T>* A, T* vdot) {
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
template <class T>
KANSETSU_HD void descend_all(const TreeView& tree, const Posture<T>& posture, const ArticulatedTree<T>& art, int last,
                             const T* r, Motion<T>* A, T* vdot) {
  const Motion<T> A_ground{{T(0), T(0), T(0)}, {T(0), T(0), T(0)}};
  for (int m = 0; m <= last; ++m) {
    const int p = tree.steps[m].parent;
    descend(tree, posture, art, m, p < 0 ? A_ground : A[p], r, A, vdot);
  }
}

/// M⁻¹ column by column, without forming M: torque in, accelerations out, the other triangle by symmetry.
/// @param out  nv × nv
template <class T>
KANSETSU_HD void mass_matrix_inverse(const TreeView& tree, const Posture<T>& posture, const ArticulatedTree<T>& art, T* r,
                                     Motion<T>* A, T* vdot, T* out) {
  const int nv = tree.nv;
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int k = 0; k < nv; ++k) r[k] = T(0);
  if (tree.free_base) {
    for (int k = 0; k < 6; ++k) {
      T x[6] = {T(k == 0), T(k == 1), T(k == 2), T(k == 3), T(k == 4), T(k == 5)};
      art.base->solve(x);
      for (int l = 0; l < 6; ++l) out[k * nv + l] = x[l];
    }
  }
  for (int n = 0; n < tree.step_count; ++n) {
    const Step& step = tree.steps[n];
    const bool hinge = step.group < 0;
    const int hinge_column = hinge ? tree.terms[tree.rows[tree.bodies[step.body].u].begin].column : 0;
    const int d = hinge ? 1 : tree.groups[step.group].d;
    const int* columns = hinge ? &hinge_column : tree.group_columns + tree.groups[step.group].columns;
    for (int k = 0; k < d; ++k) {
      r[columns[k]] = column_sign<T>(tree, step);
      ascend(tree, posture, art, n, -1, Force<T>{zero, zero}, r, A, vdot);
      descend_all(tree, posture, art, n, r, A, vdot);
      const auto store = [&](int column) {
        out[columns[k] * nv + column] = out[column * nv + columns[k]] = vdot[column];
        r[column] = T(0);
      };
      if (tree.free_base) {
        for (int l = 0; l < 6; ++l) store(l);
      }
      for (int m = 0; m <= n; ++m) {
        const Step& other = tree.steps[m];
        if (other.group < 0) {
          store(tree.terms[tree.rows[tree.bodies[other.body].u].begin].column);
        } else {
          const Group& g = tree.groups[other.group];
          for (int l = 0; l < g.d; ++l) store(tree.group_columns[g.columns + l]);
        }
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

  KANSETSU_HD Factor(const TreeView& tree, void* block)
      : carver(block), posture(carve_posture(tree, carver)), art(carve_articulated(tree, carver)) {
    A = carver.template take<Motion<T>>(tree.body_count);
    u = carver.template take<T>(tree.nu);
    r = carver.template take<T>(tree.nv);
    vdot = carver.template take<T>(tree.nv);
    path = carver.take_ints(tree.step_count);
  }
};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
