#include "assembly/clusters.h"

#include <algorithm>

namespace kansetsu {

int Clusters::add(ClusterKind kind) {
  int c;
  if (unused_.empty()) {
    c = int(clusters_.size());
    clusters_.emplace_back();
  } else {
    c = unused_.back();
    unused_.pop_back();
  }
  Cluster& out = (*this)[c];
  double* const block = out.block;
  const int size_class = out.size_class;
  out.kept.clear();
  out.closed.clear();
  out.place.clear();
  out.kind = kind;
  out.parent = out.first_child = out.next_sibling = -1;
  out.part = out.rake_bond = out.hub = out.home = out.promoted = -1;
  out.raked = out.by_rank = false;
  out.ground = out.level = 0;
  out.cost = out.subtree_cost = 0;
  out.block = block;
  out.size_class = size_class;
  return c;
}

void Clusters::remove(int c) {
  if (unused_.size() == unused_.capacity()) unused_.reserve(2 * unused_.size() + 64);
  (*this)[c].parent = -1;
  unused_.push_back(c);
}

void Clusters::link(int child, int parent) {
  (*this)[child].parent = parent;
  (*this)[child].next_sibling = (*this)[parent].first_child;
  (*this)[parent].first_child = child;
}

void Clusters::unlink(int child) {
  Cluster& c = (*this)[child];
  int* at = &(*this)[c.parent].first_child;
  while (*at != child) at = &(*this)[*at].next_sibling;
  *at = c.next_sibling;
  c.parent = c.next_sibling = -1;
}

void Clusters::replace(int old_child, int new_child) {
  Cluster& from = (*this)[old_child];
  Cluster& to = (*this)[new_child];
  int* at = &(*this)[from.parent].first_child;
  while (*at != old_child) at = &(*this)[*at].next_sibling;
  *at = new_child;
  to.parent = from.parent;
  to.next_sibling = from.next_sibling;
  to.raked = from.raked;
  to.rake_bond = from.rake_bond;
  to.hub = from.hub;
  to.home = from.home;
  from.raked = false;
  from.parent = from.next_sibling = -1;
  if (const int m = to.parent; (*this)[m].promoted == old_child) (*this)[m].promoted = new_child;
}

void Clusters::set_open(int bond, bool open) {
  open_.resize(mechanism_.bonds.size(), 0);
  open_[size_t(bond)] = open;
}

// ---- contraction

void Clusters::start() {
  open_.resize(mechanism_.bonds.size(), 0);
  unused_.clear();
  for (int c = int(clusters_.size()) - 1; c >= 0; --c) {
    (*this)[c].parent = (*this)[c].first_child = -1;
    unused_.push_back(c);
  }
  active_.clear();
  cluster_of_.resize(size_t(part_count()));
  for (int p = 0; p < part_count(); ++p) {
    const int c = add(ClusterKind::kBody);
    (*this)[c].part = p;
    cluster_of_[size_t(p)] = c;
    active_.push_back(c);
  }
  root_ = add(ClusterKind::kRoot);
  held_.assign(mechanism_.bonds.size(), 0);
  for (size_t b = 0; b < mechanism_.bonds.size(); ++b) {
    const Bond& bond = mechanism_.bonds[b];
    if (!bond.alive) continue;
    held_[b] = bond.end_count + (open_[b] ? 1 : 0);
    for (int e = 0; e < bond.end_count; ++e) {
      Cluster& c = (*this)[ends(int(b))[e].part];
      if (held_[b] == 1) {
        c.closed.push_back(int(b));
        c.ground += bond.grounded;
      } else {
        c.kept.push_back(int(b));
      }
    }
  }
  round_.assign(clusters_.size(), 0);
  round_now_ = 0;
}

int Clusters::top_of(int part) const {
  int c = cluster_of_[size_t(part)];
  while ((*this)[c].parent >= 0) c = (*this)[c].parent;
  return c;
}

/// The cluster at the other side of a bond with two ends.
int Clusters::other_cluster(int b, int cluster) const {
  for (int e = 0; e < bond(b).end_count; ++e) {
    const int c = cluster_of_[size_t(ends(b)[e].part)];
    if (c != cluster) return c;
  }
  return -1;
}

void Clusters::rake(int x, int hub) {
  Cluster& c = (*this)[x];
  c.raked = true;
  c.rake_bond = c.kept[0];
  c.hub = (*this)[hub].part;
  held_[size_t(c.rake_bond)] = 0;  // settled
  link(x, hub);
}

/// The body that a cluster with one bond left can be raked into, or −1.
int Clusters::hub_of(int x) const {
  const Cluster& c = (*this)[x];
  if (c.parent >= 0 || c.ground > 0 || c.kept.size() != 1) return -1;
  const int b = c.kept[0];
  if (bond(b).end_count != 2 || bond(b).grounded || held_[size_t(b)] != 2) return -1;
  const int y = other_cluster(b, x);
  return y >= 0 && (*this)[y].kind == ClusterKind::kBody && (*this)[y].parent < 0 ? y : -1;
}

/// From the tips: a part's joint leads to a part with a smaller number.
void Clusters::rake_branches(int most) {
  std::vector<int> size(size_t(part_count()), 1);
  for (int p = part_count() - 1; p >= 0; --p) {
    const int hub = size[size_t(p)] <= most ? hub_of(p) : -1;
    if (hub < 0 || hub > p) continue;
    (*this)[hub].kept.erase((*this)[p].kept[0]);
    rake(p, hub);
    size[size_t(hub)] += size[size_t(p)];
  }
  std::erase_if(active_, [&](int x) { return (*this)[x].parent >= 0; });
}

int Clusters::rake_leaves() {
  int raked = 0;
  for (int x : active_) {
    const int hub = hub_of(x);
    if (hub < 0) continue;
    rake(x, hub);
    ++raked;
  }
  if (raked == 0) return 0;
  std::erase_if(active_, [&](int x) { return (*this)[x].parent >= 0; });
  for (int x : active_) {
    (*this)[x].kept.erase_if([&](int b) { return held_[size_t(b)] == 0; });
  }
  return raked;
}

/// Bonds that stay open when a and b are joined.
int Clusters::open_after(int a, int b) const {
  const Cluster &x = (*this)[a], &y = (*this)[b];
  int open = x.kept.size();
  for (int k : y.kept) {
    if (!x.kept.contains(k))
      ++open;
    else if (held_[size_t(k)] == 2)
      --open;
  }
  return open;
}

void Clusters::merge(int a, int b) {
  const int m = add(ClusterKind::kMerge);
  if (round_.size() < clusters_.size()) round_.resize(clusters_.size(), 0);
  Cluster &out = (*this)[m], &x = (*this)[a], &y = (*this)[b];
  out.ground = x.ground + y.ground;
  int closed_grounded = 0;
  const auto settle = [&](int k) {
    out.closed.push_back(k);
    held_[size_t(k)] = 0;
    closed_grounded += bond(k).grounded;
  };
  // both lists ascend
  int i = 0, j = 0;
  while (i < x.kept.size() || j < y.kept.size()) {
    if (j == y.kept.size() || (i < x.kept.size() && x.kept[i] < y.kept[j])) {
      out.kept.push_back(x.kept[i++]);
    } else if (i == x.kept.size() || y.kept[j] < x.kept[i]) {
      out.kept.push_back(y.kept[j++]);
    } else {
      const int k = x.kept[i];
      ++i, ++j;
      if (held_[size_t(k)] == 2) {
        settle(k);
      } else {
        --held_[size_t(k)];
        out.kept.push_back(k);
      }
    }
  }
  out.ground += closed_grounded;
  link(b, m);
  link(a, m);
  for (int c : {a, b}) round_[size_t(c)] = round_now_;
  round_[size_t(m)] = round_now_;
  active_.push_back(m);
  // which cluster holds the bonds that stay: their ends have a short cut to it
  for (int k : out.kept) {
    for (int e = 0; e < bond(k).end_count; ++e) {
      int& of = cluster_of_[size_t(ends(k)[e].part)];
      if (of == a || of == b) of = m;
    }
  }
}

/// Joins neighbours that together keep at most `most_open` bonds; a cluster takes part once a round.
int Clusters::compress(int most_open) {
  ++round_now_;
  int merged = 0;
  const size_t count = active_.size();
  for (size_t n = 0; n < count; ++n) {
    const int a = active_[n];
    if ((*this)[a].parent >= 0 || round_[size_t(a)] == round_now_) continue;
    for (int t = 0; t < (*this)[a].kept.size(); ++t) {
      const int k = (*this)[a].kept[t];
      if (held_[size_t(k)] < 2) continue;
      const int b = other_cluster(k, a);
      if (b < 0 || b == a || (*this)[b].parent >= 0 || round_[size_t(b)] == round_now_) continue;
      if ((*this)[a].kept.size() + (*this)[b].kept.size() > 2 * most_open + 4 || open_after(a, b) > most_open) continue;
      merge(a, b);
      ++merged;
      break;
    }
  }
  if (merged) std::erase_if(active_, [&](int x) { return (*this)[x].parent >= 0; });
  return merged;
}

/// Where loops leave neither leaves nor chains: pairs in the order of what they keep.
int Clusters::merge_cheapest() {
  ++round_now_;
  candidates_.clear();
  for (int a : active_) {
    for (int k : (*this)[a].kept) {
      const int b = other_cluster(k, a);
      if (b > a) candidates_.emplace_back(open_after(a, b), k);
    }
  }
  std::sort(candidates_.begin(), candidates_.end());
  int merged = 0;
  for (const auto& [open, k] : candidates_) {
    if (held_[size_t(k)] < 2) continue;
    const int a = cluster_of_[size_t(ends(k)[0].part)];
    const int b = other_cluster(k, a);
    if (b < 0 || round_[size_t(a)] == round_now_ || round_[size_t(b)] == round_now_) continue;
    merge(std::min(a, b), std::max(a, b));
    ++merged;
  }
  std::erase_if(active_, [&](int x) { return (*this)[x].parent >= 0; });
  return merged;
}

/// Many raked clusters are added up by a tree of sums.
void Clusters::spread_rakes(int body) {
  for (;;) {
    int count = 0;
    for (int c = (*this)[body].first_child; c >= 0; c = (*this)[c].next_sibling) ++count;
    if (count <= kSumWidth) return;
    int rest = (*this)[body].first_child;
    (*this)[body].first_child = -1;
    while (rest >= 0) {
      const int sum = add(ClusterKind::kSum);
      (*this)[sum].hub = (*this)[body].part;
      for (int k = 0; k < kSumWidth && rest >= 0; ++k) {
        const int next = (*this)[rest].next_sibling;
        link(rest, sum);
        rest = next;
      }
      link(sum, body);
    }
  }
}

void Clusters::finish() {
  for (int c : active_) {
    link(c, root_);
    for (int k : (*this)[c].kept) (*this)[root_].kept.insert(k);
  }
  for (int p = 0; p < part_count(); ++p) spread_rakes(p);
  for_subtree(root_, [&](int c) {
    plan(c);
    measure(c);
  });
  for (size_t i = 0; i < clusters_.size(); ++i) {
    if (clusters_[i].parent >= 0 || int(i) == root_) place_children(int(i));
  }
  built_cost_ = (*this)[root_].subtree_cost;
  built_levels_ = (*this)[root_].level;
}

void Clusters::build_serial() {
  // parts from the tips: a part's joint leads to a part with a smaller number
  std::vector<int> children(size_t(part_count()), 0);
  for (const Joint& joint : mechanism_.joints) {
    if (joint.carrier != kGround) ++children[size_t(joint.carrier)];
  }
  for (int p = part_count() - 1; p >= 0; --p) {
    const int b = mechanism_.joints[size_t(mechanism_.parts[size_t(p)].joint)].bond;
    if (b < 0) continue;
    const int carrier = mechanism_.joints[size_t(mechanism_.parts[size_t(p)].joint)].carrier;
    if (carrier == kGround || held_[size_t(b)] < 2) continue;
    const int x = top_of(p), y = top_of(carrier);
    if (x == y) continue;
    const bool leaf = (*this)[x].kept.size() == 1 && (*this)[x].ground == 0;
    if (leaf && children[size_t(carrier)] > 1 && (*this)[y].kind == ClusterKind::kBody) {
      rake(x, y);
      (*this)[y].kept.erase(b);
    } else {
      merge(y, x);
    }
  }
  std::erase_if(active_, [&](int x) { return (*this)[x].parent >= 0; });
}

void Clusters::build(AssemblyOrder order, int branch) {
  start();
  if (branch > 0) rake_branches(branch);
  if (order == AssemblyOrder::kSerial) build_serial();
  constexpr int kChain = 2;  // open bonds of a piece of a chain
  while (rake_leaves() + compress(kChain) > 0 || merge_cheapest() > 0) {
  }
  finish();
  touched_.clear();
}

}  // namespace kansetsu
