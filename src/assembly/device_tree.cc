#define KANSETSU_ISA baseline
#include "assembly/device_tree.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "assembly/chain.h"
#include "assembly/device_tree_plan.h"
#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

static_assert(kMostShares == Clusters::kSumWidth);
/// Links of a block below which another one does not pay: it would only have more to wait for.
constexpr int kFewestLinks = 48;

/// Entries 1, 2, 3 times 4^round above each, for as many rounds as the deepest one needs. @return how many
int find_jumps(const std::vector<int>& parent, std::vector<int>& jumps) {
  const size_t n = parent.size();
  std::vector<int> above = parent;  // 4^round up
  const auto up = [&](int i) { return i < 0 ? -1 : above[size_t(i)]; };
  int rounds = 0;
  for (; std::any_of(above.begin(), above.end(), [](int a) { return a >= 0; }); ++rounds) {
    std::vector<int> next(n);
    for (size_t i = 0; i < n; ++i) {
      const int one = above[i], two = up(one), three = up(two);
      for (const int a : {one, two, three}) jumps.push_back(a);
      next[i] = up(three);
    }
    above = std::move(next);
  }
  return rounds;
}

/// What clusters are to the device: links by their numbers.
class ClusterView {
 public:
  ClusterView(const Mechanism& mechanism, const Clusters& clusters) : mechanism_(mechanism), clusters_(clusters) {}

  const Cluster& operator[](int c) const { return clusters_[c]; }
  int count() const { return int(clusters_.all().size()); }
  /// The link that a bond's joint carries.
  int bond(int bond) const { return link(mechanism_.joints[size_t(mechanism_.bonds[size_t(bond)].index)].child); }
  int link(int part) const { return mechanism_.parts[size_t(part)].body; }
  bool is_body(int c) const { return clusters_[c].kind == ClusterKind::kBody; }
  bool is_leaf(int c) const {
    const Cluster& cluster = clusters_[c];
    return is_body(c) && cluster.raked && link(cluster.part) == bond(cluster.rake_bond);
  }
  bool rakes_upward(int c) const {
    const Cluster& cluster = clusters_[c];
    return cluster.raked && link(cluster.hub) == bond(cluster.rake_bond);
  }
  template <class Each>
  void for_kept(int c, const Each& each) const {
    for (int k = 0; k < clusters_[c].kept.size(); ++k) each(k, bond(clusters_[c].kept[k]));
  }

 private:
  const Mechanism& mechanism_;
  const Clusters& clusters_;
};

/// Which links a block has, and how velocities come to them.
class LinkPlanner {
 public:
  LinkPlanner(const ClusterView& clusters, const TreePlan& plan, DeviceTree& out)
      : clusters_(clusters), plan_(plan), out_(out), body_(out.links.size(), -1), blocks_(size_t(out.blocks)) {}

  /// @param posts  free from here on
  void run(int& posts) {
    collect();
    for (size_t b = 0; b < blocks_.size(); ++b) find_tops(int(b));
    for (size_t b = 0; b < blocks_.size(); ++b) {
      for (const int link : blocks_[b].carriers) find_exit(link, posts);
    }
    for (size_t b = 0; b < blocks_.size(); ++b) put(int(b));
  }
  int body(int link) const { return body_[size_t(link)]; }  ///< cluster
  int owner(int link) const { return plan_.block[size_t(body(link))]; }
  int entry(int block, int link) const { return blocks_[size_t(block)].entry.at(link); }
  const std::vector<int>& scanned(int block) const { return blocks_[size_t(block)].scanned; }

 private:
  struct OfBlock {
    std::set<int> own, poses;          ///< own: with guests
    std::vector<int> scanned, parent;  ///< links, carriers first; place of each one's carrier, −1: not here
    std::vector<int>
        top_carrier;         ///< per scanned: the link of another block, or −1, that carries all of its carriers here
    std::set<int> carriers;  ///< all of these
    std::vector<TreeExit> exits;
    std::unordered_map<int, int> entry;  ///< of a link
  };

