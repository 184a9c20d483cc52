#pragma once

#include "dynamics/aba_kernel.h"
#include "dynamics/crba_kernel.h"
#include "dynamics/derivatives_kernel.h"
#include "dynamics/reduced_matrix.h"
#include "dynamics/rnea_kernel.h"
#include "kinematics/entry.h"

/// The recursions over bodies and groups, for every tree; input and output are vectors of the user's coordinates. They serve
/// one state, packs of states, packs with inertias per state, and threads of a device.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// @param tau_tree  torques of the tree coordinates; may be null   @param tau  those of v; null if only tau_tree is needed
template <class T, class Const>
KANSETSU_HD void general_rnea(const TreeViewOf<Const>& tree, const scalar_t<T>* q, const scalar_t<T>* v,
                              const scalar_t<T>* a, const Force<T>* fext, void* scratch, T* tau, T* tau_tree) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  const T* a_tree = frame.expanded(tree, a);
  Motion<T>* V = frame.template take<Motion<T>>(tree.body_count);
  Motion<T>* A = frame.template take<Motion<T>>(tree.body_count);
  Force<T>* F = frame.template take<Force<T>>(tree.body_count);
  T* torque = tau_tree ? tau_tree : frame.template take<T>(tree.nu);
  rnea(tree, frame.posture, u, a_tree, fext, V, A, F, torque);
  if (tau) reduce(tree, torque, tau);
}

/// @param singular  per column of v: 1 if its projected inertia vanished; may be null
template <class T, class Const>
KANSETSU_HD void general_aba(const TreeViewOf<Const>& tree, const scalar_t<T>* q, const scalar_t<T>* v, const T* tau,
                             const Force<T>* fext, void* scratch, T* vdot, T* singular) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  Motion<T>* V = frame.template take<Motion<T>>(tree.body_count);
  Motion<T>* A = frame.template take<Motion<T>>(tree.body_count);
  ArticulatedTree<T> art = carve_articulated(tree, frame.carver);
  if (singular) art.singular = singular;
  aba(tree, frame.posture, u, tau, fext, V, art, A, vdot);
}

/// @param M  nv × nv numbers, all zero: a pointer or any type with an operator[]
template <class T, class Const, class Matrix>
KANSETSU_HD void general_crba(const TreeViewOf<Const>& tree, const scalar_t<T>* q, void* scratch, const Matrix& M) {
  Frame<T> frame(tree, q, scratch);
  Inertia<T>* C = frame.template take<Inertia<T>>(tree.body_count);
  crba(tree, frame.posture, C, [&](int k, int l, const T& value) {
    add_reduced(tree, k, l, value, M);
    if (k != l) add_reduced(tree, l, k, value, M);
  });
}

/// Each entry of the lower triangle goes to its slot. With gears a tree entry (k, l) feeds several places, and one on or below
/// the diagonal twice if k and l meet there.
template <class T, class Const>
KANSETSU_HD void general_crba_sparse(const TreeViewOf<Const>& tree, const scalar_t<T>* q, void* scratch,
                                     const int* slot, int value_count, T* out) {
  Frame<T> frame(tree, q, scratch);
  Inertia<T>* C = frame.template take<Inertia<T>>(tree.body_count);
  for (int i = 0; i < value_count; ++i) out[i] = T(0);
  crba(tree, frame.posture, C, [&](int k, int l, const T& value) {
    for (int s = tree.rows[k].begin; s < tree.rows[k].end; ++s) {
      for (int t = tree.rows[l].begin; t < tree.rows[l].end; ++t, ++slot) {
        const CoordinateTermOf<Const>&a = tree.terms[s], &b = tree.terms[t];
        const int twice = k != l && a.column == b.column ? 2 : 1;
        const int once = k == l && a.column < b.column ? 0 : twice;  // (a, b) and (b, a) of one row are one entry
        out[*slot] = madd(T(Const(scalar_t<T>(once)) * a.ratio * b.ratio), value, out[*slot]);
      }
    }
  });
}

/// @param by_q, by_v, by_a  called with row, column and value of every entry over tree coordinates; of M only those on and
///                          above the diagonal
template <class T, class Const, class ByQ, class ByV, class ByA>
KANSETSU_HD void general_rnea_derivatives(const TreeViewOf<Const>& tree, const scalar_t<T>* q, const scalar_t<T>* v,
                                          const scalar_t<T>* a, const ExternalWrench<T>* fext, void* scratch,
                                          const ByQ& by_q, const ByV& by_v, const ByA& by_a) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  const T* a_tree = frame.expanded(tree, a);
  DerivativeScratch<T> w = carve_derivatives(tree, frame.carver);
  rnea_derivatives(tree, frame.posture, u, a_tree, fext, w, by_q, by_v, by_a);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
