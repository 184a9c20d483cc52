#pragma once

#include "dynamics/node_kernel.h"

/// The composite-rigid-body algorithm over nodes. [RBDA] Table 6.2. All wrenches and inertias are in the axes of the carrier of
/// the tree, each at the origin of its node: on the way to the base nothing is turned, only shifted where a node has an offset,
/// and an entry is the product of an axis and a moment. The columns of neighbours in a chain climb together: one branch per
/// ancestor for all of them, and independent products that hide each other's latency.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The nodes in a posture, in the axes of the free base, or of the ground.
template <class T>
struct NodeLayout {
  Vec3<T>* axis;    ///< per coordinate, times its ratio; not of the free base
  Vec3<T>* offset;  ///< p per node that has an offset
  Inertia<T>* own;  ///< M per node that has a mass, or is a leaf
  int* above;       ///< per node: coordinates of its ancestors
};

template <class T, class Const>
KANSETSU_HD NodeLayout<T> carve_layout(const NodeTreeViewOf<Const>& tree, Carver<T>& carver) {
  NodeLayout<T> layout;
  layout.axis = carver.template take<Vec3<T>>(tree.coordinate_count);
  layout.offset = carver.template take<Vec3<T>>(tree.node_count);
  layout.own = carver.template take<Inertia<T>>(tree.node_count);
  layout.above = carver.take_ints(tree.node_count);
  return layout;
}

/// R·M·Rᵀ where I is diagonal: I_z·1 plus the differences of the other two.
template <class T, class Const>
KANSETSU_HD Sym3<T> turned_diagonal(const Mat3<T>& R, const Sym3<Const>& I) {
  const Vec3<T> a = R.column_x(), b = R.column_y();
  const Vec3<T> x = lift<T>(I.xx - I.zz) * a, y = lift<T>(I.yy - I.zz) * b;
  const T z = lift<T>(I.zz);
  return {madd(a.x, x.x, madd(b.x, y.x, z)), madd(a.x, x.y, b.x * y.y), madd(a.x, x.z, b.x * y.z),
          madd(a.y, x.y, madd(b.y, y.y, z)), madd(a.y, x.z, b.y * y.z), madd(a.z, x.z, madd(b.z, y.z, z))};
}
template <class T, class Const>
KANSETSU_HD Inertia<T> own_inertia(const NodeOf<Const>& node, const Mat3<T>& R) {
  const Inertia<Const>& M = node.M;
  const T m = lift<T>(M.m);
  switch (node.centre) {
    case Offset::kX:
      return {m, lift<T>(M.h.x) * R.column_x(), turned_diagonal(R, M.I)};
    case Offset::kY:
      return {m, lift<T>(M.h.y) * R.column_y(), turned_diagonal(R, M.I)};
    case Offset::kNone:
    case Offset::kZ:
      return {m, lift<T>(M.h.z) * R.column_z(), turned_diagonal(R, M.I)};
    case Offset::kAny:
      break;
  }
  return {m, R * lift<T>(M.h), congruence(R, lift<T>(M.I))};
}

template <class T, class Const>
KANSETSU_HD void lay_out_axes(const NodeTreeViewOf<Const>& tree, const NodeOf<Const>& node, const Mat3<T>& R,
                              Vec3<T>* axis) {
  if (node.kind == NodeKind::kHingeX || node.n > 1) axis[0] = R.column_x();
  if (node.kind == NodeKind::kHingeY) axis[0] = R.column_y();
  if (node.kind == NodeKind::kHingeZ || node.kind == NodeKind::kHinge) axis[0] = R.column_z();
  if (node.n > 1) {
    axis[1] = R.column_y();
    axis[2] = R.column_z();
  }
  if (tree.in_order) return;
  for (int k = 0; k < node.n; ++k) axis[k] = lift<T>(tree.coordinates[node.u + k].ratio) * axis[k];
}

