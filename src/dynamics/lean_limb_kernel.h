#pragma once

#include "dynamics/lean_aba_kernel.h"

/// The articulated-body algorithm of lean_aba_kernel.h by four threads per state, for batches too small to fill a device: each
/// thread computes its own limbs, so that the critical path is one limb and the trunk. All four compute the trunk
/// redundantly; they synchronise once, where the limbs meet the trunk.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Articulated bodies of the limbs at their carriers, shared by the lanes: number k of a set is numbers[k·stride + lane].
template <class T>
struct LeanExchange {
  static constexpr int kNumbers = 27;  ///< of an articulated body

  T* numbers;  ///< of the first lane of this state
  int stride;

  KANSETSU_HD void put(int set, int lane, const ArticulatedBody<T>& b) const {
    const T n[kNumbers] = {b.P.A.xx,  b.P.A.xy,  b.P.A.xz,  b.P.A.yy,  b.P.A.yz,  b.P.A.zz,  b.P.B.x.x,
                           b.P.B.x.y, b.P.B.x.z, b.P.B.y.x, b.P.B.y.y, b.P.B.y.z, b.P.B.z.x, b.P.B.z.y,
                           b.P.B.z.z, b.P.M.xx,  b.P.M.xy,  b.P.M.xz,  b.P.M.yy,  b.P.M.yz,  b.P.M.zz,
                           b.Z.t.x,   b.Z.t.y,   b.Z.t.z,   b.Z.f.x,   b.Z.f.y,   b.Z.f.z};
    for (int k = 0; k < kNumbers; ++k) numbers[(set * kNumbers + k) * stride + lane] = n[k];
  }
  KANSETSU_HD ArticulatedBody<T> get(int set, int lane) const {
    T n[kNumbers];
    for (int k = 0; k < kNumbers; ++k) n[k] = numbers[(set * kNumbers + k) * stride + lane];
    return {{{n[0], n[1], n[2], n[3], n[4], n[5]},
             {{n[6], n[7], n[8]}, {n[9], n[10], n[11]}, {n[12], n[13], n[14]}},
             {n[15], n[16], n[17], n[18], n[19], n[20]}},
            {{n[21], n[22], n[23]}, {n[24], n[25], n[26]}}};
  }
};

/// The trees that one thread computes. One loop over the stages keeps one copy of the code of each sweep: instructions take
/// memory bandwidth, too.
template <class T, class Const>
struct LeanStages {
  const LeanLimbsOf<Const>& limbs;
  const std::byte* nodes;
  int lane;
  void* scratch;

  KANSETSU_HD LeanTreeViewOf<Const> tree(int stage) const { return limbs.tree(stage, lane, nodes); }
  KANSETSU_HD LeanMemory<T> memory(int stage) const {
    const LeanStageOf<Const>& s = limbs.stages[stage];
    const std::size_t before = std::size_t(s.parks_before) * sizeof(LeanPark<T>) +
                               std::size_t(s.tips_before) * sizeof(LeanTip<T>) +
                               std::size_t(s.nodes_before) * sizeof(LeanRecord<T>);
    return LeanMemory<T>(s.tree, static_cast<std::byte*>(scratch) + before);
  }
  /// Park of the trunk that carries the thread's chain; −1: the ground.
  KANSETSU_HD int carrier(int stage) const { return limbs.stages[stage].carrier[lane]; }

  static std::size_t bytes(const LeanLimbsOf<Const>& limbs) {
    std::size_t out = 0;
    for (int s = 0; s < limbs.stage_count; ++s) out += LeanMemory<T>::bytes(limbs.stages[s].tree);
    return out;
  }
};

