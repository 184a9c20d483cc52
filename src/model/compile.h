#pragma once

#include "kansetsu/model/model.h"
#include "model/tree.h"

namespace kansetsu {

/// Coordinates of the joints of an ordered, valid description: which are independent, and how the others follow.
struct Coordinates {
  int nq = 0, nv = 0;
  CoordinateRange base;
  std::vector<CoordinateRange> joints;
  std::vector<std::vector<Model::Row>> rows;  ///< per joint and coordinate
  std::vector<int> position_of_column;        ///< nv; −1 inside quaternion joints
  std::vector<std::string> dof_names;         ///< nv
};

/// Links depth first, children in file order; joint i carries link i + 1. The description must be a valid tree.
void order_depth_first(ModelDescription& description);

/// Numbers the independent coordinates and resolves couplings of couplings.
Coordinates assign_coordinates(const ModelDescription& ordered);

/// The form that kernels read.
Tree compile_tree(const ModelDescription& ordered, const Coordinates& coordinates);

/// Partitions the bodies into groups and steps (called by compile_tree).
void form_groups(Tree& tree);

/// Inertia of a link about and in its own frame; zero if it has none.
Inertia<> link_inertia(const LinkDescription& link);

}  // namespace kansetsu
