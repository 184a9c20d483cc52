#pragma once

#include "dynamics/node_kernel.h"

/// The articulated-body algorithm over nodes. [Tazz13] §2.4, docs/theory/aba.md. Along a chain articulated inertia and bias force
/// stay in registers; they are stored only where limbs meet.
///
/// Accelerations are relative to the drift, the acceleration due to velocities alone. It is computed in the first outward sweep
/// and enters as an inertial wrench on the nodes with mass. The recursion itself is then free of velocities: Z' = Z + U·D⁻¹·u,
/// and that wrench is all that a node stores.
///
/// The three sweeps are separate functions: in a single function gcc keeps the numbers that pass from node to node in memory
/// (15 % longer).
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// P, the factor of SᵀPS and τ − Sᵀ·Z of a ball.
template <class T>
struct BallFactor {
  ArticulatedInertia<T> P;
  Ldlt<T, 3> D;
  Vec3<T> u;
};

/// Memory of one tree of nodes.
template <class T>
struct NodeWork {
  NodeState<T> state;
  Force<T>* own;        ///< bias wrenches of the leaves and of the nodes with mass; of all nodes if all_own
  bool all_own;         ///< there are external wrenches
  HingeGain<T>* hinge;  ///< per node
  BallFactor<T>* ball;  ///< per ball
  // Where limbs meet:
  Drift<T>* drift;
  Motion<T>* A;
  ArticulatedInertia<T>* P;
  Force<T>* Z;
  const T* tau;  ///< per coordinate
  T* vdot;
  T* singular;  ///< null if not needed
  T *u_memory, *tau_memory;
};

template <class T, class Const>
KANSETSU_HD NodeWork<T> carve_nodes(const NodeTreeViewOf<Const>& tree, Carver<T>& carver) {
  NodeWork<T> w;
  w.state = carve_state(tree, carver);
  w.u_memory = carver.template take<T>(tree.coordinate_count);
  w.own = carver.template take<Force<T>>(tree.node_count);
  w.hinge = carver.template take<HingeGain<T>>(tree.node_count);
  w.ball = carver.template take<BallFactor<T>>(tree.ball_count);
  w.drift = carver.template take<Drift<T>>(tree.gather_count);
  w.A = carver.template take<Motion<T>>(tree.gather_count);
  w.P = carver.template take<ArticulatedInertia<T>>(tree.gather_count);
  w.Z = carver.template take<Force<T>>(tree.gather_count);
  w.tau_memory = carver.template take<T>(tree.coordinate_count);
  w.vdot = carver.template take<T>(tree.coordinate_count);
  w.singular = carver.template take<T>(tree.coordinate_count);
  return w;
}

/// Clears the places where limbs meet. Number by number: structs would be copied through the stack.
template <class T, class Const>
KANSETSU_HD void clear_gathers(const NodeTreeViewOf<Const>& tree, NodeWork<T>& w) {
  for (int g = 0; g < tree.gather_count; ++g) {
    T *P = &w.P[g].A.xx, *Z = &w.Z[g].t.x;
    for (int k = 0; k < 21; ++k) P[k] = T(0);
    for (int k = 0; k < 6; ++k) Z[k] = T(0);
  }
}

/// The articulated body of node i: the sum over its children, its own inertia and its own bias force.
template <class T, class Const>
KANSETSU_HD void collect(const NodeOf<Const>& node, int i, const NodeWork<T>& w, ArticulatedBody<T>& b) {
  if (node.gathers >= 0) {
    b = {w.P[node.gathers], w.Z[node.gathers]};
  } else if (node.leaf) {
    b = {to_articulated(lift<T>(node.M)), w.own[i]};
    return;
  }
  if (!node.massless) add_own(node, b.P);
  if (!node.massless || w.all_own) b.Z += w.own[i];
}

