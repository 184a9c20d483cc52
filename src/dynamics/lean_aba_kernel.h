#pragma once

#include "dynamics/hinge_elimination.h"
#include "dynamics/lean_tree.h"
#include "dynamics/node_kernel.h"

/// The articulated-body algorithm over nodes (node_aba.h) for a thread of a GPU, which has less than 2 KB of fast memory.
/// Frames, elimination and shifts are those of nodes and hinges; only the numbers that are stored between the sweeps
/// differ:
///   * articulated inertia and bias force stay in registers along a limb and are stored only where limbs meet;
///   * velocities likewise: only those of the tips are stored; on the way back a parent's follows from its child's;
///   * the factor of a hinge, q̈ = g − kᵀ·(X·A_P), is stored as seven numbers, with cos, sin and rate.
///
/// Symbols   U = P·S, D = SᵀU + rotor, k = U/D, c = V×S·q̇, g = (τ − SᵀZ − Uᵀc)/D
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The stored numbers of a hinge. In the order of their use, in pieces of four for wide loads.
template <class T>
struct alignas(T) alignas(16) LeanRecord {
  T c, s, rate, g;
  Force<T> k;  ///< axes renamed so that the hinge is about z
};
/// The stored velocity of a tip.
template <class T>
struct alignas(T) alignas(16) LeanTip {
  Motion<T> V;
};
/// Where limbs meet: first the velocity, then the sum over the limbs, then velocity and acceleration.
template <class T>
struct alignas(T) alignas(16) LeanPark {
  ArticulatedInertia<T> P;
  Force<T> Z;
  Motion<T> V, A;
};

template <class T>
struct LeanMemory {
  LeanRecord<T>* records;
  LeanTip<T>* tips;
  LeanPark<T>* parks;

  template <class Const>
  KANSETSU_HD LeanMemory(const LeanTreeViewOf<Const>& tree, void* scratch) {
    auto* at = static_cast<std::byte*>(scratch);
    parks = reinterpret_cast<LeanPark<T>*>(at);
    tips = reinterpret_cast<LeanTip<T>*>(at + std::size_t(tree.park_count) * sizeof(LeanPark<T>));
    records = reinterpret_cast<LeanRecord<T>*>(at + std::size_t(tree.park_count) * sizeof(LeanPark<T>) +
                                               std::size_t(tree.tip_count) * sizeof(LeanTip<T>));
  }
  template <class Const>
  KANSETSU_HD static std::size_t bytes(const LeanTreeViewOf<Const>& tree) {
    return std::size_t(tree.park_count) * sizeof(LeanPark<T>) + std::size_t(tree.tip_count) * sizeof(LeanTip<T>) +
           std::size_t(tree.node_count) * sizeof(LeanRecord<T>);
  }
};

template <class T, class Const>
KANSETSU_HD void add_own(const LeanNodeOf<Const>& node, const Motion<T>& V, ArticulatedBody<T>& b) {
  const Inertia<T> M = lift<T>(node.M);
  const Force<T> Z = cross(V, M * V);
  if (node.leaf) {
    b = {to_articulated(M), Z};
    return;
  }
  b.P.A = b.P.A + M.I;
  b.P.B = b.P.B + skew(M.h);
  b.P.M = b.P.M + Sym3<T>::diagonal(M.m, M.m, M.m);
  b.Z += Z;
}

/// Sines, cosines and rates of all hinges. Four at a time, so that their loads overlap.
template <class T, class Const, class Q, class V>
KANSETSU_HD void lean_posture(const LeanTreeViewOf<Const>& tree, const Q& q, const V& v, const LeanMemory<T>& memory) {
  constexpr int kAhead = 4;
  for (int first = tree.free_base ? 1 : 0; first < tree.node_count; first += kAhead) {
    T angle[kAhead], rate[kAhead];
    for (int k = 0; k < kAhead; ++k) {
      const LeanNodeOf<Const>& node = tree.nodes[first + k < tree.node_count ? first + k : first];
      angle[k] = madd(lift<T>(node.ratio), T(q[node.position]), lift<T>(node.angle_offset));
      rate[k] = lift<T>(node.ratio) * T(v[node.column]);
    }
    for (int k = 0; k < kAhead; ++k) {
      if (first + k >= tree.node_count) break;
      LeanRecord<T>& record = memory.records[first + k];
      T s, c;
      sincos(angle[k], s, c);
      record.c = c;
      record.s = s;
      record.rate = rate[k];
      record.g = T(0);
    }
  }
}

