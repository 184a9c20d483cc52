#pragma once

#include "batch/kernel_table.h"
#include "batch/layout_kernel.h"
#include "dynamics/node_kernel.h"

/// Poses of the links of a tree of nodes, directly from registers into the rows of the states: poses are most of the output of
/// a batch, and as intermediate packs they would be written twice.
namespace kansetsu::kernel::inline KANSETSU_ISA {

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
