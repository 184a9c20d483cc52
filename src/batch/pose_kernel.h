#pragma once

#include "batch/kernel_table.h"
#include "batch/layout_kernel.h"
#include "dynamics/node_kernel.h"

/// Poses of the links of a tree of nodes, straight from registers into the rows of the states: poses are most of what a batch
/// writes, and as packs in between they would be written twice.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// X_WB·p + p_W for an offset, its zeros left out.
template <class T, class Const>
KANSETSU_HD Vec3<T> node_origin(const NodeOf<Const>& node, const Transform<T>& X) {
  switch (node.offset) {
    case Offset::kX:
      return madd(lift<T>(node.p.x), X.R.column_x(), X.p);
    case Offset::kY:
      return madd(lift<T>(node.p.y), X.R.column_y(), X.p);
    case Offset::kZ:
      return madd(lift<T>(node.p.z), X.R.column_z(), X.p);
    case Offset::kAny:
      return X * lift<T>(node.p);
    case Offset::kNone:
      break;
  }
  return X.p;
}

template <class T, class Const>
KANSETSU_HD Mat3<T> node_axes(const NodeOf<Const>& node, const NodeState<T>& state, const Mat3<T>& R) {
  const T &c = state.c[node.u], &s = state.s[node.u];
  switch (node.kind) {
    case NodeKind::kHingeX:
      return {turn_back<0>(c, s, R.x), turn_back<0>(c, s, R.y), turn_back<0>(c, s, R.z)};
    case NodeKind::kHingeY:
      return {turn_back<1>(c, s, R.x), turn_back<1>(c, s, R.y), turn_back<1>(c, s, R.z)};
    case NodeKind::kHingeZ:
      return {turn_back<2>(c, s, R.x), turn_back<2>(c, s, R.y), turn_back<2>(c, s, R.z)};
    case NodeKind::kHinge: {
      const Mat3<T> R1 = R * lift<T>(node.R0);
      return {turn_back<2>(c, s, R1.x), turn_back<2>(c, s, R1.y), turn_back<2>(c, s, R1.z)};
    }
    default:
      return R * state.R[node.ball];
  }
}

template <class P>
KANSETSU_HD void put_pose(const Transform<P>& X, scalar_t<P>* const* rows, int column) {
  const P numbers[12] = {X.R.x.x, X.R.x.y, X.R.x.z, X.R.y.x, X.R.y.y, X.R.y.z,
                         X.R.z.x, X.R.z.y, X.R.z.z, X.p.x,   X.p.y,   X.p.z};
  store_columns(numbers, rows, column);
}

template <class P>
KANSETSU_HD void put_links(const LinksOfBodies& links, int body, const Transform<P>& X_WB, scalar_t<P>* const* rows) {
  for (int i = links.begin[body + 1]; i < links.begin[body + 2]; ++i) {
    const int l = links.list[i];
    const LinkPlacement& link = links.placements[l];
    put_pose(link.at_body ? X_WB : X_WB * lift<P>(link.X_BL), rows, 12 * l);
  }
}

template <class P, class Const>
KANSETSU_HD void node_poses(const NodeTreeViewOf<Const>& tree, const LinksOfBodies& links, const P* q, void* scratch,
                            scalar_t<P>* const* rows) {
  Carver<P> carver(scratch);
  NodeState<P> state = carve_state(tree, carver);
  Transform<P>* meeting = carver.template take<Transform<P>>(tree.gather_count);
  load_posture(tree, q, state);
  load_balls(tree, q, state);
  const Transform<P> ground;
  put_links(links, -1, ground, rows);
  Transform<P> X = ground;
  for (int i = 0; i < tree.node_count; ++i) {
    const NodeOf<Const>& node = tree.nodes[i];
    take_from_parent(node, ground, meeting, X);
    if (node.kind == NodeKind::kFree) {
      X = state.X_base;
    } else {
      X.p = node_origin(node, X);
      X.R = node_axes(node, state, X.R);
    }
    if (node.gathers >= 0) meeting[node.gathers] = X;
    put_links(links, node.body[0], X, rows);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