/// Outward: velocities of the tips and of the places where limbs meet.
/// @param V_ground  velocity of the carrier of the tree
template <class T, class Const>
KANSETSU_HD void lean_velocities(const LeanTreeViewOf<Const>& tree, const Motion<T>& V_base, const Motion<T>& V_ground,
                                 const LeanMemory<T>& memory) {
  Motion<T> V = V_base;
  for (int i = 0; i < tree.node_count; ++i) {
    const LeanNodeOf<Const>& node = tree.nodes[i];
    if (node.kind != NodeKind::kFree) {
      const LeanRecord<T>& record = memory.records[i];
      if (!node.chained) {
        V = V_ground;
        if (node.parent_park >= 0) V = memory.parks[node.parent_park].V;
      }
      const T rate = record.rate;
      with_hinge(
          node, record.c, record.s,
          [&](const auto& joint) {
            V = joint.to_child(V);
            joint.add_rate(&rate, V);
          },
          [] {});
    }
    if (node.park >= 0) memory.parks[node.park].V = V;
    if (node.leaf) memory.tips[node.tip].V = V;
  }
}

/// Eliminates one hinge: the record gets its factor, and the articulated body and the velocity become those of the parent in
/// its axes, but still at the hinge.
template <class Joint, class T, class Const>
KANSETSU_HD void lean_eliminate(const LeanNodeOf<Const>& node, const Joint& joint, const T& rate, const T& tau,
                                ArticulatedBody<T>& b, Motion<T>& V, LeanRecord<T>& record, T& singular) {
  constexpr int AX = Joint::kAxis;
  const HingeState<T> state{joint.c, joint.s, joint.p, rate, tau, lift<T>(node.rotor)};
  eliminate_axis<AX, false>(state, V, true, singular, b.P, b.Z, [&](const HingeFactor<T>& f, const Force<T>& gain) {
    const Vec3<T> w = to_z<AX>(V.w), v = to_z<AX>(V.v);
    const T along_c = madd(w.y, f.U.t.x, msub(w.x, f.U.t.y, msub(v.x, f.U.f.y, v.y * f.U.f.x)));  // Uᵀ·c / rate
    record.g = f.D_inv * msub(along_c, rate, f.u);
    record.k = gain;
  });
  along<AX>(V.w) -= rate;
  V = {joint.to_parent_axes(V.w), joint.to_parent_axes(V.v)};
  if constexpr (std::is_same_v<Joint, TurnedHinge<T>>) {
    const Mat3<T>& R = joint.R0;
    b.P = {congruence(R, b.P.A), times_transpose(R * b.P.B, R), congruence(R, b.P.M)};
    b.Z = {R * b.Z.t, R * b.Z.f};
  }
}

/// Inward: returns the sum over the limbs of a free base, without the base itself; with a fixed base, that of the last limb.
/// @param flag  called with a node, and 1 if its hinge moves no inertia, else 0
template <class T, class Const, class Tau, class Flag>
KANSETSU_HD ArticulatedBody<T> lean_inward(const LeanTreeViewOf<Const>& tree, const Tau& tau,
                                           const LeanMemory<T>& memory, Flag&& flag) {
  ArticulatedBody<T> b = no_articulated_body<T>();
  Motion<T> V{b.Z.t, b.Z.f};
  const int first = tree.free_base ? 1 : 0;
  if (tree.node_count <= first) return b;
  T next_tau = T(tau[tree.nodes[tree.node_count - 1].column]);
  for (int i = tree.node_count - 1; i >= first; --i) {
    const LeanNodeOf<Const>& node = tree.nodes[i];
    LeanRecord<T>& record = memory.records[i];
    const T torque = lift<T>(node.ratio) * next_tau;
    next_tau = T(tau[tree.nodes[i > first ? i - 1 : i].column]);  // loaded while this hinge is eliminated
    const T c = record.c, s = record.s, rate = record.rate;
    if (node.leaf) V = memory.tips[node.tip].V;
    if (node.leaf || !node.massless) add_own(node, V, b);
    if (node.park >= 0) {
      b.P += memory.parks[node.park].P;
      b.Z += memory.parks[node.park].Z;
    }
    T singular = T(0);
    with_hinge(
        node, c, s, [&](const auto& joint) { lean_eliminate(node, joint, rate, torque, b, V, record, singular); },
        [] {});
    shift(node, b);
    V.v = add_cross_offset(V.v, -V.w, node);
    flag(node, singular);
    if (node.chained || node.parent_park < 0) continue;
    LeanPark<T>& park = memory.parks[node.parent_park];
    if (node.first_in) {
      park.P = b.P;
      park.Z = b.Z;
    } else {
      park.P += b.P;
      park.Z += b.Z;
    }
  }
  return b;
}

/// Velocity and acceleration.
template <class T>
struct LeanMotion {
  Motion<T> V, A;
};