  void collect() {
    for (int c = 0; c < clusters_.count(); ++c) {
      if (clusters_.is_body(c)) body_[size_t(clusters_.link(clusters_[c].part))] = c;
    }
    for (size_t i = 0; i < body_.size(); ++i) blocks_[size_t(owner(int(i)))].own.insert(int(i));
    for (int c = 0; c < clusters_.count(); ++c) {
      const Cluster& cluster = clusters_[c];
      OfBlock& block = blocks_[size_t(plan_.block[size_t(c)])];
      if (clusters_.is_body(c) && !clusters_.is_leaf(c))
        clusters_.for_kept(c, [&](int, int bond) { block.poses.insert(bond); });
      if (!cluster.raked) continue;
      const int joint = clusters_.bond(cluster.rake_bond);
      if (clusters_.rakes_upward(c)) {
        block.own.insert(joint);  // a guest: the bias of its joint is needed
      } else {
        block.poses.insert(joint);
      }
    }
  }
  void find_tops(int b) {
    OfBlock& block = blocks_[size_t(b)];
    block.scanned.assign(block.own.begin(), block.own.end());
    for (size_t i = 0; i < block.scanned.size(); ++i) block.entry[block.scanned[i]] = int(i);
    for (const int link : block.scanned) {
      const int carrier = out_.parent[size_t(link)];
      const auto here = block.entry.find(carrier);
      block.parent.push_back(here == block.entry.end() ? -1 : here->second);
      block.top_carrier.push_back(block.parent.back() < 0 ? carrier : block.top_carrier[size_t(block.parent.back())]);
      if (block.top_carrier.back() >= 0) block.carriers.insert(block.top_carrier.back());
    }
    int next = int(block.scanned.size());
    for (const int link : block.poses) {
      if (block.entry.emplace(link, next).second) ++next;
    }
  }
  void find_exit(int link, int& posts) {
    if (!exit_.emplace(link, posts).second) return;
    OfBlock& block = blocks_[size_t(owner(link))];
    block.exits.push_back({block.entry.at(link), posts});
    posts += kTreeCarry;
  }
  /// Carrier of a link of another block, beyond that block.
  int beyond(int link) const {
    const OfBlock& block = blocks_[size_t(owner(link))];
    return block.top_carrier[size_t(block.entry.at(link))];
  }
  void put(int b) {
    const OfBlock& block = blocks_[size_t(b)];
    TreePart part{};
    std::set<int> needs;
    for (int link : block.carriers) {
      for (; link >= 0 && needs.insert(link).second; link = beyond(link)) {
      }
    }
    std::unordered_map<int, int> place;
    std::vector<int> parent;
    part.need = int(out_.needs.size());
    for (const int link : needs) {
      const int above = beyond(link);
      parent.push_back(above < 0 ? -1 : place.at(above));
      place.emplace(link, part.needs++);
      out_.needs.push_back(exit_.at(link));
    }
    part.need_jump = int(out_.jumps.size());
    part.need_rounds = find_jumps(parent, out_.jumps);
    part.jump = int(out_.jumps.size());
    part.rounds = find_jumps(block.parent, out_.jumps);
    part.entry = int(out_.entries.size());
    part.scanned = int(block.scanned.size());
    part.entries = int(block.entry.size());
    out_.entries.resize(out_.entries.size() + block.entry.size());
    for (const auto& [link, entry] : block.entry) {
      const int carrier = entry < part.scanned ? block.top_carrier[size_t(entry)] : -1;
      out_.entries[size_t(part.entry + entry)] = link_plan(link, carrier < 0 ? -1 : place.at(carrier));
    }
    part.exit = int(out_.exits.size());
    part.exits = int(block.exits.size());
    out_.exits.insert(out_.exits.end(), block.exits.begin(), block.exits.end());
    out_.most_entries = std::max(out_.most_entries, part.entries);
    out_.most_carries = std::max(out_.most_carries, 2 * (part.scanned + part.needs));
    out_.parts.push_back(part);
  }
  TreeLinkPlan link_plan(int link, int need) const {
    const ChainLink& of = out_.links[size_t(link)];
    const bool is_base = out_.free_base && link == 0;
    return {link, is_base ? -1 : of.position, is_base ? -1 : of.column, need, clusters_.is_leaf(body(link)) ? 1 : 0};
  }

