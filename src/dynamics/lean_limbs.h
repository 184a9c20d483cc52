#pragma once

#include <cstddef>

#include "dynamics/lean_tree.h"

/// A lean tree cut into a trunk and limbs that look alike (model/limbs.h), for four threads per state: each walks along limbs of
/// its own, and all of them along the trunk. See lean_limb_kernel.h.
namespace kansetsu {

inline constexpr int kLeanLanes = 4, kMostLeanSets = 3;

/// Chains side by side, one per lane, all with the same kinds of hinges.
template <class Const>
struct LeanSetOf {
  LeanTreeViewOf<Const> chain;   ///< of the first lane
  int nodes = 0;                 ///< where that one's nodes are, bytes after those of the trunk
  int lane_stride = 0;           ///< bytes to the next lane
  int carrier[kLeanLanes] = {};  ///< parks of the trunk; −1: the ground
};

template <class Const>
struct LeanLimbsViewOf {
  LeanTreeViewOf<Const> trunk;  ///< every node that carries limbs is parked
  LeanSetOf<Const> sets[kMostLeanSets];
  int set_count = 0;  ///< 0: the tree has no such form

  KANSETSU_HD LeanTreeViewOf<Const> chain(int set, int lane) const {
    LeanTreeViewOf<Const> out = sets[set].chain;
    const auto* at = reinterpret_cast<const std::byte*>(trunk.nodes) + sets[set].nodes + lane * sets[set].lane_stride;
    out.nodes = reinterpret_cast<const LeanNodeOf<Const>*>(at);
    return out;
  }
};

template <class Const>
struct LeanLimbsOf {
  std::vector<std::byte> nodes;  ///< of the trunk, then of each lane of each set
  LeanLimbsViewOf<Const> shape;  ///< its pointers are null

  LeanLimbsViewOf<Const> view() const {
    LeanLimbsViewOf<Const> out = shape;
    out.trunk.nodes = reinterpret_cast<const LeanNodeOf<Const>*>(nodes.data());
    return out;
  }
};

/// None if the tree has no lean form, or no limbs that look alike, or too many kinds of them.
template <class Const>
std::optional<LeanLimbsOf<Const>> make_lean_limbs(const Tree& tree);

}  // namespace kansetsu