/// D = A + rotors about all three axes: P' = P − [A; Bᵀ]·D⁻¹·[A B].
template <class T, class Const>
KANSETSU_HD void eliminate_ball(const NodeOf<Const>& node, const BallJoint<T>& joint, const T* tau, bool passes_on,
                                ArticulatedBody<T>& b, BallFactor<T>& f, T* singular) {
  const Sym3<T>& A = b.P.A;
  Lower<T, 3> D;
  D(0, 0) = A.xx + lift<T>(node.rotor[0]), D(1, 0) = A.xy, D(1, 1) = A.yy + lift<T>(node.rotor[1]);
  D(2, 0) = A.xz, D(2, 1) = A.yz, D(2, 2) = A.zz + lift<T>(node.rotor[2]);
  f.P = b.P;
  f.D = Ldlt<T, 3>::factor(D, T(kPivotNoise<T>) * trace(A));
  f.u = Vec3<T>{tau[0], tau[1], tau[2]} - b.Z.t;
  if (singular) {
    for (int k = 0; k < 3; ++k) singular[k] = select(f.D.l(k, k) == T(0), T(1), T(0));
  }
  if (!passes_on) return;
  const Mat3<T>& B = b.P.B;
  Force<T> W[3] = {{{A.xx, A.xy, A.xz}, B.x}, {{A.xy, A.yy, A.yz}, B.y}, {{A.xz, A.yz, A.zz}, B.z}};
  T y[3] = {f.u.x, f.u.y, f.u.z};
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < k; ++l) {
      W[k] = madd(-f.D.l(k, l), W[l], W[k]);
      y[k] = msub(f.D.l(k, l), y[l], y[k]);
    }
    const Force<T> w = f.D.l(k, k) * W[k];
    const Force<T>& F = W[k];
    b.P.A = {msub(F.t.x, w.t.x, b.P.A.xx), msub(F.t.x, w.t.y, b.P.A.xy), msub(F.t.x, w.t.z, b.P.A.xz),
             msub(F.t.y, w.t.y, b.P.A.yy), msub(F.t.y, w.t.z, b.P.A.yz), msub(F.t.z, w.t.z, b.P.A.zz)};
    b.P.B = {madd(-F.t.x, w.f, b.P.B.x), madd(-F.t.y, w.f, b.P.B.y), madd(-F.t.z, w.f, b.P.B.z)};
    b.P.M = {msub(F.f.x, w.f.x, b.P.M.xx), msub(F.f.x, w.f.y, b.P.M.xy), msub(F.f.x, w.f.z, b.P.M.xz),
             msub(F.f.y, w.f.y, b.P.M.yy), msub(F.f.y, w.f.z, b.P.M.yz), msub(F.f.z, w.f.z, b.P.M.zz)};
    b.Z = madd(y[k], w, b.Z);
  }
  const Transform<T> X{joint.R, joint.p};
  b = {X * b.P, X * b.Z};
}

/// Outward: drift of the nodes, and their inertial wrenches. ground: drift of the carrier of the tree.
/// @param external  returns the external wrench on a node in its frame; or nullptr
template <class T, class Const, class External>
[[gnu::noinline]] inline void outward(const NodeTreeViewOf<Const>& tree, const T* q, const Drift<T>& ground,
                                      const External& external, NodeWork<T>& w) {
  load_balls(tree, q, w.state);
  w.all_own = !std::is_same_v<External, std::nullptr_t>;
  Drift<T> m = ground;
  for (int i = 0; i < tree.node_count; ++i) {
    const NodeOf<Const>& node = tree.nodes[i];
    take_from_parent(node, ground, w.drift, m);
    const T* u = w.state.u + node.u;
    if (node.kind == NodeKind::kFree) {
      m = at_rest<T>();
      m.w = {u[0], u[1], u[2]};
      m.a = cross(m.w, Vec3<T>{u[3], u[4], u[5]});
    } else {
      go_to_node(node, m);
      with_node(node, w.state, [&](const auto& joint) { pass_joint(joint, u, m); });
    }
    if (node.gathers >= 0) w.drift[node.gathers] = m;
    put_wrench(node, m, external, w.own[i]);
  }
}

