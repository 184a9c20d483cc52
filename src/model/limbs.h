#pragma once

#include "model/nodes.h"

namespace kansetsu {

/// Fills trunk and limbs of nodes from the whole tree. Limbs are the unbranched chains that hang on branching nodes; up to
/// kLimbLanes of them, the longest first, make a set.
void split_limbs(Nodes& nodes);

Offset offset_of(const Vec3<>& p);

/// Numbers leaves, slots, angles and gathering places of a tree whose nodes and coordinates are there.
/// @param gathers  nodes that must gather although they have at most one child
void number_nodes(NodeTreeOf<double>& tree, const std::vector<bool>& gathers);

}  // namespace kansetsu
