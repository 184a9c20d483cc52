#define KANSETSU_ISA baseline
#include "assembly/device_tree.h"

#include <algorithm>
#include <bit>

#include "assembly/chain.h"
#include "assembly/clusters.h"
#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

/// Levels of no more clusters than this are one block's work: its teams are as many, and meeting in a block takes a tenth of
/// the time that all blocks of a device need.
constexpr int kNarrow = 16;
constexpr int kShare = 42, kAnswer = 35;

/// Makes operations of clusters, children first.
class TreePlanner {
 public:
  TreePlanner(const Mechanism& mechanism, const Clusters& clusters, DeviceTree& out)
      : mechanism_(mechanism), clusters_(clusters), out_(out), level_(clusters.all().size(), -1) {}

  void run() {
    const int root = clusters_.root();
    for (int c = clusters_[root].first_child; c >= 0; c = clusters_[c].next_sibling) find_level(c);
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
      return level_[size_t(a)] != level_[size_t(b)] ? level_[size_t(a)] < level_[size_t(b)] : a < b;
    });
    place_.assign(clusters_.all().size(), TreeOperation{});
    for (const int c : order_) {
      while (int(out_.level_begin.size()) <= level_[size_t(c)]) out_.level_begin.push_back(int(out_.operations.size()));
      out_.operations.push_back(place_[size_t(c)] = make(c));
    }
    out_.level_begin.push_back(int(out_.operations.size()));
    const int levels = int(out_.level_begin.size()) - 1;
    out_.narrow = levels;
    while (out_.narrow > 0 && width(out_.narrow - 1) <= kNarrow) --out_.narrow;
  }

 private:
  int width(int level) const { return out_.level_begin[size_t(level + 1)] - out_.level_begin[size_t(level)]; }

  /// A level above all its children, without recursion: trees of clusters are flat, but sums and serial orders need not be.
  void find_level(int top) {
    std::vector<int> stack{top};
    while (!stack.empty()) {
      const int c = stack.back();
      int level = 0, waiting = -1;
      for (int k = clusters_[c].first_child; k >= 0; k = clusters_[k].next_sibling) {
        if (level_[size_t(k)] < 0) waiting = k;
        level = std::max(level, level_[size_t(k)] + 1);
      }
      if (waiting >= 0) {
        stack.push_back(waiting);
        continue;
      }
      level_[size_t(c)] = level;
      order_.push_back(c);
      stack.pop_back();
    }
  }

  int link_of(int bond) const {
    return mechanism_.parts[size_t(mechanism_.joints[size_t(mechanism_.bonds[size_t(bond)].index)].child)].body;
  }
  int take(int numbers) {
    const long at = out_.numbers;
    out_.numbers += numbers;
    return int(at);
  }

  TreeOperation make(int c) {
    const Cluster& cluster = clusters_[c];
    TreeOperation op{};
    op.link = op.closes = op.rake = op.hub = -1;
    if (cluster.kind == ClusterKind::kSum) {
      op.kind = TreeOperationKind::kSum;
      op.share = take(kShare);
      add_shares(cluster, op);
      return op;
    }
    op.ports = cluster.kept.size();
    for (int k = 0; k < op.ports; ++k) op.bond[k] = link_of(cluster.kept[k]);
    op.out = take(5 * op.ports * (5 * op.ports + 1));
    if (cluster.kind == ClusterKind::kBody) {
      op.kind = TreeOperationKind::kBody;
      op.link = mechanism_.parts[size_t(cluster.part)].body;
      op.columns = take(6 * 5 * op.ports);
      add_shares(cluster, op);
    } else {
      op.kind = TreeOperationKind::kMerge;
      join(cluster, op);
    }
    if (cluster.raked) {
      op.rake = link_of(cluster.rake_bond);
      op.hub = mechanism_.parts[size_t(cluster.hub)].body;
      op.share = take(kShare);
      op.answer = take(kAnswer);
    }
    return op;
  }

  void add_shares(const Cluster& cluster, TreeOperation& op) {
    op.shares_begin = int(out_.shares.size());
    for (int k = cluster.first_child; k >= 0; k = clusters_[k].next_sibling)
      out_.shares.push_back(place_[size_t(k)].share);
    op.shares_end = int(out_.shares.size());
  }

  void join(const Cluster& cluster, TreeOperation& op) {
    op.closes = link_of(cluster.closed[0]);
    op.force = take(5 * (5 * op.ports + 1));
    int side = 0;
    for (int k = cluster.first_child; k >= 0; k = clusters_[k].next_sibling, ++side) {
      const TreeOperation& child = place_[size_t(k)];
      op.child[side] = child.out;
      op.width[side] = 5 * child.ports + 1;
      for (int i = 0; i < child.ports; ++i) {
        if (child.bond[i] == op.closes) op.close[side] = 5 * i;
        for (int port = 0; port < op.ports; ++port) {
          if (op.bond[port] == child.bond[i]) op.source[port] = side, op.from[port] = 5 * i;
        }
      }
    }
  }

  const Mechanism& mechanism_;
  const Clusters& clusters_;
  DeviceTree& out_;
  std::vector<int> level_, order_;
  std::vector<TreeOperation> place_;
};

