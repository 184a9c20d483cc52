#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assembly/device_tree_kernel.h"
#include "kansetsu/model/model.h"

/// A model that is a tree of 1-DOF joints, and the order in which a device joins its links; for device_tree_kernel.h.
namespace kansetsu {

/// The processors over which a tree is distributed.
struct TreeProcessors {
  int blocks = 1;  ///< upper limit
  int teams = 1;   ///< of each block
  /// Branches of at most this many links are raked link by link by one team: no exchange, but latency grows with the links.
  int branch = 12;
};

struct DeviceTree {
  std::vector<ChainLink> links;
  std::vector<double> inertia;  ///< 36 per link
  std::vector<int> parent;      ///< −1: the ground
  std::vector<TreeOperation> operations;
  std::vector<int> team_begin;  ///< see TreeSchedule
  std::vector<TreePart> parts;
  std::vector<TreeLinkPlan> entries;
  std::vector<int> jumps, needs;
  std::vector<TreeExit> exits;
  std::vector<TreeFinish> finishes;
  int blocks = 1, teams = 1;
  int piece_levels = 0, shared_levels = 0, narrow_levels = 0;
  bool free_base = false;
  Vec3<> gravity;
  int nq = 0, nv = 0;
  // memory
  int posts = 0;                                             ///< of all blocks
  int most_entries = 0, most_carries = 0, most_numbers = 0;  ///< of a block

  /// With pointers to constants and operations here.
  TreeProblem problem() const;
};

/// Why a model is not such a tree (gears, rotors, joints of several coordinates, massless links), or none.
std::optional<std::string> device_tree_problem(const Model& model);
/// Throws Error with the problem.
DeviceTree make_device_tree(const Model& model, const TreeProcessors& on = {});

}  // namespace kansetsu
