#pragma once

#include <memory>
#include <vector>

#include "kansetsu/spatial/pack.h"
#include "model/nodes.h"

/// Nodes of single states: limbs that look alike side by side, the rest as a trunk.
namespace kansetsu {

inline constexpr int kLimbLanes = 4, kMostLimbSets = 8;
using LimbConst = Pack<double, kLimbLanes>;

/// The same for all lanes of a set of limbs.
struct LaneCoordinate {
  LimbConst ratio{0.0}, offset{0.0};
  int column[kLimbLanes] = {}, position[kLimbLanes] = {};
};

template <class Const>
struct NodeTreeOf {
  std::vector<NodeOf<Const>> nodes;
  std::vector<NodeCoordinate> coordinates;
  std::vector<LaneCoordinate> lane_coordinates;
  std::vector<int> quaternions;
  int ball_count = 0, gather_count = 0;
  int angles_at = -1;
  bool in_order = false;

  int first_angle() const { return !nodes.empty() && nodes[0].kind == NodeKind::kFree ? 6 : 0; }
  NodeTreeViewOf<Const> view() const {
    return {nodes.data(),
            coordinates.data(),
            lane_coordinates.data(),
            quaternions.data(),
            int(nodes.size()),
            int(coordinates.size() + lane_coordinates.size()),
            ball_count,
            gather_count,
            first_angle(),
            angles_at,
            in_order};
  }
};

/// Limbs side by side: chains that hang on nodes of the trunk.
struct LimbSetView {
  NodeTreeViewOf<LimbConst> tree;
  int count;                ///< limbs; the other lanes carry nothing
  int carrier[kLimbLanes];  ///< node of the trunk; −1: the ground
};
struct LimbSet {
  NodeTreeOf<LimbConst> tree;
  int count = 0;
  int carrier[kLimbLanes] = {-1, -1, -1, -1};
  LimbSetView view() const { return {tree.view(), count, {carrier[0], carrier[1], carrier[2], carrier[3]}}; }
};

/// The whole tree as nodes, and the same split into a trunk and sets of limbs.
struct Nodes {
  NodeTreeOf<double> whole, trunk;
  std::vector<LimbSet> limbs;

  NodeTreeViewOf<double> whole_view, trunk_view;
  std::vector<LimbSetView> limb_views;
};

/// Null if the tree has gears, slides, screws, or free joints besides the base.
std::shared_ptr<const Nodes> make_nodes(const Tree& tree);

/// Fills trunk and limbs of nodes from the whole tree. Limbs are the unbranched chains that hang on branching nodes; up to
/// kLimbLanes of them, the longest first, make a set.
void split_limbs(Nodes& nodes);

Offset offset_of(const Vec3<>& p);
Offset centre_of(const Inertia<>& M);  ///< see NodeOf

/// What a leaf's hinge leaves, from its inertia and rotor.
template <class Const>
void fold_leaf(NodeOf<Const>& node) {
  constexpr double kNoise = 1e-13;  // as kPivotNoise of doubles in the kernels
  if (!node.leaf || node.gathers >= 0 || node.kind == NodeKind::kBall || node.kind == NodeKind::kFree) return;
  node.last = eliminate_leaf(node.M, node.kind == NodeKind::kHinge ? 2 : int(node.kind), node.rotor[0], kNoise);
}

/// Numbers leaves, slots, angles and gathering places of a tree whose nodes and coordinates are there.
/// @param gathers  nodes that must gather although they have at most one child
void number_nodes(NodeTreeOf<double>& tree, const std::vector<bool>& gathers);

}  // namespace kansetsu
