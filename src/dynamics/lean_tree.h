#pragma once

#include <optional>
#include <vector>

#include "model/nodes.h"

/// The tree as a thread with little memory sees it: hinges only, one after the other as a walk over the tree meets them, with
/// all that is known of each in one place. See lean_aba_kernel.h.
namespace kansetsu {

enum class LeanKind {
  kHingeX,  ///< a hinge about x, y or z of two frames that are parallel at q = 0
  kHingeY,
  kHingeZ,
  kHinge,  ///< a hinge about z of a frame turned by R0
  kFree,   ///< the free base; node 0
};

template <class Const>
struct LeanNodeOf {
  LeanKind kind = LeanKind::kHingeZ;
  bool chained = false;         ///< the node before it is its parent, and it is that one's first child
  bool leaf = true;             ///< nothing hangs on it
  bool massless = false;        ///< M = 0
  bool first_in = false;        ///< not chained, and the first to reach its parent on the way from the tips
  Offset reach = Offset::kAny;  ///< what is known of p
  int parent_park = -1;         ///< not chained: where its parent is parked; −1: the parent is the ground
  int park = -1;                ///< where it is parked itself, if it has several children
  int tip = -1;                 ///< its number among the leaves
  int column = 0;               ///< of v, v̇ and τ
  int position = 0;             ///< in q; of a free base: its first entry
  Const ratio = 1;              ///< u = ratio·v[column], angle = ratio·q[position] + offset
  Const offset = 0, rotor = 0;
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

}  // namespace kansetsu
