#pragma once

#include "dynamics/node_kernel.h"

/// The recursive Newton–Euler algorithm over nodes. [RBDA] Table 5.1, body coordinates. Along a chain motions and wrenches stay
/// in registers, and nodes without mass have no wrench of their own.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Inward: torques from the wrenches `own` of the nodes. rotor·a is added.
template <class T, class Const>
KANSETSU_HD void gather_torques(const NodeTreeViewOf<Const>& tree, const NodeState<T>& state, const Force<T>* own,
                                bool all_own, const T* a, Force<T>* meeting, T* tau) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int g = 0; g < tree.gather_count; ++g) meeting[g] = {zero, zero};
  Force<T> F{zero, zero};
  for (int i = tree.node_count - 1; i >= 0; --i) {
    const NodeOf<Const>& node = tree.nodes[i];
    const int u = node.u;
    if (node.gathers >= 0)
      F = meeting[node.gathers];
    else if (node.leaf)
      F = {zero, zero};
    if (all_own || !node.massless) F += own[i];
    if (node.kind == NodeKind::kFree) {
      const T* f = &F.t.x;
      for (int k = 0; k < 6; ++k) tau[u + k] = f[k];
      continue;
    }
    with_node(node, state, [&](const auto& joint) KANSETSU_INLINE_LAMBDA {
      joint.project(F, tau + u);
      if (node.parent >= 0) F = joint.to_parent_axes(F);
    });
    for (int k = 0; k < node.n; ++k) tau[u + k] = madd(lift<T>(node.rotor[k]), a[u + k], tau[u + k]);
    if (node.parent < 0) continue;
    F = at_parent(node, F);
    if (node.from >= 0) meeting[node.from] += F;
  }
}

/// Outward: motions of the nodes, and their inertial wrenches. A_ground: gravity as an upward acceleration.
template <class T, class Const, class External>
KANSETSU_HD void node_wrenches(const NodeTreeViewOf<Const>& tree, const NodeState<T>& state, const Vec3<T>& A_ground,
                               const T* a, const External& external, Drift<T>* meeting, Force<T>* own) {
  Drift<T> ground = at_rest<T>();
  ground.a = A_ground;
  Drift<T> m = ground;
  for (int i = 0; i < tree.node_count; ++i) {
    const NodeOf<Const>& node = tree.nodes[i];
    take_from_parent(node, ground, meeting, m);
    const T *u = state.u + node.u, *r = a + node.u;
    if (node.kind == NodeKind::kFree) {
      const Vec3<T> lift_off = transpose_times(state.X_base.R, A_ground);
      m.w = {u[0], u[1], u[2]};
      m.e = {r[0], r[1], r[2]};
      m.a = add_cross(lift_off + Vec3<T>{r[3], r[4], r[5]}, m.w, Vec3<T>{u[3], u[4], u[5]});
    } else {
      go_to_node(node, m);
      with_node(node, state, [&](const auto& joint) KANSETSU_INLINE_LAMBDA {
        pass_joint(joint, u, m);
        joint.add_rate(r, m.e);
      });
    }
    if (node.gathers >= 0) meeting[node.gathers] = m;
    put_wrench(node, m, external, own[i]);
  }
}

/// Inverse dynamics of states of any number type. v, a and fext (per body, in B) may be null.
template <class T, class Const>
KANSETSU_HD void node_rnea(const NodeTreeViewOf<Const>& tree, const Vec3<Const>& gravity, const T* q, const T* v,
                           const T* a, const Force<T>* fext, void* scratch, T* tau) {
  Carver<T> carver(scratch);
  NodeState<T> state = carve_state(tree, carver);
  T* u_memory = carver.template take<T>(tree.coordinate_count);
  T* a_memory = carver.template take<T>(tree.coordinate_count);
  T* torque = tree.in_order ? tau : carver.template take<T>(tree.coordinate_count);
  Force<T>* own = carver.template take<Force<T>>(tree.node_count);
  Drift<T>* drift = carver.template take<Drift<T>>(tree.gather_count);
  Force<T>* meeting = carver.template take<Force<T>>(tree.gather_count);
  load_posture(tree, q, state);
  load_balls(tree, q, state);
  state.u = gather_coordinates(tree, v, u_memory);
  const T* rate = gather_coordinates(tree, a, a_memory);
  const Vec3<T> A_ground = lift<T>(-gravity);
  if (fext)
    node_wrenches(
        tree, state, A_ground, rate, [&](const NodeOf<Const>& node) { return fext[node.body[0]]; }, drift, own);
  else
    node_wrenches(tree, state, A_ground, rate, nullptr, drift, own);
  gather_torques(tree, state, own, fext != nullptr, rate, meeting, torque);
  if (!tree.in_order) scatter_coordinates(tree, torque, tau);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
