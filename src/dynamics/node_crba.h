#pragma once

#include "dynamics/node_kernel.h"

/// The composite-rigid-body algorithm over nodes, in body coordinates. [RBDA] Table 6.2. A hinge's column of the composite
/// inertia is there already, and its wrench is turned in a plane from ancestor to ancestor.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A wrench on a node as its parent sees it.
template <class T, class Const>
KANSETSU_HD Force<T> wrench_on_parent(const NodeOf<Const>& node, const NodeState<T>& state, const Force<T>& F) {
  const T &c = state.c[node.u], &s = state.s[node.u];
  Force<T> out;
  switch (node.kind) {
    case NodeKind::kHingeX:
      out = {turn<0>(c, s, F.t), turn<0>(c, s, F.f)};
      break;
    case NodeKind::kHingeY:
      out = {turn<1>(c, s, F.t), turn<1>(c, s, F.f)};
      break;
    case NodeKind::kHingeZ:
      out = {turn<2>(c, s, F.t), turn<2>(c, s, F.f)};
      break;
    case NodeKind::kHinge: {
      const Mat3<T> R0 = lift<T>(node.R0);
      out = {R0 * turn<2>(c, s, F.t), R0 * turn<2>(c, s, F.f)};
      break;
    }
    default: {
      const Mat3<T>& R = state.R[node.ball];
      out = {R * F.t, R * F.f};
    }
  }
  if (node.offset != Offset::kNone) out.t = add_cross(out.t, lift<T>(node.p), out.f);
  return out;
}

/// The same for the composite inertia.
template <int AX, class T>
KANSETSU_HD Inertia<T> turned_inertia(const T& c, const T& s, const Inertia<T>& M) {
  return {M.m, turn<AX>(c, s, M.h), from_z<AX>(TurnZ<T>(c, s)(to_z<AX>(M.I)))};
}
template <class T>
KANSETSU_HD Inertia<T> rotated_inertia(const Mat3<T>& R, const Inertia<T>& M) {
  return {M.m, R * M.h, congruence(R, M.I)};
}
template <class T, class Const>
KANSETSU_HD Inertia<T> inertia_on_parent(const NodeOf<Const>& node, const NodeState<T>& state, const Inertia<T>& M) {
  const T &c = state.c[node.u], &s = state.s[node.u];
  Inertia<T> out;
  switch (node.kind) {
    case NodeKind::kHingeX:
      out = turned_inertia<0>(c, s, M);
      break;
    case NodeKind::kHingeY:
      out = turned_inertia<1>(c, s, M);
      break;
    case NodeKind::kHingeZ:
      out = turned_inertia<2>(c, s, M);
      break;
    case NodeKind::kHinge:
      out = rotated_inertia(lift<T>(node.R0), turned_inertia<2>(c, s, M));
      break;
    default:
      out = rotated_inertia(state.R[node.ball], M);
  }
  if (node.offset == Offset::kNone) return out;
  const Vec3<T> p = lift<T>(node.p), h = madd(out.m, p, out.h);
  return {out.m, h, out.I + parallel_axis(out.h + h, p)};
}

/// Column k of C·S.
template <class T, class Const>
KANSETSU_HD Force<T> inertia_column(const NodeOf<Const>& node, int k, const Inertia<T>& C) {
  const T o = T(0);
  const Sym3<T>& I = C.I;
  const Vec3<T>& h = C.h;
  if (k >= 3) {
    const Vec3<T> e{T(k == 3), T(k == 4), T(k == 5)};
    return {cross(h, e), C.m * e};
  }
  const int axis = node.n > 1 ? k : node.kind == NodeKind::kHingeX ? 0 : node.kind == NodeKind::kHingeY ? 1 : 2;
  if (axis == 0) return {{I.xx, I.xy, I.xz}, {o, -h.z, h.y}};
  if (axis == 1) return {{I.xy, I.yy, I.yz}, {h.z, o, -h.x}};
  return {{I.xz, I.yz, I.zz}, {-h.y, h.x, o}};
}

/// Sᵀ·F: one to six numbers.
template <class T, class Const>
KANSETSU_HD void project_on(const NodeOf<Const>& node, const Force<T>& F, T* out) {
  switch (node.kind) {
    case NodeKind::kHingeX:
      out[0] = F.t.x;
      break;
    case NodeKind::kHingeY:
      out[0] = F.t.y;
      break;
    case NodeKind::kHingeZ:
    case NodeKind::kHinge:
      out[0] = F.t.z;
      break;
    case NodeKind::kFree:
      out[3] = F.f.x;
      out[4] = F.f.y;
      out[5] = F.f.z;
      [[fallthrough]];
    case NodeKind::kBall:
      out[0] = F.t.x;
      out[1] = F.t.y;
      out[2] = F.t.z;
      break;
  }
}

/// Calls out(k, l, value) in the order of crba(), see there.
template <class T, class Const, class Out>
KANSETSU_HD void node_crba(const NodeTreeViewOf<Const>& tree, const T* q, const NodeState<T>& state, Inertia<T>* C,
                           Out&& out) {
  for (int i = 0; i < tree.node_count; ++i) {
    const NodeOf<Const>& node = tree.nodes[i];
    C[i] = lift<T>(node.M);
    if (node.kind != NodeKind::kBall) continue;
    const T* x = q + node.q;
    state.R[node.ball] = lift<T>(node.R0) * to_mat3(Quaternion<T>{x[0], x[1], x[2], x[3]});
  }
  for (int i = tree.node_count - 1; i >= 0; --i) {
    const NodeOf<Const>& node = tree.nodes[i];
    for (int k = node.n - 1; k >= 0; --k) {
      Force<T> F = inertia_column(node, k, C[i]);
      T row[6];
      project_on(node, F, row);
      if (k < 3) row[k] += lift<T>(node.rotor[k]);
      for (int l = k; l >= 0; --l) out(node.u + k, node.u + l, row[l]);
      for (int j = i; tree.nodes[j].parent >= 0;) {
        F = wrench_on_parent(tree.nodes[j], state, F);
        j = tree.nodes[j].parent;
        const NodeOf<Const>& ancestor = tree.nodes[j];
        project_on(ancestor, F, row);
        for (int l = ancestor.n - 1; l >= 0; --l) out(node.u + k, ancestor.u + l, row[l]);
      }
    }
    if (node.parent >= 0) C[node.parent] = C[node.parent] + inertia_on_parent(node, state, C[i]);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
