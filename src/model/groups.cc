#include <algorithm>
#include <numeric>
#include <set>

#include "model/compile.h"

/// Partition of the bodies into coupling groups. A gear between joints with ungeared joints in between, or across limbs,
/// is made a group by taking the joints on the paths to the common ancestor into it, each with its own coordinate: the
/// recursion stays exact and O(N), at the price of a d × d solve for that group.
namespace kansetsu {
namespace {

class UnionFind {
 public:
  explicit UnionFind(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  int find(int i) {
    while (parent_[size_t(i)] != i) i = parent_[size_t(i)] = parent_[size_t(parent_[size_t(i)])];
    return i;
  }
  bool unite(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    parent_[size_t(std::max(a, b))] = std::min(a, b);
    return true;
  }

 private:
  std::vector<int> parent_;
};

int nearest_common_ancestor(const Tree& tree, int a, int b) {
  while (a != b) (a > b ? a : b) = tree.bodies[size_t(std::max(a, b))].parent;  // parents have smaller indices
  return a;
}

std::vector<std::vector<int>> classes(UnionFind& sets, int first, int n) {
  std::vector<std::vector<int>> by_root(size_t(n) + 1);
  for (int i = first; i < n; ++i) by_root[size_t(sets.find(i))].push_back(i);
  std::erase_if(by_root, [](const auto& c) { return c.empty(); });
  return by_root;
}

/// Nearest body above all members that is not one of them.
int common_parent(const Tree& tree, const std::vector<int>& members) {
  int p = tree.bodies[size_t(members.front())].parent;
  for (int m : members) p = nearest_common_ancestor(tree, p, tree.bodies[size_t(m)].parent);
  return p;
}

void add_group(Tree& tree, const std::vector<int>& members) {
  std::vector<CoordinateRow> rows;
  for (int m : members) {
    const Body& b = tree.bodies[size_t(m)];
    rows.insert(rows.end(), tree.rows.begin() + b.u, tree.rows.begin() + b.u + b.nu);
  }
  std::set<int> columns;
  for (const CoordinateRow& row : rows) {
    for (int t = row.begin; t < row.end; ++t) columns.insert(tree.terms[size_t(t)].column);
  }
  const int d = int(columns.size());
  Group g{.parent = common_parent(tree, members),
          .d = d,
          .members = int(tree.group_members.size()),
          .member_count = int(members.size()),
          .columns = int(tree.group_columns.size()),
          .gamma = int(tree.group_gamma.size()),
          .scratch = tree.group_scratch};
  tree.group_members.insert(tree.group_members.end(), members.begin(), members.end());
  tree.group_columns.insert(tree.group_columns.end(), columns.begin(), columns.end());
  for (const CoordinateRow& row : rows) {
    std::vector<double> dense(size_t(d), 0.0);
    for (int t = row.begin; t < row.end; ++t) {
      const auto at = columns.find(tree.terms[size_t(t)].column);
      dense[size_t(std::distance(columns.begin(), at))] = tree.terms[size_t(t)].ratio;
    }
    tree.group_gamma.insert(tree.group_gamma.end(), dense.begin(), dense.end());
  }
  tree.group_scratch += group_scratch_size(g.member_count, d);
  for (int m : members) tree.bodies[size_t(m)].step = int(tree.steps.size());
  tree.steps.push_back({.body = -1, .group = int(tree.groups.size()), .parent = g.parent});
  tree.groups.push_back(g);
}

}  // namespace

void form_groups(Tree& tree) {
  const int n = tree.body_count();
  const int first = tree.free_base ? 1 : 0;
  UnionFind sets(size_t(n) + 1);

  // Bodies that share a coordinate, or that are the chain of one joint, belong together.
  std::vector<int> owner(size_t(tree.nv), -1);
  for (int i = first; i < n; ++i) {
    const Body& b = tree.bodies[size_t(i)];
    if (i > first && tree.joint_of_body[size_t(i)] == tree.joint_of_body[size_t(i - 1)]) sets.unite(i, i - 1);
    for (int k = 0; k < b.nu; ++k) {
      const CoordinateRow& row = tree.rows[size_t(b.u + k)];
      for (int t = row.begin; t < row.end; ++t) {
        int& o = owner[size_t(tree.terms[size_t(t)].column)];
        if (o < 0) o = i;
        sets.unite(i, o);
      }
    }
  }
  // Close each class under the paths to its common parent; that may merge classes, so repeat.
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::vector<int>& members : classes(sets, first, n)) {
      const int p = common_parent(tree, members);
      for (int m : members) {
        for (int a = tree.bodies[size_t(m)].parent; a != p; a = tree.bodies[size_t(a)].parent) {
          changed |= sets.unite(a, m);
        }
      }
    }
  }

  // Classes come ordered by their smallest body: a group's parent always belongs to an earlier one.
  for (const std::vector<int>& members : classes(sets, first, n)) {
    Body& b = tree.bodies[size_t(members.front())];
    const CoordinateRow& row = tree.rows[size_t(b.u)];
    if (members.size() == 1 && b.aligned_axis >= 0 && row.end - row.begin == 1) {
      b.step = int(tree.steps.size());
      tree.steps.push_back({.body = members.front(), .group = -1, .parent = b.parent});
      continue;
    }
    add_group(tree, members);
  }
  for (size_t i = tree.steps.size(); i-- > 0;) {
    Step& step = tree.steps[i];
    if (step.parent < 0) continue;
    Body& parent = tree.bodies[size_t(step.parent)];
    step.opens = parent.leaf;
    parent.leaf = false;
  }
}

}  // namespace kansetsu
