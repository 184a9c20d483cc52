#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "kansetsu/base/macros.h"
#include "model/tree.h"

/// A compiled tree as one block of bytes without pointers, so that it can be copied to a device or passed by value.
namespace kansetsu::batch::cuda {

/// Where a link of the user sits, in the number type of a batch.
template <class Const>
struct LinkOf {
  int body = -1;
  Transform<Const> X_BL;
};

/// What is in the block of an image, and where. All arrays start on 16-byte boundaries.
template <class Const>
struct ImageHeader {
  int bodies, large, rows, terms, rotor_inertia, groups, group_members, group_columns, group_gamma, steps;
  int links, link_count;
  TreeViewOf<Const> shape;  ///< counts, flags and gravity; its pointers are null

  /// The tree as kernels read it, in a block that holds the arrays.
  KANSETSU_HD TreeViewOf<Const> view(const std::byte* block) const {
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
    return tree;
  }
  KANSETSU_HD const LinkOf<Const>* link_array(const std::byte* block) const {
    return reinterpret_cast<const LinkOf<Const>*>(block + links);
  }
};

template <class Const>
struct TreeImage {
  ImageHeader<Const> header;
  std::vector<std::byte> block;

  TreeViewOf<Const> view() const { return header.view(block.data()); }
};

template <class Const>
TreeImage<Const> make_tree_image(const Tree& tree);

}  // namespace kansetsu::batch::cuda
