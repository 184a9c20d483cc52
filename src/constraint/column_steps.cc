#include "constraint/column_steps.h"

#include <algorithm>

namespace kansetsu {

std::vector<ColumnStep> order_column_steps(const TreeView& tree) {
  constexpr int kMostColumns = 3;  // of bodies without mass and what they carry: as many as column_elimination.h takes
  const int bodies = tree.body_count;
  std::vector<int> depth(size_t(bodies), 0), children(size_t(bodies), 0);
  for (int i = 0; i < bodies; ++i) {
    const Body& b = tree.bodies[i];
    depth[size_t(i)] = b.nu + (b.parent < 0 ? 0 : depth[size_t(b.parent)]);
    if (b.parent >= 0) ++children[size_t(b.parent)];
  }
  std::vector<ColumnStep> steps;
  for (int tip = bodies - 1; tip >= 0; tip = steps.back().top - 1) {
    int top = tip, columns = tree.bodies[tip].nu;
    for (int p = tree.bodies[top].parent; p >= 0 && p == top - 1; p = tree.bodies[top].parent) {
      const Body& b = tree.bodies[p];
      if (!b.massless || children[size_t(p)] != 1 || columns + b.nu > kMostColumns) break;
      columns += b.nu;
      top = p;
    }
    steps.push_back({top, tip, depth[size_t(tip)]});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.depth > b.depth; });
  return steps;
}

}  // namespace kansetsu