/// Eliminates the hinge of node i. On entry b is the sum over its children.
template <int AX, class T, class Const>
KANSETSU_HD void eliminate_hinge(const NodeOf<Const>& node, int i, bool passes_on, const NodeWork<T>& w,
                                 ArticulatedBody<T>& b) {
  const int c = node.u;
  const TurnZ<T> R(w.state.c[c], w.state.s[c]);
  if (node.leaf && node.gathers < 0) {
    eliminate<AX>(R, w.tau[c], node.last, passes_on, w.own[i], b, w.hinge[i], w.singular, c);
    return;
  }
  const T rotor = lift<T>(node.rotor[0]);
  if (node.gathers >= 0 || !node.massless || w.all_own) collect(node, i, w, b);
  if (node.rotor_share > kPivotNoise<T>)
    eliminate<AX, true>(R, w.tau[c], rotor, passes_on, b, w.hinge[i], w.singular, c);
  else
    eliminate<AX, false>(R, w.tau[c], rotor, passes_on, b, w.hinge[i], w.singular, c);
}

/// Inward: returns the articulated body of a carried tree at its carrier. With a free base A[0] is solved for.
/// On entry w.P and w.Z hold the articulated bodies of other trees at the places where limbs meet.
template <class T, class Const>
[[gnu::noinline]] inline ArticulatedBody<T> inward(const NodeTreeViewOf<Const>& tree, bool carried,
                                                   const NodeWork<T>& w) {
  ArticulatedBody<T> b = no_articulated_body<T>();
  for (int i = tree.node_count - 1; i >= 0; --i) {
    const NodeOf<Const>& node = tree.nodes[i];
    const bool passes_on = node.parent >= 0 || carried;
    switch (node.kind) {
      case NodeKind::kHingeX:
        eliminate_hinge<0>(node, i, passes_on, w, b);
        if (passes_on) shift(node, b);
        break;
      case NodeKind::kHingeY:
        eliminate_hinge<1>(node, i, passes_on, w, b);
        if (passes_on) shift(node, b);
        break;
      case NodeKind::kHingeZ:
        eliminate_hinge<2>(node, i, passes_on, w, b);
        if (passes_on) shift(node, b);
        break;
      case NodeKind::kHinge: {
        eliminate_hinge<2>(node, i, passes_on, w, b);
        const Transform<T> X{lift<T>(node.R0), lift<T>(node.p)};
        if (passes_on) b = {X * b.P, X * b.Z};
        break;
      }
      case NodeKind::kBall:
        collect(node, i, w, b);
        eliminate_ball(node, BallJoint<T>{w.state.R[node.ball], lift<T>(node.p)}, w.tau + node.u, passes_on, b,
                       w.ball[node.ball], w.singular ? w.singular + node.u : nullptr);
        break;
      case NodeKind::kFree: {
        collect(node, i, w, b);
        const T angular = trace(b.P.A), linear = trace(b.P.M);
        const Ldlt<T, 6> base = factor(b.P, T(kPivotNoise<T>) * select(angular < linear, angular, linear));
        for (int k = 0; k < 6 && w.singular; ++k) w.singular[k] = base.dropped;
        const T* tau = w.tau;
        w.A[node.gathers] = solve(base, Force<T>{{tau[0], tau[1], tau[2]}, {tau[3], tau[4], tau[5]}} - b.Z);
        break;
      }
    }
    if (node.from < 0) continue;
    w.P[node.from] += b.P;
    w.Z[node.from] += b.Z;
  }
  return b;
}

