#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assembly/device_tree_kernel.h"
#include "kansetsu/model/model.h"

/// A model that is a tree of 1-DOF joints, and the order in which a device joins its links; for device_tree_kernel.h.
namespace kansetsu {

struct DeviceTree {
  std::vector<ChainLink> links;
  std::vector<double> inertia;  ///< 36 per link
  std::vector<int> parent;      ///< −1: the ground
  std::vector<int> child_begin, children;
  std::vector<TreeOperation> operations;  ///< by levels, from the links up
  std::vector<int> level_begin;
  std::vector<int> shares;  ///< where an operation finds what is raked into it
  int narrow = 0;           ///< levels from here on are one block's work
  int rounds = 0;           ///< of the scan of velocities
  bool free_base = false;
  Vec3<> gravity;
  int nq = 0, nv = 0;
  long numbers = 0;  ///< that the operations write

  /// With pointers to constants and operations here; those to memory are not set.
  TreeProblem problem() const;
};

/// Why a model is no such tree (gears, rotors, joints of several coordinates, massless links), or none.
std::optional<std::string> device_tree_problem(const Model& model);
/// Throws Error with the problem.
DeviceTree make_device_tree(const Model& model);

}  // namespace kansetsu