/// Outward again: accelerations.
/// @param put  called with a node and q̈ of its hinge
template <class T, class Const, class Put>
KANSETSU_HD void lean_accelerate(const LeanTreeViewOf<Const>& tree, const LeanMotion<T>& base,
                                 const LeanMotion<T>& ground, const LeanMemory<T>& memory, Put&& put) {
  Motion<T> V = base.V, A = base.A;
  for (int i = 0; i < tree.node_count; ++i) {
    const LeanNodeOf<Const>& node = tree.nodes[i];
    if (node.kind != NodeKind::kFree) {
      const LeanRecord<T> record = memory.records[i];
      if (!node.chained) {
        V = ground.V, A = ground.A;
        if (node.parent_park >= 0) V = memory.parks[node.parent_park].V, A = memory.parks[node.parent_park].A;
      }
      with_hinge(
          node, record.c, record.s,
          [&](const auto& joint) {
            constexpr int AX = std::remove_cvref_t<decltype(joint)>::kAxis;
            V = joint.to_child(V);
            joint.add_rate(&record.rate, V);
            A = joint.to_child(A);
            const T acceleration = record.g - dot(Motion<T>{to_z<AX>(A.w), to_z<AX>(A.v)}, record.k);
            joint.add_bias(V, &record.rate, A);
            joint.add_rate(&acceleration, A);
            put(node, acceleration);
          },
          [] {});
    }
    if (node.park < 0) continue;
    memory.parks[node.park].V = V;
    memory.parks[node.park].A = A;
  }
}

/// v of a free base.
template <class T, class Numbers>
KANSETSU_HD Motion<T> lean_base_motion(const Numbers& v) {
  return {{T(v[0]), T(v[1]), T(v[2])}, {T(v[3]), T(v[4]), T(v[5])}};
}

/// Acceleration of a free base.
template <class T>
struct LeanBase {
  Motion<T> A;     ///< apparent: gravity as an upward acceleration of the ground
  Motion<T> vdot;  ///< without gravity's share
  T singular;
};

/// @param b  articulated body of the limbs that it carries
template <class T, class Const, class Q, class Tau>
KANSETSU_HD LeanBase<T> lean_solve_base(const LeanTreeViewOf<Const>& tree, const Q& q, const Tau& tau,
                                        const Motion<T>& V_base, const LeanMemory<T>& memory, ArticulatedBody<T> b) {
  const LeanNodeOf<Const>& base = tree.nodes[0];
  add_own(base, V_base, b);
  if (base.park >= 0) {
    b.P += memory.parks[base.park].P;
    b.Z += memory.parks[base.park].Z;
  }
  const T angular = trace(b.P.A), linear = trace(b.P.M);
  const Ldlt<T, 6> f = factor(b.P, T(kPivotNoise<T>) * select(angular < linear, angular, linear));
  const Motion<T> wrench = lean_base_motion<T>(tau);
  LeanBase<T> out;
  out.A = solve(f, Force<T>{wrench.w, wrench.v} - b.Z);
  const int r = base.position + 3;
  const Mat3<T> R = to_mat3(Quaternion<T>{T(q[r]), T(q[r + 1]), T(q[r + 2]), T(q[r + 3])});
  out.vdot = {out.A.w, out.A.v - transpose_times(R, lift<T>(-tree.gravity))};
  out.singular = f.dropped;
  return out;
}
template <class T, class Out>
KANSETSU_HD void lean_put_base(const Motion<T>& x, const Out& out) {
  out[0] = x.w.x, out[1] = x.w.y, out[2] = x.w.z;
  out[3] = x.v.x, out[4] = x.v.y, out[5] = x.v.z;
}

/// Placeholder for an output that is not needed.
struct Unwanted {};

/// Forward dynamics of one state. q, v, tau, vdot and singular are pointers or types with an operator[]; singular may be
/// Unwanted{}.
/// @param scratch  LeanMemory<T>::bytes(tree), on a 16-byte boundary (that of T if it is a pack)
template <class T, class Const, class Q, class V, class Tau, class Out, class Flags>
KANSETSU_HD void lean_aba(const LeanTreeViewOf<Const>& tree, const Q& q, const V& v, const Tau& tau, void* scratch,
                          const Out& vdot, const Flags& singular) {
  constexpr bool kFlags = !std::is_same_v<Flags, Unwanted>;
  const LeanMemory<T> memory(tree, scratch);
  const Vec3<T> zero{T(0), T(0), T(0)};
  const LeanMotion<T> ground{{zero, zero}, {zero, lift<T>(-tree.gravity)}};
  LeanMotion<T> base = ground;
  lean_posture<T>(tree, q, v, memory);
  if (tree.free_base) base.V = lean_base_motion<T>(v);
  lean_velocities(tree, base.V, ground.V, memory);
  const ArticulatedBody<T> b = lean_inward<T>(tree, tau, memory, [&](const LeanNodeOf<Const>& node, const T& flag) {
    if constexpr (kFlags) singular[node.column] = flag;
  });
  if (tree.free_base) {
    const LeanBase<T> solved = lean_solve_base(tree, q, tau, base.V, memory, b);
    base.A = solved.A;
    lean_put_base(solved.vdot, vdot);
    if constexpr (kFlags) {
      for (int k = 0; k < 6; ++k) singular[k] = solved.singular;
    }
  }
  lean_accelerate(tree, base, ground, memory, [&](const LeanNodeOf<Const>& node, const T& acceleration) {
    vdot[node.column] = lift<T>(node.ratio) * acceleration;
  });
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