/// @param meeting  memory, one per place where limbs meet
template <class T, class Const>
KANSETSU_HD void lay_out(const NodeTreeViewOf<Const>& tree, const NodeState<T>& state, Mat3<T>* meeting,
                         const NodeLayout<T>& out) {
  const Mat3<T> ground = Mat3<T>::identity();
  Mat3<T> R = ground;
  for (int i = 0; i < tree.node_count; ++i) {
    const NodeOf<Const>& node = tree.nodes[i];
    out.above[i] = node.parent < 0 ? 0 : out.above[node.parent] + tree.nodes[node.parent].n;
    take_from_parent(node, ground, meeting, R);
    if (node.kind != NodeKind::kFree) {
      const Vec3<T> none{T(0), T(0), T(0)};
      if (node.offset != Offset::kNone) out.offset[i] = node_origin(node, Transform<T>{R, none});
      R = node_axes(node, state, R);
      lay_out_axes(tree, node, R, out.axis + node.u);
    }
    if (node.gathers >= 0) meeting[node.gathers] = R;
    if (node.leaf || !node.massless) out.own[i] = own_inertia(node, R);
  }
}

/// Columns on their way to the base: each a wrench on a node, and where its next entry goes. One inside the other instead of
/// an array: gcc keeps only those in registers.
template <class T, class Place, int N>
struct Climbers {
  Climbers<T, Place, N - 1> others;
  Force<T> F;
  Place place;
};
template <class T, class Place>
struct Climbers<T, Place, 0> {};

/// The most columns that climb together: as many as registers hold.
template <class T>
inline constexpr int kClimbers = sizeof(T) == 64 ? 4 : 2;

/// The entries of the columns at a hinge.
template <int N, class T, class Place>
KANSETSU_HD void climb_hinge(const Vec3<T>& axis, Climbers<T, Place, N>& x) {
  if constexpr (N > 0) {
    climb_hinge(axis, x.others);
    x.place.put(dot(axis, x.F.t));
  }
}
/// The same at the free base.
template <int N, class T, class Place>
KANSETSU_HD void climb_base(Climbers<T, Place, N>& x) {
  if constexpr (N > 0) {
    climb_base(x.others);
    x.place.put(x.F.f.z);
    x.place.put(x.F.f.y);
    x.place.put(x.F.f.x);
    x.place.put(x.F.t.z);
    x.place.put(x.F.t.y);
    x.place.put(x.F.t.x);
  }
}
/// From the origin of a node to its parent's.
template <int N, class T, class Place>
KANSETSU_HD void climb_offset(const Vec3<T>& p, Climbers<T, Place, N>& x) {
  if constexpr (N > 0) {
    climb_offset(p, x.others);
    x.F.t = add_cross(x.F.t, p, x.F.f);
  }
}

/// Data shared by the columns of a call. C: composite inertia of the children of the current node.
template <class T, class Const, class Place>
struct ColumnWalk {
  const NodeTreeViewOf<Const>& tree;
  const NodeLayout<T>& layout;
  Inertia<T>* meeting;
  Place next;  ///< of the next column
  Inertia<T> C;

  KANSETSU_HD void take_up(int i) {
    const NodeOf<Const>& node = tree.nodes[i];
    if (node.gathers >= 0) {
      C = meeting[node.gathers];
    } else if (node.leaf) {
      C = layout.own[i];
      return;
    }
    if (!node.massless) C = C + layout.own[i];
  }
  KANSETSU_HD void put_down(int i) {
    const NodeOf<Const>& node = tree.nodes[i];
    if (node.parent < 0) return;
    if (node.offset != Offset::kNone) {
      const Vec3<T> p = layout.offset[i], h = madd(C.m, p, C.h);
      C.I = C.I + parallel_axis(C.h + h, p);
      C.h = h;
    }
    const int at = node.from;
    if (at >= 0) meeting[at] = meeting[at] + C;
  }
  /// Column of coordinate u, a rotation.
  KANSETSU_HD Force<T> turning(int u) const {
    const Vec3<T> a = layout.axis[u];
    return {C.I * a, cross(a, C.h)};
  }
  /// Reserves the place of a column with n entries.
  KANSETSU_HD Place reserve(int n) {
    const Place out = next;
    next.skip(n);
    return out;
  }
  KANSETSU_HD T rotor(const NodeOf<Const>& node, int k) const {
    const T J = lift<T>(node.rotor[k]);
    if (tree.in_order) return J;
    const T ratio = lift<T>(tree.coordinates[node.u + k].ratio);
    return ratio * ratio * J;
  }

