#pragma once

#include <vector>

#include "assembly/clusters.h"

/// Which team and block of a device joins which clusters of a tree, and in which order; used by device_tree.cc.
namespace kansetsu {

struct TreePlan {
  using List = std::vector<int>;          ///< of clusters
  std::vector<List> team;                 ///< per team, of all blocks: whole branches, children first
  std::vector<std::vector<List>> pieces;  ///< per level and block: clusters above them in the block's pieces
  std::vector<List> shared;               ///< per team, of all blocks: clusters above the pieces, lower levels first
  std::vector<List> narrow;               ///< per level: the rest, computed by the first block
  List order;                             ///< all of them, children first
  int shared_levels = 0;
  std::vector<int> block;  ///< per cluster: the block that computes it
  /// Per cluster. Within a section teams wait for each other, so that results can stay in the block's memory.
  std::vector<int> section;
};

/// Branches of at most this many links go to single teams. Whole branches of the tree of clusters are distributed, the largest first,
/// each to the team or block with the least work.
TreePlan plan_device_tree(const Clusters& clusters, int blocks, int teams, int branch);

}  // namespace kansetsu
