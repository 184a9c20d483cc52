#pragma once

#include "dynamics/node_elimination.h"
#include "kansetsu/spatial/small_matrix.h"
#include "kinematics/posture_kernel.h"
#include "model/nodes.h"

/// Kinematics of nodes. The coordinates of nodes are in the order of the nodes; every coordinate but those of the free base
/// has a sine and a cosine, which are meaningless for balls.
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
  const int n = tree.coordinate_count - first;
  const T* angle = state.s;                                   // overwritten by the sines
  if (!std::is_floating_point_v<T> && tree.angles_at >= 0) {  // q of plain numbers is not padded
    angle = q + tree.angles_at;
  } else {
    for (int k = 0; k < n; ++k) {
      const NodeCoordinate& c = tree.coordinates[first + k];
      state.s[k] = madd(lift<T>(c.ratio), q[c.position], lift<T>(c.offset));
    }
  }
  sincos_array(angle, n, state.s, state.c);
  state.s -= first;  // numbered like the coordinates from here on
  state.c -= first;
  if (first == 0) return;
  const T* x = q + tree.nodes[0].q;
  state.X_base = {to_mat3(Quaternion<T>{x[3], x[4], x[5], x[6]}), {x[0], x[1], x[2]}};
}

/// Calls visit with the hinge of a node as the most specialised type that fits, or other() if it has none.
template <class T, class Node, class Visit, class Other>
KANSETSU_HD void with_hinge(const Node& node, const T& c, const T& s, const Visit& visit, const Other& other) {
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
      other();
  }
}
/// The same for any joint but a free base.
template <class T, class Const, class Visit>
KANSETSU_HD void with_node(const NodeOf<Const>& node, const NodeState<T>& state, const Visit& visit) {
  with_hinge(node, state.c[node.u], state.s[node.u], visit,
             [&]() KANSETSU_INLINE_LAMBDA { visit(BallJoint<T>{state.R[node.ball], lift<T>(node.p)}); });
}

/// Pose of a node whose parent is at X; products with zeros of its offset are omitted.
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

/// Rotation of a node whose parent has the rotation R.
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

/// Adds a × p, p the node's offset; products with zeros of p are omitted. Along axis K two products remain.
template <int K, class T>
KANSETSU_HD Vec3<T> add_cross_along(const Vec3<T>& to, const Vec3<T>& a, const T& d) {
  const Vec3<T> b = to_z<K>(a), c = to_z<K>(to);
  return from_z<K>(Vec3<T>{madd(b.y, d, c.x), msub(b.x, d, c.y), c.z});
}
template <class T, class Node>
KANSETSU_HD Vec3<T> add_cross_offset(const Vec3<T>& to, const Vec3<T>& a, const Node& node) {
  switch (node.offset) {
    case Offset::kX:
      return add_cross_along<0>(to, a, lift<T>(node.p.x));
    case Offset::kY:
      return add_cross_along<1>(to, a, lift<T>(node.p.y));
    case Offset::kZ:
      return add_cross_along<2>(to, a, lift<T>(node.p.z));
    case Offset::kAny:
      return add_cross(to, a, lift<T>(node.p));
    case Offset::kNone:
      break;
  }
  return to;
}

/// A motion of the parent, at the node's origin, in the parent's axes.
template <class T, class Const>
KANSETSU_HD Motion<T> at_node(const NodeOf<Const>& node, const Motion<T>& V_P) {
  if (node.offset == Offset::kNone) return V_P;
  return {V_P.w, add_cross_offset(V_P.v, V_P.w, node)};
}
/// A wrench at the node's origin in the parent's axes, at the parent's origin.
template <class T, class Const>
KANSETSU_HD Force<T> at_parent(const NodeOf<Const>& node, const Force<T>& F) {
  return {add_cross_offset(F.t, -F.f, node), F.f};
}

/// Motion of a node due to velocities: angular velocity and acceleration, and the classical acceleration of its origin. Nothing
/// else depends on the velocity of the origin.
template <class T>
struct Drift {
  Vec3<T> w, e, a;
};