  const ClusterView& clusters_;
  const TreePlan& plan_;
  DeviceTree& out_;
  std::vector<int> body_;
  std::vector<OfBlock> blocks_;
  std::unordered_map<int, int> exit_;  ///< post of a link's carry
};

/// Makes operations of clusters, children first.
class OperationMaker {
 public:
  OperationMaker(const ClusterView& clusters, const TreePlan& plan, const LinkPlanner& links, DeviceTree& out,
                 int& posts)
      : clusters_(clusters),
        plan_(plan),
        links_(links),
        out_(out),
        posts_(posts),
        place_(size_t(clusters.count())),
        taken_(size_t(out.blocks)),
        force_(out.links.size()),
        acceleration_(out.links.size()) {
    find_writers();
    find_readers();
  }

  void run() {
    for (const int c : plan_.order) make(c);
    for (int b = 0; b < out_.blocks; ++b) {
      for (int t = 0; t < out_.teams; ++t) put(b, t);
    }
    out_.team_begin.push_back(int(out_.operations.size()));
    finish();
    out_.most_numbers = *std::max_element(taken_.begin(), taken_.end());
  }

 private:
  static constexpr int kAnswer = 35, kLeafAnswer = 7;
  /// A result of the way back.
  struct Result {
    int writer = -1;  ///< cluster
    int place = 0, post = kNowhere;
  };

  int section(int c) const { return plan_.section[size_t(c)]; }
  int block(int c) const { return plan_.block[size_t(c)]; }
  int take(int c, int numbers) {
    int& next = taken_[size_t(block(c))];
    const int at = next;
    next += numbers;
    return at;
  }
  int take_post(int numbers) {
    const int at = posts_;
    posts_ += numbers;
    return ~at;
  }
  /// Of a result that another cluster reads.
  int take_for(int c, int reader, int numbers) {
    return section(c) == section(reader) ? take(c, numbers) : take_post(numbers);
  }

  void find_writers() {
    for (int c = 0; c < clusters_.count(); ++c) {
      const Cluster& cluster = clusters_[c];
      if (cluster.kind == ClusterKind::kMerge) write(force_, clusters_.bond(cluster.closed[0]), c, 5);
      if (cluster.kind == ClusterKind::kBody) write(acceleration_, clusters_.link(cluster.part), c, 6);
      if (cluster.raked && !clusters_.is_leaf(c)) write(force_, clusters_.bond(cluster.rake_bond), c, 5);
    }
  }
  void write(std::vector<Result>& results, int link, int c, int numbers) {
    results[size_t(link)] = {c, take(c, numbers), kNowhere};
  }
  /// Posts of what other sections read, or for the result other blocks.
  void find_readers() {
    const auto read = [&](Result& result, bool near, int numbers) {
      if (!near && result.post == kNowhere) result.post = take_post(numbers);
    };
    for (int c = 0; c < clusters_.count(); ++c) {
      const Cluster& cluster = clusters_[c];
      if (cluster.raked) {
        Result& hub = acceleration_[size_t(clusters_.link(cluster.hub))];
        read(hub, section(hub.writer) == section(c), 6);
      } else if (cluster.kind == ClusterKind::kMerge || cluster.kind == ClusterKind::kBody) {
        clusters_.for_kept(c, [&](int, int bond) {
          Result& force = force_[size_t(bond)];
          read(force, section(force.writer) == section(c), 5);
        });
      }
    }
    for (size_t i = 0; i < out_.parent.size(); ++i) {
      if (out_.parent[i] < 0 || clusters_.is_leaf(links_.body(int(i)))) continue;
      Result& carrier = acceleration_[size_t(out_.parent[i])];
      read(carrier, block(carrier.writer) == links_.owner(int(i)), 6);
    }
  }
  int known(const Result& result, int reader) const {
    return section(result.writer) == section(reader) ? result.place : result.post;
  }

