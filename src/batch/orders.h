#pragma once

#include <vector>

#include "kansetsu/dynamics/dynamics.h"

/// At which number the pack begins that each number of a row comes from, where the kernels' order is not the row's.
namespace kansetsu::batch {

struct Orders {
  /// @param width  numbers of a pack
  Orders(const Model& model, const SparseMassMatrix& sparse, int width);

  std::vector<int> columns;  ///< 6 × nv, from column by column
  std::vector<int> square;   ///< nv × nv, from column by column
  /// Where the n-th entry of the mass matrix that kernels compute goes among the values they leave
  std::vector<int> slots;
  /// nv × nv, from those values; zeros come from one pack more
  std::vector<int> mass_matrix;

  /// 12 per link: the body's pose, or behind all bodies that of a link whose frame is not its body's
  std::vector<int> poses;
  std::vector<int> moved_links;

  /// See kernel::LinksOfBodies
  std::vector<int> links_begin, links_of_bodies;
};

}  // namespace kansetsu::batch
