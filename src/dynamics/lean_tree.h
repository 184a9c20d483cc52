#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/nodes.h"

/// Nodes (model/nodes.h) for threads with little memory: hinges only, with all constants of each in one place, and the places of
/// the numbers that are stored between the sweeps. The whole tree for lean_aba_kernel.h; a trunk and limbs of equal structure
/// (model/limbs.h), for four threads per state, for lean_limb_kernel.h.
namespace kansetsu {

template <class Const>
struct LeanNodeOf {
  NodeKind kind = NodeKind::kHingeZ;  ///< never kBall
  bool chained = false;               ///< the node before it is its parent, and it is that one's first child
  bool leaf = true;                   ///< it has no children
  bool massless = false;              ///< M = 0
  bool first_in = false;              ///< not chained, and the first to reach its parent on the way from the tips
  Offset offset = Offset::kAny;       ///< which entries of p are zero
  int parent_park = -1;               ///< not chained: where its parent is parked; −1: the parent is the ground
  int park = -1;                      ///< where it is parked itself, if it has several children
  int tip = -1;                       ///< its number among the leaves
  int column = 0;                     ///< of v, v̇ and τ
  int position = 0;                   ///< in q; of a free base: its first entry
  Const ratio = 1;                    ///< u = ratio·v[column], angle = ratio·q[position] + angle_offset
  Const angle_offset = 0, rotor = 0;
  Vec3<Const> p;  ///< p_PB
  Mat3<Const> R0 = Mat3<Const>::identity();
  Inertia<Const> M;
};

template <class Const>
struct LeanTreeViewOf {
  const LeanNodeOf<Const>* nodes = nullptr;
  int node_count = 0, tip_count = 0, park_count = 0;
  bool free_base = false;
  Vec3<Const> gravity;
};

template <class Const>
struct LeanTreeOf {
  std::vector<LeanNodeOf<Const>> nodes;
  LeanTreeViewOf<Const> shape;  ///< counts; its pointer is null

  LeanTreeViewOf<Const> view() const {
    LeanTreeViewOf<Const> out = shape;
    out.nodes = nodes.data();
    return out;
  }
};

/// None if the tree has anything but hinges and a free base, or gears.
template <class Const>
std::optional<LeanTreeOf<Const>> make_lean_tree(const Tree& tree);

inline constexpr int kLeanLanes = 4, kMostLeanSets = 3;

/// The trunk, or chains side by side, one per lane, all with the same kinds of hinges.
template <class Const>
struct LeanStageOf {
  LeanTreeViewOf<Const> tree;                  ///< its pointer is null
  int nodes = 0;                               ///< where those of the first lane are, in bytes
  int lane_stride = 0;                         ///< bytes to those of the next lane; 0: all lanes share them
  int carrier[kLeanLanes] = {-1, -1, -1, -1};  ///< of each lane: a park of the trunk; −1: the ground
  int parks_before = 0, tips_before = 0, nodes_before = 0;  ///< in stages before this one
};

/// Stage 0 is the trunk, in which every node that carries limbs is parked; the others are sets of limbs.
template <class Const>
struct LeanLimbsOf {
  LeanStageOf<Const> stages[1 + kMostLeanSets];
  int stage_count = 0;

  KANSETSU_HD const LeanTreeViewOf<Const>& trunk() const { return stages[0].tree; }
  /// @param nodes  of all stages
  KANSETSU_HD LeanTreeViewOf<Const> tree(int stage, int lane, const std::byte* nodes) const {
    LeanTreeViewOf<Const> out = stages[stage].tree;
    const std::byte* at = nodes + stages[stage].nodes + lane * stages[stage].lane_stride;
    out.nodes = reinterpret_cast<const LeanNodeOf<Const>*>(at);
    return out;
  }
};

/// The same with the nodes of all stages as one block of bytes.
template <class Const>
struct LeanLimbsImage {
  LeanLimbsOf<Const> limbs;
  std::vector<std::byte> nodes;
};

/// None if the tree has no lean form, or no limbs of equal structure, or too many kinds of them.
template <class Const>
std::optional<LeanLimbsImage<Const>> make_lean_limbs(const Tree& tree);

}  // namespace kansetsu
