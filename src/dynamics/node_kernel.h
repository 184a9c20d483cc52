#pragma once

#include "dynamics/hinge_elimination.h"
#include "kansetsu/spatial/small_matrix.h"
#include "kinematics/posture_kernel.h"
#include "model/nodes.h"

/// Kinematics of nodes. The coordinates of nodes are in the order of the nodes; every coordinate but those of the free base
/// has a sine and a cosine, those of balls without meaning.
namespace kansetsu::kernel::inline KANSETSU_ISA {

template <class T>
struct NodeState {
  T *s, *c;             ///< per coordinate
  const T* u;           ///< per coordinate
  Mat3<T>* R;           ///< R_PB per ball
  Transform<T> X_base;  ///< of a free base
};

template <class T, class Const>
KANSETSU_HD NodeState<T> carve_state(const NodeTreeViewOf<Const>& tree, Carver<T>& carver) {
  NodeState<T> state;
  state.s = carver.template take<T>(tree.coordinate_count);
  state.c = carver.template take<T>(tree.coordinate_count);
  state.u = nullptr;
  state.R = carver.template take<Mat3<T>>(tree.ball_count);
  return state;
}

/// One number per coordinate from the user's order, ratio·x: x itself if it is in order, else in `memory`. Null: zeros.
template <class T, class Const>
KANSETSU_HD const T* gather_coordinates(const NodeTreeViewOf<Const>& tree, const T* x, T* memory) {
  if (x && tree.in_order) return x;
  for (int k = 0; k < tree.coordinate_count; ++k) {
    memory[k] = x ? lift<T>(tree.coordinates[k].ratio) * x[tree.coordinates[k].column] : T(0);
  }
  return memory;
}
template <class T, class Const>
KANSETSU_HD void scatter_coordinates(const NodeTreeViewOf<Const>& tree, const T* x, T* out) {
  for (int k = 0; k < tree.coordinate_count; ++k) {
    out[tree.coordinates[k].column] = lift<T>(tree.coordinates[k].ratio) * x[k];
  }
}

template <class T, class Const>
KANSETSU_HD void load_posture(const NodeTreeViewOf<Const>& tree, const T* q, NodeState<T>& state) {
  const int first = tree.first_angle;
  for (int k = first; k < tree.coordinate_count; ++k) {
    const NodeCoordinate& c = tree.coordinates[k];
    const T x = madd(lift<T>(c.ratio), q[c.position], lift<T>(c.offset));
    if constexpr (std::is_floating_point_v<T>)
      state.s[k - first] = x;
    else
      sincos(x, state.s[k - first], state.c[k - first]);
  }
  if constexpr (std::is_floating_point_v<T>) sincos_array(state.s, tree.coordinate_count - first, state.s, state.c);
  state.s -= first;  // numbered like the coordinates from here on
  state.c -= first;
  if (first == 0) return;
  const T* x = q + tree.nodes[0].q;
  state.X_base = {to_mat3(Quaternion<T>{x[3], x[4], x[5], x[6]}), {x[0], x[1], x[2]}};
}

/// Calls visit with the joint of a node as the most special type that fits. kFree is not among them.
template <class T, class Const, class Visit>
KANSETSU_HD void with_node(const NodeOf<Const>& node, const NodeState<T>& state, Visit&& visit) {
  const T &c = state.c[node.u], &s = state.s[node.u];
  switch (node.kind) {
    case NodeKind::kHingeX:
      visit(AlignedHinge<T, 0>{c, s, lift<T>(node.p)});
      break;
    case NodeKind::kHingeY:
      visit(AlignedHinge<T, 1>{c, s, lift<T>(node.p)});
      break;
    case NodeKind::kHingeZ:
      visit(AlignedHinge<T, 2>{c, s, lift<T>(node.p)});
      break;
    case NodeKind::kHinge:
      visit(TurnedHinge<T>{c, s, lift<T>(node.R0), lift<T>(node.p)});
      break;
    default:
      visit(BallJoint<T>{state.R[node.ball], lift<T>(node.p)});
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
