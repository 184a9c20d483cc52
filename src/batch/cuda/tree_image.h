#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "dynamics/lean_tree.h"
#include "kansetsu/base/macros.h"
#include "model/tree.h"

/// A compiled tree as one block of bytes without pointers, so that it can be copied to a device or passed by value.
namespace kansetsu::batch::cuda {

/// The placement of a link on its body, in the number type of a batch.
template <class Const>
struct LinkOf {
  int body = -1;
  Transform<Const> X_BL;
};

/// A tree coordinate of a tree without gears. Coordinate r is before coordinate k, that is, r moves the carrier of k, if
/// r < first of k and k < end of r.
template <class Const>
struct ColumnOf {
  int first = 0;    ///< of the coordinates of its body
  int end = 0;      ///< one past the last coordinate of its subtree
  int column = 0;   ///< of v
  Const rotor = 0;  ///< inertia, in the coordinate of v
};

/// A model, for the threads of a device.
template <class Const>
struct ModelViewOf {
  TreeViewOf<Const> tree;
  const LinkOf<Const>* links;
  int link_count;
  LeanTreeViewOf<Const> lean;  ///< without nodes if the tree has no such form
};

/// The arrays in the block of an image, and their places. All arrays start on 16-byte boundaries.
template <class Const>
struct ImageHeader {
  int bodies, large, rows, terms, rotor_inertia, groups, group_members, group_columns, group_gamma, steps;
  int links, link_count, lean_nodes;
  TreeViewOf<Const> shape;           ///< counts, flags and gravity; its pointers are null
  LeanTreeViewOf<Const> lean_shape;  ///< the same

  /// The model in a block that holds the arrays.
  KANSETSU_HD ModelViewOf<Const> view(const std::byte* block) const {
    TreeViewOf<Const> tree = shape;
    tree.bodies = reinterpret_cast<const BodyOf<Const>*>(block + bodies);
    tree.large = reinterpret_cast<const LargePrimitive*>(block + large);
    tree.rows = reinterpret_cast<const CoordinateRowOf<Const>*>(block + rows);
    tree.terms = reinterpret_cast<const CoordinateTermOf<Const>*>(block + terms);
    tree.rotor_inertia = reinterpret_cast<const Const*>(block + rotor_inertia);
    tree.groups = reinterpret_cast<const Group*>(block + groups);
    tree.group_members = reinterpret_cast<const int*>(block + group_members);
    tree.group_columns = reinterpret_cast<const int*>(block + group_columns);
    tree.group_gamma = reinterpret_cast<const Const*>(block + group_gamma);
    tree.steps = reinterpret_cast<const Step*>(block + steps);
    LeanTreeViewOf<Const> lean = lean_shape;
    lean.nodes = reinterpret_cast<const LeanNodeOf<Const>*>(block + lean_nodes);
    return {tree, reinterpret_cast<const LinkOf<Const>*>(block + links), link_count, lean};
  }
};

template <class Const>
struct TreeImage {
  ImageHeader<Const> header;
  std::vector<std::byte> block;
  std::vector<ColumnOf<Const>> columns;        ///< empty if the tree has gears
  std::optional<LeanLimbsImage<Const>> limbs;  ///< not in the block: few kernels read them

  ModelViewOf<Const> view() const { return header.view(block.data()); }
};

template <class Const>
TreeImage<Const> make_tree_image(const Tree& tree);

}  // namespace kansetsu::batch::cuda
