#pragma once

#include <vector>

#include "kansetsu/dynamics/dynamics.h"

/// For each number of a row, the first number of its pack, where the order of the kernels is not that of the row.
namespace kansetsu::batch {

struct Orders {
  /// @param width  numbers of a pack
  Orders(const Model& model, int width);

  std::vector<int> columns;  ///< 6 × nv, from column by column

  /// 12 per link: the body's pose, or, after all bodies, that of a link whose frame differs from its body's
  std::vector<int> poses;
  std::vector<int> moved_links;

  /// See kernel::LinksOfBodies
  std::vector<int> links_begin, links_of_bodies;
};

/// The same for matrices over the columns of v: some nv² numbers each.
struct MatrixOrders {
  MatrixOrders(const Model& model, int width);

  std::vector<int> square;  ///< nv × nv, from column by column
  /// Slot of the n-th entry of the mass matrix that kernels compute
  std::vector<int> slots;
  int values;  ///< entries of the sparse mass matrix
  /// nv × nv, from those values; zeros come from one pack more
  std::vector<int> mass_matrix;
};

}  // namespace kansetsu::batch
