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
  /// nv × nv, from the values of the sparse mass matrix; zeros come from one pack more
  std::vector<int> mass_matrix;
  std::vector<int> mass_matrix_zeros;  ///< how many zeros of mass_matrix follow each other from each entry on

  /// 12 per link: the body's pose, or behind all bodies that of a link whose frame is not its body's
  std::vector<int> poses;
  std::vector<int> moved_links;

  /// See kernel::LinksOfBodies
  std::vector<int> links_begin, links_of_bodies;
};

}  // namespace kansetsu::batch
