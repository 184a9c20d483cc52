#include "model/columns.h"

#include <algorithm>
#include <numeric>

#include "model/tree.h"

namespace kansetsu {
namespace {

/// Whether tree coordinates are the user's, up to signs: no gears, no other order.
bool is_ordered(const Tree& tree) {
  if (!tree.simple) return false;
  for (int k = 0; k < tree.nu; ++k) {
    if (tree.terms[size_t(k)].column != k) return false;
  }
  return true;
}

/// Of every column the ones that move it, and those of its body before it.
void add_paths(const Tree& tree, ColumnTables& out) {
  out.path_begin.assign(size_t(out.columns) + 1, 0);
  if (tree.nu > kMatrixColumns) return;
  for (int k = 0; k < tree.nu; ++k) {
    for (int l = 0; l < k; ++l) {
      if (out.end[size_t(l)] > k) out.path.push_back(l);
    }
    out.path_begin[size_t(k) + 1] = int(out.path.size());
  }
}

void add_inertias(const Tree& tree, ColumnTables& out) {
  out.inertia.assign(size_t(10 * out.bodies), 0.0);
  for (size_t i = 0; i < tree.bodies.size(); ++i) {
    const Inertia<>& M = tree.bodies[i].M_B;
    const double numbers[] = {M.m, M.h.x, M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.xz, M.I.yy, M.I.yz, M.I.zz};
    for (size_t n = 0; n < std::size(numbers); ++n) out.inertia[n * size_t(out.bodies) + i] = numbers[n];
  }
}

}  // namespace

ColumnTables make_column_tables(const Tree& tree) {
  ColumnTables out;
  out.ordered = is_ordered(tree);
  out.columns = padded_columns(tree.nu);
  out.bodies = padded_columns(tree.body_count());
  const size_t n = size_t(out.columns);
  out.body.assign(n, 0);
  out.sign.assign(n, 1.0);
  out.first.assign(n, 0);
  out.end.assign(n, 0);
  out.block_end.assign(n / kColumnBlock, 0);
  out.block_joint.assign(n / kColumnBlock, 0);
  std::vector<int> end(tree.bodies.size(), 0);
  for (int i = tree.body_count() - 1; i >= 0; --i) {
    const Body& b = tree.bodies[size_t(i)];
    end[size_t(i)] = std::max(end[size_t(i)], b.u + b.nu);
    if (b.parent >= 0) end[size_t(b.parent)] = std::max(end[size_t(b.parent)], end[size_t(i)]);
    for (int k = b.u; k < b.u + b.nu; ++k) {
      out.body[size_t(k)] = i;
      out.first[size_t(k)] = b.u;
      out.end[size_t(k)] = end[size_t(i)];
      if (out.ordered) out.sign[size_t(k)] = tree.terms[size_t(k)].ratio;
      int& block = out.block_end[size_t(k / kColumnBlock)];
      block = std::max(block, end[size_t(i)]);
      if (b.nu > 1) out.block_joint[size_t(k / kColumnBlock)] = 1;
    }
  }
  out.first_lanes.assign(out.first.begin(), out.first.end());
  out.end_lanes.assign(out.end.begin(), out.end.end());
  out.row_lanes.resize(n);
  std::iota(out.row_lanes.begin(), out.row_lanes.end(), 0.0);
  add_paths(tree, out);
  add_inertias(tree, out);
  return out;
}

}  // namespace kansetsu