  /// The operations of a team.
  void put(int b, int t) {
    const size_t number = size_t(b * out_.teams + t);
    out_.team_begin.push_back(int(out_.operations.size()));
    int meeting = 0;
    const auto add = [&](const TreePlan::List& list, int first, int step) {
      for (size_t k = size_t(first); k < list.size(); k += size_t(step)) {
        out_.operations.push_back(place_[size_t(list[k])]);
        out_.operations.back().meeting = meeting;
      }
    };
    add(plan_.team[number], 0, 1);
    for (const auto& level : plan_.pieces) ++meeting, add(level[size_t(b)], t, out_.teams);
    add(plan_.shared[number], 0, 1);
    for (const auto& level : plan_.narrow) {
      if (b == 0) ++meeting, add(level, t, out_.teams);
    }
  }
  void make(int c) {
    const Cluster& cluster = clusters_[c];
    TreeOperation& op = place_[size_t(c)] = {};
    op.link = op.rake = -1;
    op.closed_post = op.raked_post = op.s_post = kNowhere;
    if (cluster.kind == ClusterKind::kSum) {
      op.kind = TreeOperationKind::kSum;
      op.share = take_for(c, cluster.parent, kTreeShare);
      return add_shares(cluster, op);
    }
    if (cluster.raked) rake(c, op);
    if (cluster.kind == ClusterKind::kMerge) {
      op.kind = TreeOperationKind::kMerge;
      keep(c, op);
      join(c, op);
    } else {
      add_body(c, op);
    }
    if (cluster.raked && op.kind != TreeOperationKind::kLeaf) op.answer = take(c, kAnswer);
  }
  void rake(int c, TreeOperation& op) {
    const Cluster& cluster = clusters_[c];
    op.rake = links_.entry(block(c), clusters_.bond(cluster.rake_bond));
    op.upward = clusters_.rakes_upward(c) ? 1 : 0;
    op.share = take_for(c, cluster.parent, kTreeShare);
    op.hub = known(acceleration_[size_t(clusters_.link(cluster.hub))], c);
    if (clusters_.is_leaf(c)) return;
    const Result& force = force_[size_t(clusters_.bond(cluster.rake_bond))];
    op.raked = force.place, op.raked_post = force.post;
  }
  void keep(int c, TreeOperation& op) {
    const Cluster& cluster = clusters_[c];
    op.ports = cluster.kept.size();
    clusters_.for_kept(c, [&](int k, int bond) {
      op.bond[k] = bond;  // of a merge its link; of a body replaced by its entry
      if (!cluster.raked) op.known[k] = known(force_[size_t(bond)], c);
    });
    if (!cluster.raked && op.ports > 0) op.out = take_for(c, cluster.parent, 5 * op.ports * (5 * op.ports + 1));
  }
  void add_body(int c, TreeOperation& op) {
    const Cluster& cluster = clusters_[c];
    const int link = clusters_.link(cluster.part);
    add_shares(cluster, op);
    op.link = links_.entry(block(c), link);
    op.grounded = out_.parent[size_t(link)] < 0 && !(out_.free_base && link == 0) ? 1 : 0;
    op.s = acceleration_[size_t(link)].place, op.s_post = acceleration_[size_t(link)].post;
    op.kind = clusters_.is_leaf(c) ? TreeOperationKind::kLeaf : TreeOperationKind::kBody;
    if (op.kind == TreeOperationKind::kLeaf) {
      op.answer = take(c, kLeafAnswer);
      return;
    }
    keep(c, op);
    for (int k = 0; k < op.ports; ++k) op.bond[k] = links_.entry(block(c), op.bond[k]);
    op.columns = take(c, 6 * (5 * op.ports + 1));
  }
  /// Posts first.
  void add_shares(const Cluster& cluster, TreeOperation& op) {
    const auto add = [&](bool posted) {
      for (int k = cluster.first_child; k >= 0; k = clusters_[k].next_sibling) {
        const int share = place_[size_t(k)].share;
        if ((share < 0) == posted) op.shares[op.share_count++] = share;
      }
    };
    add(true);
    op.posted_shares = op.share_count;
    add(false);
  }
  void join(int c, TreeOperation& op) {
    const Cluster& cluster = clusters_[c];
    const int closes = clusters_.bond(cluster.closed[0]);
    op.force = take(c, 5 * (5 * op.ports + 1));
    op.closed = force_[size_t(closes)].place, op.closed_post = force_[size_t(closes)].post;
    int side = 0;
    for (int k = cluster.first_child; k >= 0; k = clusters_[k].next_sibling, ++side) {
      op.child[side] = place_[size_t(k)].out;
      op.width[side] = 5 * place_[size_t(k)].ports + 1;
      clusters_.for_kept(k, [&](int i, int bond) {
        if (bond == closes) op.close[side] = 5 * i;
        for (int port = 0; port < op.ports; ++port) {
          if (op.bond[port] == bond) op.source[port] = side, op.from[port] = 5 * i;
        }
      });
    }
  }
  /// Where the accelerations of the joints come from.
  void finish() {
    for (size_t b = 0; b < out_.parts.size(); ++b) {
      TreePart& part = out_.parts[b];
      part.finish = int(out_.finishes.size());
      for (const int link : links_.scanned(int(b))) {
        if (links_.owner(link) != int(b) || clusters_.is_leaf(links_.body(link))) continue;
        TreeFinish plan{links_.entry(int(b), link), acceleration_[size_t(link)].place, kNowhere};
        if (const int parent = out_.parent[size_t(link)]; parent >= 0) {
          const Result& carrier = acceleration_[size_t(parent)];
          plan.carrier = block(carrier.writer) == int(b) ? carrier.place : carrier.post;
        }
        out_.finishes.push_back(plan);
      }
      part.finishes = int(out_.finishes.size()) - part.finish;
    }
  }

