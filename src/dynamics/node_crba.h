#pragma once

#include "dynamics/node_kernel.h"

/// The composite-rigid-body algorithm over nodes, in body coordinates. [RBDA] Table 6.2. A hinge's column of the composite
/// inertia is there already, and its wrench is turned in a plane from ancestor to ancestor. The columns of neighbours in a
/// chain climb together: one decision per ancestor for all of them, and enough to do while one waits for its last product.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The composite inertia of a node, as its parent sees it.
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

/// Columns on their way to the base: each a wrench on a node in its frame, and where its next entry goes. One inside the
/// other instead of an array: gcc keeps only those in registers.
template <class T, int N>
struct Climbers {
  Climbers<T, N - 1> others;
  Force<T> F;
  int k;
  const int* slot;
};
template <class T>
struct Climbers<T, 0> {};

/// How many climb together: as many as registers hold.
template <class T>
inline constexpr int kClimbers = sizeof(T) == 64 ? 3 : 2;

/// Entries of the columns at the hinge with coordinate u, then the wrenches in its parent's axes.
template <int AX, int N, class T, class Joint, class Out>
KANSETSU_HD void climb_hinge(int u, const Joint& joint, Climbers<T, N>& x, const Out& out) {
  if constexpr (N > 0) {
    climb_hinge<AX>(u, joint, x.others, out);
    out(x.k, u, x.slot++, along<AX>(x.F.t));
    x.F = joint.to_parent_axes(x.F);
  }
}
/// The same at a ball or the free base.
template <int N, class T, class Const, class Out>
KANSETSU_HD void climb_joint(const NodeOf<Const>& node, const NodeState<T>& state, Climbers<T, N>& x, const Out& out) {
  if constexpr (N > 0) {
    climb_joint(node, state, x.others, out);
    if (node.kind == NodeKind::kFree) {
      out(x.k, node.u + 5, x.slot++, x.F.f.z);
      out(x.k, node.u + 4, x.slot++, x.F.f.y);
      out(x.k, node.u + 3, x.slot++, x.F.f.x);
    }
    out(x.k, node.u + 2, x.slot++, x.F.t.z);
    out(x.k, node.u + 1, x.slot++, x.F.t.y);
    out(x.k, node.u, x.slot++, x.F.t.x);
    if (node.kind == NodeKind::kBall) x.F = BallJoint<T>{state.R[node.ball], lift<T>(node.p)}.to_parent_axes(x.F);
  }
}
template <int N, class T, class Const>
KANSETSU_HD void climb_offset(const NodeOf<Const>& node, Climbers<T, N>& x) {
  if constexpr (N > 0) {
    climb_offset(node, x.others);
    x.F = at_parent(node, x.F);
  }
}

/// From a node to its parent.
template <int N, class T, class Const, class Out>
KANSETSU_HD void climb_node(const NodeOf<Const>& node, const NodeState<T>& state, Climbers<T, N>& x, const Out& out) {
  const T &c = state.c[node.u], &s = state.s[node.u];
  const Vec3<T> p = lift<T>(node.p);
  switch (node.kind) {
    case NodeKind::kHingeX:
      climb_hinge<0>(node.u, AlignedHinge<T, 0>{c, s, p}, x, out);
      break;
    case NodeKind::kHingeY:
      climb_hinge<1>(node.u, AlignedHinge<T, 1>{c, s, p}, x, out);
      break;
    case NodeKind::kHingeZ:
      climb_hinge<2>(node.u, AlignedHinge<T, 2>{c, s, p}, x, out);
      break;
    case NodeKind::kHinge:
      climb_hinge<2>(node.u, TurnedHinge<T>{c, s, lift<T>(node.R0), p}, x, out);
      break;
    default:
      climb_joint(node, state, x, out);
  }
  if (node.offset != Offset::kNone) climb_offset(node, x);
}

template <int N, class T, class Const, class Out>
KANSETSU_HD void climb(const NodeTreeViewOf<Const>& tree, int j, const NodeState<T>& state, Climbers<T, N>& x,
                       const Out& out) {
  for (; j >= 0; j = tree.nodes[j].parent) climb_node(tree.nodes[j], state, x, out);
}

/// What the columns of a call share. C: inertia of what hangs on the node at hand, from the chain before.
template <class T, class Const, class Out>
struct ColumnWalk {
  const NodeTreeViewOf<Const>& tree;
  const NodeState<T>& state;
  Inertia<T>* meeting;
  const int* slot;  ///< of the next column
  const Out& out;
  Inertia<T> C;

