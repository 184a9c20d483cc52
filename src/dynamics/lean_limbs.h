#pragma once

#include <cstddef>

#include "dynamics/lean_tree.h"

/// A lean tree cut into a trunk and limbs that look alike (model/limbs.h), for four threads per state: each walks along limbs of
/// its own, and all of them along the trunk. See lean_limb_kernel.h.
namespace kansetsu {

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

/// With the nodes of all stages as one block of bytes.
template <class Const>
struct LeanLimbsImage {
  LeanLimbsOf<Const> limbs;
  std::vector<std::byte> nodes;
};

/// None if the tree has no lean form, or no limbs that look alike, or too many kinds of them.
template <class Const>
std::optional<LeanLimbsImage<Const>> make_lean_limbs(const Tree& tree);

}  // namespace kansetsu