/// Sums up the limbs at the parks of the trunk that carry them.
template <class T, class Const>
KANSETSU_HD void lean_collect(const LeanLimbsOf<Const>& limbs, const LeanExchange<T>& exchange,
                              const LeanMemory<T>& trunk) {
  for (int k = 0; k < limbs.trunk().park_count; ++k) {
    const ArticulatedBody<T> none = no_articulated_body<T>();
    trunk.parks[k].P = none.P;
    trunk.parks[k].Z = none.Z;
  }
  for (int stage = 1; stage < limbs.stage_count; ++stage) {
    for (int lane = 0; lane < kLeanLanes; ++lane) {
      const int at = limbs.stages[stage].carrier[lane];
      if (at < 0) continue;
      const ArticulatedBody<T> b = exchange.get(stage - 1, lane);
      trunk.parks[at].P += b.P;
      trunk.parks[at].Z += b.Z;
    }
  }
}

/// The work of lane `lane` for one state, see lean_aba().
/// @param nodes  those of `limbs`   @param scratch  LeanStages<T, Const>::bytes(limbs) of its own
/// @param exchange  shared by the lanes of the state
/// @param writes  whether the lane writes its results
/// @param meet  called twice: returns when all lanes of the state have called it
template <class T, class Const, class Q, class V, class Tau, class Out, class Flags, class Meet>
KANSETSU_HD void lean_limb_aba(const LeanLimbsOf<Const>& limbs, const std::byte* nodes, int lane, const Q& q,
                               const V& v, const Tau& tau, void* scratch, const LeanExchange<T>& exchange, bool writes,
                               const Out& vdot, const Flags& singular, Meet&& meet) {
  constexpr bool kFlags = !std::is_same_v<Flags, Unwanted>;
  const LeanStages<T, Const> stages{limbs, nodes, lane, scratch};
  const LeanMemory<T> trunk = stages.memory(0);
  const Vec3<T> zero{T(0), T(0), T(0)};
  const LeanMotion<T> world{{zero, zero}, {zero, lift<T>(-limbs.trunk().gravity)}};
  LeanMotion<T> base = world;
  if (limbs.trunk().free_base) base.V = lean_base_motion<T>(v);
  const bool writes_trunk = writes && lane == 0;
  // A lane whose limb is shorter than the others is padded with hinges of ratio 0 at its end.
  const auto is_wanted = [&](int stage, const LeanNodeOf<Const>& node) {
    return stage == 0 ? writes_trunk : writes && node.ratio != Const(0);
  };

  for (int stage = 0; stage < limbs.stage_count; ++stage) {
    const LeanMemory<T> memory = stages.memory(stage);
    lean_posture<T>(stages.tree(stage), q, v, memory);
    const int carrier = stages.carrier(stage);
    const Motion<T> V_ground = carrier < 0 ? world.V : trunk.parks[carrier].V;
    lean_velocities(stages.tree(stage), base.V, V_ground, memory);
  }
  ArticulatedBody<T> b = no_articulated_body<T>();
  for (int stage = limbs.stage_count - 1; stage >= 0; --stage) {
    if (stage == 0) {
      meet();
      lean_collect(limbs, exchange, trunk);
      meet();
    }
    b = lean_inward<T>(stages.tree(stage), tau, stages.memory(stage),
                       [&](const LeanNodeOf<Const>& node, const T& flag) {
                         if constexpr (kFlags) {
                           if (is_wanted(stage, node)) singular[node.column] = flag;
                         }
                       });
    if (stage > 0) exchange.put(stage - 1, lane, b);
  }
  if (limbs.trunk().free_base) {
    const LeanBase<T> solved = lean_solve_base(stages.tree(0), q, tau, base.V, trunk, b);
    base.A = solved.A;
    if (writes_trunk) {
      lean_put_base(solved.vdot, vdot);
      if constexpr (kFlags) {
        for (int k = 0; k < 6; ++k) singular[k] = solved.singular;
      }
    }
  }
  for (int stage = 0; stage < limbs.stage_count; ++stage) {
    const int carrier = stages.carrier(stage);
    LeanMotion<T> ground = world;
    if (carrier >= 0) ground = {trunk.parks[carrier].V, trunk.parks[carrier].A};
    lean_accelerate(stages.tree(stage), base, ground, stages.memory(stage),
                    [&](const LeanNodeOf<Const>& node, const T& acceleration) {
                      if (is_wanted(stage, node)) vdot[node.column] = lift<T>(node.ratio) * acceleration;
                    });
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
