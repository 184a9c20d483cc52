#include "assembly/device_tree_plan.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace kansetsu {
namespace {

constexpr int kLeafCost = 2, kCost = 3;  ///< of a step of a leaf, of other clusters: their waits are as 2 to 3
constexpr int kFewestTeams = 8;          ///< fewer would share levels of a handful of clusters

class TreePlanner {
 public:
  TreePlanner(const Clusters& clusters, int blocks, int teams, int branch)
      : clusters_(clusters),
        blocks_(blocks),
        teams_(teams),
        branch_(kLeafCost * branch),
        work_(clusters.all().size()),
        level_(clusters.all().size(), -1) {
    plan_.block.assign(clusters.all().size(), 0);
    plan_.section.assign(clusters.all().size(), -1);
  }

  TreePlan run() {
    const int root = clusters_.root();
    plan_.order = whole({root});
    plan_.order.pop_back();
    weigh();
    const double piece = std::max(double(branch_), double(work_[size_t(root)]) / blocks_);
    std::vector<int> pieces, rest;
    cut({root}, piece, pieces, rest);
    std::erase(rest, root);
    share_pieces(pieces);
    share_rest(rest);
    return std::move(plan_);
  }

 private:
  void share_pieces(const std::vector<int>& pieces) {
    plan_.team.resize(size_t(blocks_) * size_t(teams_));
    const std::vector<std::vector<int>> of_block = share_out(pieces, blocks_);
    for (size_t b = 0; b < of_block.size(); ++b) {
      std::vector<int> branches, above;
      cut(of_block[b], branch_, branches, above);
      const std::vector<std::vector<int>> of_team = share_out(branches, teams_);
      for (size_t t = 0; t < of_team.size(); ++t) plan_.team[b * size_t(teams_) + t] = whole(of_team[t]);
      const std::vector<std::vector<int>> own = by_levels(above);
      if (plan_.pieces.size() < own.size())
        plan_.pieces.resize(own.size(), std::vector<std::vector<int>>(of_block.size()));
      for (size_t k = 0; k < own.size(); ++k) plan_.pieces[k][b] = own[k];
      for (const int c : whole(of_block[b])) plan_.block[size_t(c)] = plan_.section[size_t(c)] = int(b);
    }
  }
  /// Levels that the teams of a block do at once are one block's work: its memory is nearer than that of all blocks. The others go to
  /// one block after the other, the last one first: the first has the narrow levels to come.
  void share_rest(const std::vector<int>& rest) {
    const std::vector<std::vector<int>> levels = by_levels(rest);
    size_t narrow = levels.size();
    while (narrow > 0 && int(levels[narrow - 1].size()) <= std::max(teams_, kFewestTeams)) --narrow;
    plan_.shared_levels = int(narrow);
    plan_.shared.resize(plan_.team.size());
    int next = 0, section = blocks_;
    for (size_t level = 0; level < narrow; ++level) {
      for (const int c : levels[level]) {
        const int b = blocks_ - 1 - next % blocks_, team = next / blocks_ % teams_;
        plan_.shared[size_t(b * teams_ + team)].push_back(c);
        plan_.block[size_t(c)] = b;
        plan_.section[size_t(c)] = ++section;  // of its own
        ++next;
      }
    }
    for (size_t level = narrow; level < levels.size(); ++level) {
      for (const int c : levels[level]) plan_.block[size_t(c)] = 0, plan_.section[size_t(c)] = blocks_;
      plan_.narrow.push_back(levels[level]);
    }
  }

  template <class Each>
  void for_children(int c, const Each& each) const {
    for (int k = clusters_[c].first_child; k >= 0; k = clusters_[k].next_sibling) each(k);
  }
  /// Below and with these, children before parents; without recursion, orders may be deep.
  std::vector<int> whole(const std::vector<int>& tops) const {
    std::vector<int> order = tops;
    for (size_t i = 0; i < order.size(); ++i) for_children(order[i], [&](int k) { order.push_back(k); });
    std::reverse(order.begin(), order.end());
    return order;
  }
  void weigh() {
    for (const int c : whole({clusters_.root()})) {
      const Cluster& cluster = clusters_[c];
      work_[size_t(c)] = cluster.kind == ClusterKind::kBody && cluster.raked ? kLeafCost : kCost;
      for_children(c, [&](int k) { work_[size_t(c)] += work_[size_t(k)]; });
    }
  }
  /// The largest branches of at most this work, and what is above them.
  void cut(std::vector<int> from, double most, std::vector<int>& branches, std::vector<int>& above) const {
    while (!from.empty()) {
      const int c = from.back();
      from.pop_back();
      if (work_[size_t(c)] <= most && c != clusters_.root()) {
        branches.push_back(c);
        continue;
      }
      above.push_back(c);
      for_children(c, [&](int k) { from.push_back(k); });
    }
  }
  std::vector<std::vector<int>> share_out(std::vector<int> branches, int among) const {
    std::sort(branches.begin(), branches.end(), [&](int a, int b) {
      return work_[size_t(a)] != work_[size_t(b)] ? work_[size_t(a)] > work_[size_t(b)] : a < b;
    });
    std::vector<std::vector<int>> out(static_cast<size_t>(among));
    std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> least;
    for (int k = 0; k < among; ++k) least.emplace(0, k);
    for (const int c : branches) {
      const auto [load, who] = least.top();
      least.pop();
      out[size_t(who)].push_back(c);
      least.emplace(load + work_[size_t(c)], who);
    }
    return out;
  }
  /// A level above all their children that are among them.
  std::vector<std::vector<int>> by_levels(const std::vector<int>& clusters) {
    std::vector<std::vector<int>> out;
    std::vector<int> order = clusters;  // a child's work is less than its parent's
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return work_[size_t(a)] != work_[size_t(b)] ? work_[size_t(a)] < work_[size_t(b)] : a < b;
    });
    for (const int c : order) level_[size_t(c)] = 0;
    for (const int c : order) {
      for_children(c, [&](int k) { level_[size_t(c)] = std::max(level_[size_t(c)], level_[size_t(k)] + 1); });
      if (out.size() <= size_t(level_[size_t(c)])) out.resize(size_t(level_[size_t(c)]) + 1);
      out[size_t(level_[size_t(c)])].push_back(c);
    }
    for (const int c : order) level_[size_t(c)] = -1;
    return out;
  }

  const Clusters& clusters_;
  int blocks_, teams_, branch_;
  std::vector<int> work_, level_;
  TreePlan plan_;
};

}  // namespace

TreePlan plan_device_tree(const Clusters& clusters, int blocks, int teams, int branch) {
  return TreePlanner(clusters, blocks, teams, branch).run();
}

}  // namespace kansetsu