  const ClusterView& clusters_;
  const TreePlan& plan_;
  const LinkPlanner& links_;
  DeviceTree& out_;
  int& posts_;
  std::vector<TreeOperation> place_;
  std::vector<int> taken_;                    ///< numbers, per block
  std::vector<Result> force_, acceleration_;  ///< per bond, per link
};

}  // namespace

TreeProblem DeviceTree::problem() const {
  TreeProblem p{};
  p.links = links.data();
  p.inertia = inertia.data();
  p.parent = parent.data();
  p.schedule = {operations.data(), team_begin.data(), int(operations.size()), piece_levels, narrow_levels};
  p.parts = parts.data();
  p.entries = entries.data();
  p.jumps = jumps.data();
  p.needs = needs.data();
  p.exits = exits.data();
  p.finishes = finishes.data();
  p.count = int(links.size());
  p.nq = nq;
  p.nv = nv;
  p.free_base = free_base;
  p.gravity = gravity;
  return p;
}

std::optional<std::string> device_tree_problem(const Model& model) { return simple_joints_problem(model); }

DeviceTree make_device_tree(const Model& model, const TreeProcessors& on) {
  if (const auto problem = device_tree_problem(model))
    throw Error("model \"" + model.name() + "\" is not a tree of simple joints: " + *problem);
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
  out.blocks = std::clamp(int(out.links.size()) / kFewestLinks, 1, on.blocks);
  out.teams = on.teams;
  Clusters clusters(mechanism);
  clusters.build(AssemblyOrder::kBalanced, on.branch);
  const TreePlan plan = plan_device_tree(clusters, out.blocks, out.teams, on.branch);
  out.piece_levels = int(plan.pieces.size());
  out.shared_levels = plan.shared_levels;
  out.narrow_levels = int(plan.narrow.size());
  const ClusterView view(mechanism, clusters);
  out.posts = out.nq + 3 * out.nv;  // state and result
  LinkPlanner links(view, plan, out);
  links.run(out.posts);
  OperationMaker(view, plan, links, out, out.posts).run();
  return out;
}

}  // namespace kansetsu
