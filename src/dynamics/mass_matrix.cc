#include <algorithm>
#include <vector>

#include "dynamics/crba_kernel.h"
#include "dynamics/kernel_table.h"
#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/derivatives.h"
#include "model/workspace_use.h"

namespace kansetsu {
namespace {

/// Pairs (row, column) of v, column ≤ row, in the order in which crba computes tree entries; several per entry with gears.
template <class Visit>
void visit_entries(const Tree& tree, Visit&& visit) {
  for (int i = tree.body_count() - 1; i >= 0; --i) {
    const Body& b = tree.bodies[size_t(i)];
    for (int k = b.u + b.nu - 1; k >= b.u; --k) {
      for (int l = k; l >= b.u; --l) visit(k, l);
      for (int j = b.parent; j >= 0; j = tree.bodies[size_t(j)].parent) {
        const Body& ancestor = tree.bodies[size_t(j)];
        for (int l = ancestor.u + ancestor.nu - 1; l >= ancestor.u; --l) visit(k, l);
      }
    }
  }
}

}  // namespace

void crba(const Model& model, const VectorRef& q, Workspace& work, Eigen::Ref<Eigen::MatrixXd> M) {
  const WorkspaceUse use = use_workspace("crba", model, q, work);
  check_size("crba", "rows of M", M.rows(), model.nv());
  check_size("crba", "columns of M", M.cols(), model.nv());
  if (M.outerStride() != M.rows()) throw Error("crba: the result must be contiguous");
  kernel::dynamics().crba(model.tree().view(), q.data(), work.data(), M.data());
}

Eigen::MatrixXd crba(const Model& model, const VectorRef& q) {
  Eigen::MatrixXd M(model.nv(), model.nv());
  Workspace work(model);
  crba(model, q, work, M);
  return M;
}

SparseMassMatrix::SparseMassMatrix(const Model& model) : tree_(&model.tree()) {
  const Tree& t = model.tree();
  const auto for_each_entry = [&](auto&& visit) {  // visit(row, column)
    visit_entries(t, [&](int k, int l) {
      for (int s = t.rows[size_t(k)].begin; s < t.rows[size_t(k)].end; ++s) {
        for (int r = t.rows[size_t(l)].begin; r < t.rows[size_t(l)].end; ++r) {
          const auto [low, high] = std::minmax(t.terms[size_t(s)].column, t.terms[size_t(r)].column);
          visit(size_t(high), low);
        }
      }
    });
  };
  std::vector<std::vector<int>> columns_of(size_t(model.nv()));
  for_each_entry([&](size_t row, int low) { columns_of[row].push_back(low); });
  row_start.push_back(0);
  for (std::vector<int>& columns : columns_of) {
    std::sort(columns.begin(), columns.end());
    column.insert(column.end(), columns.begin(), std::unique(columns.begin(), columns.end()));
    row_start.push_back(int(column.size()));
  }
  value.assign(column.size(), 0.0);
  for_each_entry([&](size_t row, int low) {
    const auto first = column.begin() + row_start[row], last = column.begin() + row_start[row + 1];
    slot_.push_back(int(std::lower_bound(first, last, low) - column.begin()));
  });
}

const std::vector<int>& slots_of(const SparseMassMatrix& matrix) { return matrix.slot_; }

void crba(const Model& model, const VectorRef& q, Workspace& work, SparseMassMatrix& out) {
  const WorkspaceUse use = use_workspace("crba", model, q, work);
  if (out.tree_ != &model.tree())
    throw Error("crba: the sparse matrix was made for another model than '" + model.name() + "'");
  kernel::dynamics().crba_sparse(model.tree().view(), q.data(), work.data(), out.slot_.data(), int(out.value.size()),
                                 out.value.data());
}

void mass_matrix_inverse(const Model& model, const VectorRef& q, Workspace& work, Eigen::Ref<Eigen::MatrixXd> out) {
  const WorkspaceUse use = use_workspace("mass_matrix_inverse", model, q, work);
  check_size("mass_matrix_inverse", "rows of the result", out.rows(), model.nv());
  check_size("mass_matrix_inverse", "columns of the result", out.cols(), model.nv());
  if (out.outerStride() != out.rows()) throw Error("mass_matrix_inverse: the result must be contiguous");
  kernel::dynamics().mass_matrix_inverse(model.tree().view(), q.data(), work.data(), out.data());
}

}  // namespace kansetsu
