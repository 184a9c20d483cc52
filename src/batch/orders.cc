#include "batch/orders.h"

#include <numeric>
#include <utility>

#include "model/tree.h"

namespace kansetsu::batch {
namespace {

std::vector<int> transposed(int rows, int columns) {
  std::vector<int> order;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) order.push_back(c * rows + r);
  }
  return order;
}

}  // namespace

Orders::Orders(const Model& model, const SparseMassMatrix& sparse, int width)
    : columns(transposed(6, model.nv())),
      square(transposed(model.nv(), model.nv())),
      slots(slots_of(sparse)),
      mass_matrix(size_t(model.nv()) * size_t(model.nv()), int(sparse.value.size())) {
  const size_t nv = size_t(model.nv());
  std::vector<int> place(sparse.value.size());
  std::iota(place.begin(), place.end(), 0);
  if (model.tree().view().nodes) {  // values stay in their order, see crba_sparse of kernel::DynamicsKernels
    for (size_t n = 0; n < slots.size(); ++n) place[size_t(std::exchange(slots[n], int(n)))] = int(n);
  }
  for (size_t r = 0; r < nv; ++r) {
    for (int k = sparse.row_start[r]; k < sparse.row_start[r + 1]; ++k) {
      const size_t c = size_t(sparse.column[size_t(k)]);
      mass_matrix[r * nv + c] = mass_matrix[c * nv + r] = place[size_t(k)];
    }
  }
  const Tree& tree = model.tree();
  for (const LinkPlacement& link : tree.links) {
    int from = 12 * link.body;
    if (link.body < 0 || !(link.X_BL == Transform<>{})) {
      from = 12 * (tree.body_count() + int(moved_links.size()));
      moved_links.push_back(int(&link - tree.links.data()));
    }
    for (int k = 0; k < 12; ++k) poses.push_back(from + k);
  }
  for (int body = -1; body < tree.body_count(); ++body) {
    links_begin.push_back(int(links_of_bodies.size()));
    for (size_t l = 0; l < tree.links.size(); ++l) {
      if (tree.links[l].body == body) links_of_bodies.push_back(int(l));
    }
  }
  links_begin.push_back(int(links_of_bodies.size()));
  for (std::vector<int>* order : {&columns, &square, &mass_matrix, &poses}) {
    for (int& pack : *order) pack *= width;
  }
}

}  // namespace kansetsu::batch