  /// From node j, where the wrenches are, to the base.
  template <int N>
  KANSETSU_HD void climb(int j, Climbers<T, Place, N>& x) const {
    for (; j >= 0; j = tree.nodes[j].parent) {
      const NodeOf<Const>& node = tree.nodes[j];
      if (node.kind == NodeKind::kFree) {
        climb_base(x);
        return;
      }
      for (int k = node.n - 1; k >= 0; --k) climb_hinge(layout.axis[node.u + k], x);
      if (node.offset != Offset::kNone) climb_offset(layout.offset[j], x);
    }
  }

  /// The columns of hinge i and of the hinges before it in the chain, as long as there is room. n: entries of column i. before:
  /// those that have come so far. Returns the next node.
  template <int N>
  KANSETSU_HD int hinge_columns(int i, int n, const Climbers<T, Place, N - 1>& before) {
    const NodeOf<Const>& node = tree.nodes[i];
    take_up(i);
    Climbers<T, Place, N> x{before, turning(node.u), reserve(n)};
    const Vec3<T> axis = layout.axis[node.u];
    climb_hinge(axis, x.others);
    x.place.put(dot(axis, x.F.t) + rotor(node, 0));
    if (node.offset != Offset::kNone) climb_offset(layout.offset[i], x);
    put_down(i);
    if constexpr (N < kClimbers<T>) {
      if (i > 0 && node.parent == i - 1 && tree.nodes[i - 1].n == 1) return hinge_columns<N + 1>(i - 1, n - 1, x);
    }
    climb(node.parent, x);
    return i - 1;
  }

  KANSETSU_HD void ball_columns(int i) {
    const NodeOf<Const>& node = tree.nodes[i];
    take_up(i);
    for (int k = 2; k >= 0; --k) {
      Climbers<T, Place, 1> x{{}, turning(node.u + k), reserve(layout.above[i] + k + 1)};
      x.place.put(dot(layout.axis[node.u + k], x.F.t) + rotor(node, k));
      for (int l = k - 1; l >= 0; --l) climb_hinge(layout.axis[node.u + l], x);
      if (node.offset != Offset::kNone) climb_offset(layout.offset[i], x);
      climb(node.parent, x);
    }
    put_down(i);
  }

  KANSETSU_HD void base_columns() {
    take_up(0);
    const T o = T(0);
    const Vec3<T>& h = C.h;
    const Sym3<T>& I = C.I;
    const T columns[6][6] = {{I.xx},
                             {I.xy, I.yy},
                             {I.xz, I.yz, I.zz},
                             {o, h.z, -h.y, C.m},
                             {-h.z, o, h.x, o, C.m},
                             {h.y, -h.x, o, o, o, C.m}};
    for (int k = 5; k >= 0; --k) {
      Place place = reserve(k + 1);
      for (int l = k; l >= 0; --l) place.put(columns[k][l]);
    }
  }
};

/// Computes all entries on and below the diagonal, in the order of crba().
template <class T, class Const, class Place>
KANSETSU_HD void node_crba(const NodeTreeViewOf<Const>& tree, const T* q, void* scratch, const Place& place) {
  Carver<T> carver(scratch);
  NodeState<T> state = carve_state(tree, carver);
  const NodeLayout<T> layout = carve_layout(tree, carver);
  auto* axes = carver.template take<Mat3<T>>(tree.gather_count);
  auto* meeting = carver.template take<Inertia<T>>(tree.gather_count);
  load_posture(tree, q, state);
  load_balls(tree, q, state);
  lay_out(tree, state, axes, layout);
  const Vec3<T> zero{T(0), T(0), T(0)};
  const Inertia<T> none{T(0), zero, {T(0), T(0), T(0), T(0), T(0), T(0)}};
  for (int g = 0; g < tree.gather_count; ++g) meeting[g] = none;
  ColumnWalk<T, Const, Place> walk{tree, layout, meeting, place, none};
  for (int i = tree.node_count - 1; i >= 0;) {
    if (tree.nodes[i].n == 1) {
      i = walk.template hinge_columns<1>(i, layout.above[i] + 1, {});
    } else {
      if (tree.nodes[i].kind == NodeKind::kFree)
        walk.base_columns();
      else
        walk.ball_columns(i);
      --i;
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