/// The longest way from the ground to a link.
int depth_of(const std::vector<int>& parent) {
  std::vector<int> depth;
  for (const int p : parent) depth.push_back(p < 0 ? 1 : depth[size_t(p)] + 1);
  return *std::max_element(depth.begin(), depth.end());
}

}  // namespace

TreeProblem DeviceTree::problem() const {
  TreeProblem p{};
  p.links = links.data();
  p.inertia = inertia.data();
  p.parent = parent.data();
  p.child_begin = child_begin.data();
  p.children = children.data();
  p.operations = operations.data();
  p.level_begin = level_begin.data();
  p.shares = shares.data();
  p.count = int(links.size());
  p.levels = int(level_begin.size()) - 1;
  p.narrow = narrow;
  p.rounds = rounds;
  p.free_base = free_base;
  p.gravity = gravity;
  return p;
}

std::optional<std::string> device_tree_problem(const Model& model) { return simple_joints_problem(model); }

DeviceTree make_device_tree(const Model& model) {
  if (const auto problem = device_tree_problem(model))
    throw Error("model \"" + model.name() + "\" is no tree of simple joints: " + *problem);
  Mechanism mechanism;
  mechanism.add(model);
  const Tree& tree = model.tree();
  DeviceTree out;
  out.links = make_chain_links(model);
  out.free_base = tree.bodies[0].kind == PrimitiveKind::kFree;
  out.gravity = tree.gravity;
  out.nq = tree.nq;
  out.nv = tree.nv;
  for (const Part& part : mechanism.parts) out.inertia.insert(out.inertia.end(), part.A, part.A + 36);
  for (const Body& b : tree.bodies) out.parent.push_back(b.parent);
  out.child_begin.assign(out.links.size() + 1, 0);
  for (const int p : out.parent) {
    if (p >= 0) ++out.child_begin[size_t(p) + 1];
  }
  for (size_t i = 0; i < out.links.size(); ++i) out.child_begin[i + 1] += out.child_begin[i];
  out.children.resize(size_t(out.child_begin.back()));
  std::vector<int> next = out.child_begin;
  for (size_t i = 0; i < out.links.size(); ++i) {
    if (out.parent[i] >= 0) out.children[size_t(next[size_t(out.parent[i])]++)] = int(i);
  }
  out.rounds = int(std::bit_width(unsigned(depth_of(out.parent)) - 1));
  Clusters clusters(mechanism);
  clusters.build(AssemblyOrder::kBalanced);
  TreePlanner(mechanism, clusters, out).run();
  return out;
}

}  // namespace kansetsu