template <class T>
KANSETSU_HD Drift<T> at_rest() {
  const Vec3<T> o{T(0), T(0), T(0)};
  return {o, o, o};
}

/// The acceleration of the point at p of a body: a + e × p + ω × (ω × p). Along axis K it is seven operations.
template <int K, class T>
KANSETSU_HD Vec3<T> acceleration_along(const Drift<T>& m, const T& d) {
  const Vec3<T> w = to_z<K>(m.w), e = to_z<K>(m.e), a = to_z<K>(m.a);
  return from_z<K>(Vec3<T>{madd(d, madd(w.x, w.z, e.y), a.x), msub(d, msub(w.y, w.z, e.x), a.y),
                           msub(d, madd(w.x, w.x, w.y * w.y), a.z)});
}
template <class T, class Const>
KANSETSU_HD void go_to_node(const NodeOf<Const>& node, Drift<T>& m) {
  if (node.offset == Offset::kNone) return;
  switch (node.offset) {
    case Offset::kX:
      m.a = acceleration_along<0>(m, lift<T>(node.p.x));
      break;
    case Offset::kY:
      m.a = acceleration_along<1>(m, lift<T>(node.p.y));
      break;
    case Offset::kZ:
      m.a = acceleration_along<2>(m, lift<T>(node.p.z));
      break;
    case Offset::kAny: {
      const Vec3<T> p = lift<T>(node.p);
      m.a = add_cross(add_cross(m.a, m.e, p), m.w, cross(m.w, p));
      break;
    }
    case Offset::kNone:
      break;
  }
}

/// Passes a joint with rates u: into the child's axes, with the acceleration due to the two turns.
template <class T, class Joint>
KANSETSU_HD void pass_joint(const Joint& joint, const T* u, Drift<T>& m) {
  m = {joint.to_axes(m.w), joint.to_axes(m.e), joint.to_axes(m.a)};
  joint.add_bias(m.w, u, m.e);
  joint.add_rate(u, m.w);
}

/// inertial_wrench() where I is diagonal and h along axis K, with the zeros left out.
template <int K, class T, class Const>
KANSETSU_HD Force<T> inertial_wrench_along(const Inertia<Const>& M, const Drift<T>& m) {
  const Vec3<T> w = to_z<K>(m.w), e = to_z<K>(m.e), a = to_z<K>(m.a);
  const Vec3<Const> I = to_z<K>(Vec3<Const>{M.I.xx, M.I.yy, M.I.zz});
  const Const half = Const(0.5) * (I.x + I.y + I.z);
  const T Sxx = lift<T>(half - I.x), Syy = lift<T>(half - I.y), Szz = lift<T>(half - I.z);
  const T h = lift<T>(along<K>(M.h)), mass = lift<T>(M.m);
  const T E_xz = madd(w.x, w.z, e.y), N_yz = msub(w.y, w.z, e.x);
  const Vec3<T> t{msub(h, a.y, madd(madd(w.y, w.z, e.x), Syy, N_yz * Szz)),
                  madd(h, a.x, madd(E_xz, Szz, msub(w.x, w.z, e.y) * Sxx)),
                  madd(madd(w.x, w.y, e.z), Sxx, msub(w.x, w.y, e.z) * Syy)};
  const Vec3<T> f{madd(mass, a.x, E_xz * h), msub(N_yz, h, mass * a.y), msub(madd(w.x, w.x, w.y * w.y), h, mass * a.z)};
  return {from_z<K>(t), from_z<K>(f)};
}

