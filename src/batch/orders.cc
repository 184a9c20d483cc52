#include "batch/orders.h"

#include <algorithm>
#include <initializer_list>
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

/// From numbers of packs to their first numbers.
void to_packs(std::initializer_list<std::vector<int>*> orders, int width) {
  for (std::vector<int>* order : orders) {
    for (int& pack : *order) pack *= width;
  }
}

}  // namespace

Orders::Orders(const Model& model, int width) : columns(transposed(6, model.nv())) {
  const Tree& tree = model.tree();
  for (const LinkPlacement& link : tree.links) {
    int from = 12 * link.body;
    if (link.body < 0 || !(link.X_BL == Transform<>{})) {
      from = 12 * (tree.body_count() + int(moved_links.size()));
      moved_links.push_back(int(&link - tree.links.data()));
    }
    for (int k = 0; k < 12; ++k) poses.push_back(from + k);
  }
  links_of_bodies.resize(tree.links.size());
  std::iota(links_of_bodies.begin(), links_of_bodies.end(), 0);
  const auto body_of = [&](int link) { return tree.links[size_t(link)].body; };
  std::ranges::stable_sort(links_of_bodies, {}, body_of);
  for (int body = -1; body <= tree.body_count(); ++body)
    links_begin.push_back(int(std::ranges::lower_bound(links_of_bodies, body, {}, body_of) - links_of_bodies.begin()));
  to_packs({&columns, &poses}, width);
}

MatrixOrders::MatrixOrders(const Model& model, int width) : square(transposed(model.nv(), model.nv())) {
  const SparseMassMatrix sparse(model);
  const size_t nv = size_t(model.nv());
  slots = slots_of(sparse);
  values = int(sparse.value.size());
  mass_matrix.assign(nv * nv, values);
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
  to_packs({&square, &mass_matrix}, width);
}

}  // namespace kansetsu::batch