/// Outward again: accelerations relative to the drift. A_P: that of the carrier of the tree, apparent (gravity as an upward
/// acceleration).
template <class T, class Const>
[[gnu::noinline]] inline void accelerate(const NodeTreeViewOf<Const>& tree, const Motion<T>& A_P, NodeWork<T>& w) {
  Motion<T> A = A_P;
  Motion<T>* const meeting = w.A;
  const T *const cosines = w.state.c, *const sines = w.state.s;
  T* const vdots = w.vdot;
  const HingeGain<T>* const gains = w.hinge;
  const int count = tree.node_count;
  for (int i = 0; i < count; ++i) {
    const NodeOf<Const>& node = tree.nodes[i];
    take_from_parent(node, A_P, meeting, A);
    A = at_node(node, A);
    T* vdot = vdots + node.u;
    const auto hinge = [&]<int AX>(const auto& joint, detail::Constant<AX>) __attribute__((always_inline)) {
      const HingeGain<T>& gain = gains[i];
      const T acceleration = gain.free - dot(Motion<T>{to_z<AX>(A.w), to_z<AX>(A.v)}, gain.k);
      A = joint.to_axes(A);
      joint.add_rate(&acceleration, A);
      vdot[0] = acceleration;
    };
    const T &c = cosines[node.u], &s = sines[node.u];
    const Vec3<T> p = lift<T>(node.p);
    switch (node.kind) {
      case NodeKind::kHingeX:
        hinge(AlignedHinge<T, 0>{c, s, p}, detail::Constant<0>{});
        break;
      case NodeKind::kHingeY:
        hinge(AlignedHinge<T, 1>{c, s, p}, detail::Constant<1>{});
        break;
      case NodeKind::kHingeZ:
        hinge(AlignedHinge<T, 2>{c, s, p}, detail::Constant<2>{});
        break;
      case NodeKind::kHinge:
        A = {transpose_times(lift<T>(node.R0), A.w), transpose_times(lift<T>(node.R0), A.v)};
        hinge(AlignedHinge<T, 2>{c, s, p}, detail::Constant<2>{});
        break;
      case NodeKind::kFree: {
        A = w.A[node.gathers];
        const Vec3<T> lift_off = A.v - transpose_times(w.state.X_base.R, A_P.v);
        vdot[0] = A.w.x, vdot[1] = A.w.y, vdot[2] = A.w.z;
        vdot[3] = lift_off.x, vdot[4] = lift_off.y, vdot[5] = lift_off.z;
        break;
      }
      case NodeKind::kBall: {
        const BallJoint<T> joint{w.state.R[node.ball], p};
        const BallFactor<T>& f = w.ball[node.ball];
        A = joint.to_axes(A);
        const Vec3<T> rest = f.u - (f.P.A * A.w + f.P.B * A.v);
        T y[3] = {rest.x, rest.y, rest.z};
        f.D.solve(y);
        for (int k = 0; k < 3; ++k) vdot[k] = y[k];
        joint.add_rate(y, A);
        break;
      }
    }
    if (node.gathers >= 0) meeting[node.gathers] = A;
  }
}

/// Forward dynamics of states of any number type, all nodes in one tree. v and fext (per body, in B) may be null.
/// @param singular  per column: 1 if its projected inertia vanished, else 0; may be null
template <class T, class Const>
KANSETSU_HD void node_aba(const NodeTreeViewOf<Const>& tree, const Vec3<Const>& gravity, const T* q, const T* v,
                          const T* tau, const Force<T>* fext, void* scratch, T* vdot, T* singular) {
  Carver<T> carver(scratch);
  NodeWork<T> w = carve_nodes(tree, carver);
  load_posture(tree, q, w.state);
  w.state.u = gather_coordinates(tree, v, w.u_memory);
  w.tau = gather_coordinates(tree, tau, w.tau_memory);
  if (tree.in_order || !singular) w.singular = singular;
  if (tree.in_order) w.vdot = vdot;
  if (fext)
    outward(tree, q, at_rest<T>(), [&](const NodeOf<Const>& node) { return fext[node.body[0]]; }, w);
  else
    outward(tree, q, at_rest<T>(), nullptr, w);
  clear_gathers(tree, w);
  inward(tree, false, w);
  const Vec3<T> zero{T(0), T(0), T(0)};
  accelerate(tree, Motion<T>{zero, lift<T>(-gravity)}, w);
  if (tree.in_order) return;
  scatter_coordinates(tree, w.vdot, vdot);
  for (int k = 0; k < tree.coordinate_count && singular; ++k) singular[tree.coordinates[k].column] = w.singular[k];
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