  KANSETSU_HD void take_up(const NodeOf<Const>& node) {
    if (node.gathers >= 0)
      C = meeting[node.gathers];
    else if (node.leaf) {
      C = lift<T>(node.M);
      return;
    }
    if (!node.massless) C = C + lift<T>(node.M);
  }
  KANSETSU_HD void put_down(const NodeOf<Const>& node) {
    if (node.parent < 0) return;
    C = inertia_on_parent(node, state, C);
    const int at = node.from;
    if (at >= 0) meeting[at] = meeting[at] + C;
  }
  /// Number of entries of column k of node i.
  KANSETSU_HD int entries(int i, int k) const {
    int n = k + 1;
    while ((i = tree.nodes[i].parent) >= 0) n += tree.nodes[i].n;
    return n;
  }
};

/// Adds the rotor inertia to the entry on the diagonal.
template <class Out, class T>
struct Diagonal {
  const Out& out;
  T rotor;

  KANSETSU_HD void operator()(int k, int l, const int* slot, const T& value) const {
    out(k, l, slot, k == l ? value + rotor : value);
  }
};

/// The columns of hinge i and of the hinges before it in the chain, as long as there is room. entries: of column i.
/// before: those that have come so far. Returns the next node.
template <int N, class T, class Const, class Out>
KANSETSU_HD int hinge_columns(int i, int entries, const Climbers<T, N - 1>& before, ColumnWalk<T, Const, Out>& walk) {
  const NodeOf<Const>& node = walk.tree.nodes[i];
  walk.take_up(node);
  Climbers<T, N> x{before, inertia_column(node, 0, walk.C), node.u, walk.slot};
  walk.slot += entries;
  climb_node(node, walk.state, x, Diagonal<Out, T>{walk.out, lift<T>(node.rotor[0])});
  walk.put_down(node);
  if constexpr (N < kClimbers<T>) {
    if (i > 0 && node.parent == i - 1 && walk.tree.nodes[i - 1].n == 1) {
      return hinge_columns<N + 1>(i - 1, entries - 1, x, walk);
    }
  }
  climb(walk.tree, node.parent, walk.state, x, walk.out);
  return i - 1;
}

/// The columns of a ball or a free base.
template <class T, class Const, class Out>
KANSETSU_HD void joint_columns(int i, ColumnWalk<T, Const, Out>& walk) {
  const NodeOf<Const>& node = walk.tree.nodes[i];
  walk.take_up(node);
  for (int k = node.n - 1; k >= 0; --k) {
    Climbers<T, 1> x{{}, inertia_column(node, k, walk.C), node.u + k, walk.slot};
    walk.slot += walk.entries(i, k);
    T row[6] = {};
    project_on(node, x.F, row);
    if (k < 3) row[k] += lift<T>(node.rotor[k]);
    for (int l = k; l >= 0; --l) walk.out(node.u + k, node.u + l, x.slot++, row[l]);
    if (node.parent < 0) continue;
    x.F = at_parent(node, BallJoint<T>{walk.state.R[node.ball], lift<T>(node.p)}.to_parent_axes(x.F));
    climb(walk.tree, node.parent, walk.state, x, walk.out);
  }
  walk.put_down(node);
}

/// Calls out(k, l, slot, value) for all entries on and below the diagonal; *slot is the place of the entry in the order of
/// crba(), see there.
/// @param meeting  memory, one per place where limbs meet
template <class T, class Const, class Out>
KANSETSU_HD void node_crba(const NodeTreeViewOf<Const>& tree, const T* q, const NodeState<T>& state,
                           Inertia<T>* meeting, const int* slot, const Out& out) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  const Inertia<T> none{T(0), zero, {T(0), T(0), T(0), T(0), T(0), T(0)}};
  load_balls(tree, q, state);
  for (int g = 0; g < tree.gather_count; ++g) meeting[g] = none;
  ColumnWalk<T, Const, Out> walk{tree, state, meeting, slot, out, none};
  for (int i = tree.node_count - 1; i >= 0;) {
    if (tree.nodes[i].n == 1) {
      i = hinge_columns<1>(i, walk.entries(i, 0), Climbers<T, 0>{}, walk);
    } else {
      joint_columns(i, walk);
      --i;
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