/// M·A + V ×* M·V. The acceleration of the point at r is a + E·r with E = e× + ω×ω×, hence
///   f = m·a + E·h,   t = h × a + ∫ r × E·r dm,   and the integral has the entries of E·Σ − (E·Σ)ᵀ, Σ = ½·tr(I)·1 − I.
template <class T, class Const>
KANSETSU_HD Force<T> inertial_wrench(const Inertia<Const>& M, const Drift<T>& m) {
  const Vec3<T>&w = m.w, &e = m.e, &a = m.a;
  const T xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
  // E: on the diagonal −(ω²−ω_i²), below it ω_iω_j ± e_k, and the negatives of what is above.
  const T E_yx = madd(w.x, w.y, e.z), E_xz = madd(w.x, w.z, e.y), E_zy = madd(w.y, w.z, e.x);
  const T N_xy = msub(w.x, w.y, e.z), N_zx = msub(w.x, w.z, e.y), N_yz = msub(w.y, w.z, e.x);
  const Vec3<T> h = lift<T>(M.h);
  const Const half = Const(0.5) * (M.I.xx + M.I.yy + M.I.zz);
  const T Sxx = lift<T>(half - M.I.xx), Syy = lift<T>(half - M.I.yy), Szz = lift<T>(half - M.I.zz);
  const T Ixy = lift<T>(M.I.xy), Ixz = lift<T>(M.I.xz), Iyz = lift<T>(M.I.yz);  // −Σ off the diagonal
  const Vec3<T> t =
      add_cross(Vec3<T>{madd(E_zy, Syy, madd(N_yz, Szz, madd(E_yx, Ixz, madd(N_zx, Ixy, (yy - zz) * Iyz)))),
                        madd(E_xz, Szz, madd(N_zx, Sxx, madd(E_zy, Ixy, madd(N_xy, Iyz, (zz - xx) * Ixz)))),
                        madd(E_yx, Sxx, madd(N_xy, Syy, madd(E_xz, Iyz, madd(N_yz, Ixz, (xx - yy) * Ixy))))},
                h, a);
  const T m_lifted = lift<T>(M.m);
  const Vec3<T> f{madd(m_lifted, a.x, msub(yy + zz, h.x, msub(N_xy, h.y, E_xz * h.z))),
                  madd(m_lifted, a.y, msub(xx + zz, h.y, msub(N_yz, h.z, E_yx * h.x))),
                  madd(m_lifted, a.z, msub(xx + yy, h.z, msub(N_zx, h.x, E_zy * h.y)))};
  return {t, f};
}

/// Rotations of the balls.
template <class T, class Const>
KANSETSU_HD void load_balls(const NodeTreeViewOf<Const>& tree, const T* q, const NodeState<T>& state) {
  if (tree.ball_count == 0) return;
  for (int i = 0; i < tree.node_count; ++i) {
    const NodeOf<Const>& node = tree.nodes[i];
    if (node.kind != NodeKind::kBall) continue;
    const T* x = q + node.q;
    state.R[node.ball] = lift<T>(node.R0) * to_mat3(Quaternion<T>{x[0], x[1], x[2], x[3]});
  }
}

/// In an outward sweep m passes from parent to child. Along a chain it stays in registers; it is stored only where limbs meet,
/// in `meeting`, from where the next limb takes it.
template <class Const, class Item>
KANSETSU_HD void take_from_parent(const NodeOf<Const>& node, const Item& ground, const Item* meeting, Item& m) {
  if (node.from == node.kHandedOn) return;
  if (node.from >= 0)
    m = meeting[node.from];
  else
    m = ground;
}

template <class T, class Const>
KANSETSU_HD void put_inertial_wrench(const NodeOf<Const>& node, const Drift<T>& m, Force<T>& out) {
  switch (node.centre) {
    case Offset::kX:
      out = inertial_wrench_along<0>(node.M, m);
      break;
    case Offset::kY:
      out = inertial_wrench_along<1>(node.M, m);
      break;
    case Offset::kNone:
    case Offset::kZ:
      out = inertial_wrench_along<2>(node.M, m);
      break;
    case Offset::kAny:
      out = inertial_wrench(node.M, m);
      break;
  }
}

/// The inertial wrench of a node itself, minus the external one. For massless nodes nothing is written if there is no external
/// wrench.
template <class T, class Const, class External>
KANSETSU_HD void put_wrench(const NodeOf<Const>& node, const Drift<T>& m, const External& external, Force<T>& out) {
  if constexpr (std::is_same_v<External, std::nullptr_t>) {
    if (node.leaf || !node.massless) put_inertial_wrench(node, m, out);
  } else {
    out = inertial_wrench(node.M, m) - external(node);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
