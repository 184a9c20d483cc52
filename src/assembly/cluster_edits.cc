#include <algorithm>
#include <cmath>

#include "assembly/clusters.h"

namespace kansetsu {

/// Body that a raked cluster hangs on, perhaps by sums.
int Clusters::hub_body(int c) const {
  int at = (*this)[c].parent;
  while ((*this)[at].kind == ClusterKind::kSum) at = (*this)[at].parent;
  return at;
}

/// A raked cluster that is to keep further bonds is joined like any other: a merge takes the hub's place.
void Clusters::promote(int x) {
  const int hub = hub_body(x);
  const int bond = (*this)[x].rake_bond;
  (*this)[x].home = (*this)[x].parent;
  unlink(x);
  const int m = add(ClusterKind::kMerge);
  replace(hub, m);
  link(hub, m);
  link(x, m);
  Cluster &merge = (*this)[m], &h = (*this)[hub], &c = (*this)[x];
  c.raked = false;
  merge.promoted = x;
  merge.kept = h.kept;
  merge.closed.push_back(bond);
  merge.ground = h.ground;
  h.ground -= c.ground;
  h.kept.insert(bond);
  for (int t : {x, hub, m, (*this)[x].home}) touched_.push_back(t);
}

/// The reverse, where the reason is gone.
bool Clusters::demote(int m) {
  const int x = (*this)[m].promoted;
  if (x < 0) return false;
  const Cluster& c = (*this)[x];
  const int bond = c.rake_bond;
  if (c.ground > 0 || c.kept.size() != 1 || (*this)[m].closed.size() != 1 || (*this)[m].closed[0] != bond) return false;
  const int home = c.home;
  unlink(x);
  const int rest = (*this)[m].first_child;
  unlink(rest);
  // c's bond is no longer kept between the hub and the merge
  for (int at = body(c.hub); at >= 0; at = (*this)[at].parent) {
    (*this)[at].kept.erase(bond);
    touched_.push_back(at);
  }
  const int parent = (*this)[m].parent;
  replace(m, rest);
  remove(m);
  (*this)[x].raked = true;
  link(x, home);
  for (int t : {x, rest, home, parent}) touched_.push_back(t);
  return true;
}

int Clusters::lowest_common(int b) const {
  stamp_.resize(clusters_.size(), 0);
  ++stamp_now_;
  const Bond& bond = this->bond(b);
  if (open_[size_t(b)]) return root_;
  int lowest = body(ends(b)[0].part);
  for (int e = 1; e < bond.end_count; ++e) {
    ++stamp_now_;
    for (int c = lowest; c >= 0; c = (*this)[c].parent) stamp_[size_t(c)] = stamp_now_;
    int c = body(ends(b)[e].part);
    while (stamp_[size_t(c)] != stamp_now_) c = (*this)[c].parent;
    lowest = c;
  }
  return lowest;
}

/// The pieces that a bond ties together become one below the root.
void Clusters::join_components(int b) {
  int whole = -1;
  for (int e = 0; e < bond(b).end_count; ++e) {
    int c = body(ends(b)[e].part);
    while ((*this)[c].parent != root_) c = (*this)[c].parent;
    if (whole < 0) whole = c;
    if (c == whole) continue;
    const int m = add(ClusterKind::kMerge);
    Cluster& merge = (*this)[m];
    merge.ground = (*this)[whole].ground + (*this)[c].ground;
    merge.kept = (*this)[whole].kept;
    for (int k : (*this)[c].kept) merge.kept.insert(k);
    for (int k : {whole, c}) {
      unlink(k);
      link(k, m);
    }
    link(m, root_);
    touched_.push_back(m);
    whole = m;
  }
}

void Clusters::connect(int b) {
  open_.resize(mechanism_.bonds.size(), 0);
  touched_.clear();
  const Bond& bond = this->bond(b);
  if (bond.grounded) {
    for (int e = 0; e < bond.end_count; ++e) {
      for (int c = body(ends(b)[e].part); c != root_; c = (*this)[c].parent) {
        if ((*this)[c].raked) promote(c);
      }
    }
  }
  if (bond.end_count > 1 && !is_open(b) && lowest_common(b) == root_) join_components(b);
  // nothing on the way up to where it closes may be raked
  for (bool again = true; again;) {
    again = false;
    const int top = lowest_common(b);
    for (int e = 0; e < bond.end_count && !again; ++e) {
      for (int c = body(ends(b)[e].part); c != top; c = (*this)[c].parent) {
        if (!(*this)[c].raked) continue;
        promote(c);
        again = true;
        break;
      }
    }
  }
  const int top = lowest_common(b);
  for (int e = 0; e < bond.end_count; ++e) {
    for (int c = body(ends(b)[e].part); c != top; c = (*this)[c].parent) (*this)[c].kept.insert(b);
  }
  if (is_open(b)) {
    (*this)[top].kept.insert(b);
  } else {
    (*this)[top].closed.insert(b);
    if (bond.grounded) {
      for (int c = top; c >= 0; c = (*this)[c].parent) ++(*this)[c].ground;
    }
  }
  update_paths(b);
}

void Clusters::cut(int b) {
  touched_.clear();
  const Bond& bond = this->bond(b);
  const int top = lowest_common(b);
  for (int e = 0; e < bond.end_count; ++e) {
    for (int c = body(ends(b)[e].part); c != top; c = (*this)[c].parent) (*this)[c].kept.erase(b);
  }
  // a cluster that hung on this bond alone is on its own now
  for (int e = 0; e < bond.end_count; ++e) {
    for (int c = body(ends(b)[e].part); c != top; c = (*this)[c].parent) {
      if ((*this)[c].rake_bond != b) continue;
      if ((*this)[c].raked) {
        touched_.push_back((*this)[c].parent);
        unlink(c);
        link(c, root_);
      } else if (const int m = (*this)[c].parent; (*this)[m].promoted == c) {
        (*this)[m].promoted = -1;
      }
      (*this)[c].raked = false;
      (*this)[c].rake_bond = (*this)[c].hub = (*this)[c].home = -1;
      break;
    }
  }
  (*this)[top].kept.erase(b);
  if ((*this)[top].closed.erase(b) && bond.grounded) {
    for (int c = top; c >= 0; c = (*this)[c].parent) --(*this)[c].ground;
  }
  for (int e = 0; e < bond.end_count; ++e) {
    for (int c = body(ends(b)[e].part); c >= 0;) {
      const int m = (*this)[c].parent;
      if (m >= 0 && (*this)[m].promoted == c && demote(m)) continue;  // it hangs elsewhere now
      if (m == root_ && (*this)[c].kind == ClusterKind::kMerge && (*this)[c].closed.empty()) {
        const int one = (*this)[c].first_child, other = (*this)[one].next_sibling;
        unlink(c);
        for (int k : {one, other}) {
          unlink(k);
          link(k, root_);
        }
        remove(c);
        c = -1;
        touched_.push_back(root_);
        break;
      }
      c = m;
    }
  }
  update_paths(b);
}

/// Plans again whatever an edit has changed, and measures up to the root.
void Clusters::update_paths(int b) {
  const Bond& bond = this->bond(b);
  for (int e = 0; e < bond.end_count; ++e) {
    for (int c = body(ends(b)[e].part); c >= 0; c = (*this)[c].parent) touched_.push_back(c);
  }
  const size_t direct = touched_.size();
  for (size_t n = 0; n < direct; ++n) {
    for (int c = (*this)[touched_[n]].parent; c >= 0; c = (*this)[c].parent) touched_.push_back(c);
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  std::erase_if(touched_, [&](int c) { return c != root_ && (*this)[c].parent < 0; });
  for (int c : touched_) plan(c);
  for (int c : touched_) place_children(c);
  // from the bottom: a cluster is measured when all that was touched below it is
  for (int c : touched_) (*this)[c].level = -1;
  for (int c : touched_) {
    for (int at = c; at >= 0; at = (*this)[at].parent) {
      bool ready = (*this)[at].level < 0;
      for (int k = (*this)[at].first_child; k >= 0 && ready; k = (*this)[k].next_sibling) ready = (*this)[k].level >= 0;
      if (!ready) break;
      measure(at);
    }
  }
}

/// Edits have made the order twice as costly or deep as a new one was.
bool Clusters::degraded() const {
  const Cluster& top = (*this)[root_];
  const double log_n = std::log2(double(part_count()) + 1);
  return top.subtree_cost > 2 * built_cost_ + 1e4 || top.level > 2 * built_levels_ + int(log_n) + 8;
}

// ---- sizes

void Clusters::plan(int i) {
  Cluster& c = (*this)[i];
  const auto rows_of = [&](const IntList& list) {
    int rows = 0;
    for (int b : list) rows += bond(b).rows;
    return rows;
  };
  c.kept_rows = rows_of(c.kept);
  c.closed_rows = rows_of(c.closed);
  c.rows.clear();
  for (int b : c.kept) c.rows.push_back(bond(b).rows);
  most_rows_ = std::max(most_rows_, c.kept_rows + c.closed_rows);
  const int ld_pivot = padded(c.kept_rows + 1 + c.closed_rows), ld_out = padded(c.kept_rows + 1);
  const int rake_rows = c.raked ? bond(c.rake_bond).rows : 0;
  const int ld_rake = padded(6 + 1 + rake_rows);
  const bool has_share = c.raked || c.kind == ClusterKind::kSum;
  const bool is_body = c.kind == ClusterKind::kBody;

  bool sides_grounded = true;
  for (int k = c.first_child; k >= 0; k = (*this)[k].next_sibling) sides_grounded &= (*this)[k].ground > 0;
  c.by_rank = c.closed.size() > 1 || (c.kind == ClusterKind::kMerge && c.closed.size() == 1 && sides_grounded);

  size_t size = 0;
  const auto take = [&size](int n) {
    const size_t at = size;
    size += size_t(padded(n));
    return at;
  };
  const size_t pivot = take(c.closed_rows * ld_pivot), out = take(c.kept_rows * ld_out);
  const size_t rake = take(rake_rows * ld_rake), share = take(has_share ? 6 * 8 : 0);
  const size_t H = take(is_body ? 6 * ld_pivot : 0), C = take(is_body ? 36 : 0);
  const size_t z2 = take(c.closed_rows), r2 = take(c.kept_rows), rake_z2 = take(rake_rows),
               share2 = take(has_share ? 6 : 0), y2 = take(is_body ? 6 : 0);
  const size_t order = take(c.by_rank ? (c.closed_rows + 1) / 2 : 0);
  if (!c.block || NumberPool::size_of(c.size_class) < size ||
      NumberPool::class_of(size) + 8 < c.size_class) {  // keep what is large enough, unless twice so
    if (c.block) numbers_.give(c.block, c.size_class);
    c.block = numbers_.take(size, c.size_class);
  }
  c.pivot = {c.block + pivot, c.closed_rows, c.kept_rows, ld_pivot};
  c.out = {c.block + out, c.kept_rows, ld_out};
  c.rake = {c.block + rake, rake_rows, 6, ld_rake};
  c.share = {has_share ? c.block + share : nullptr, 6, 8};
  c.H = is_body ? c.block + H : nullptr;
  c.C_inv = is_body ? c.block + C : nullptr;
  c.z2 = c.block + z2;
  c.r2 = c.block + r2;
  c.rake_z2 = c.block + rake_z2;
  c.share2 = c.block + share2;
  c.y2 = c.block + y2;
  c.rank_order = c.by_rank ? reinterpret_cast<int*>(c.block + order) : nullptr;
  // multiplications: front, elimination, product; rake likewise
  const double k = c.kept_rows, n = c.closed_rows, r = rake_rows;
  c.cost = n * n * n / 6 + n * n * (k + 1) / 2 + n * k * (k + 1) / 2 + 2 * n * k + r * r * r / 6 + 3.5 * r * r + 27 * r;
  if (is_body) c.cost += 21 * (k + n + 1) + 3 * (k + n) * (k + n) + 150;
}

void Clusters::place_children(int i) {
  const Cluster& parent = (*this)[i];
  if (parent.kind != ClusterKind::kMerge && parent.kind != ClusterKind::kRoot) return;
  for (int k = parent.first_child; k >= 0; k = (*this)[k].next_sibling) {
    Cluster& child = (*this)[k];
    child.place.clear();
    for (int b : child.kept) {
      int column = 0;
      bool found = false;
      for (int other : parent.kept) {
        if (other == b) {
          found = true;
          break;
        }
        column += bond(other).rows;
      }
      if (!found) {
        column = parent.kept_rows + 1;
        for (int other : parent.closed) {
          if (other == b) break;
          column += bond(other).rows;
        }
      }
      child.place.push_back(column);
    }
  }
}

void Clusters::measure(int i) {
  Cluster& c = (*this)[i];
  c.level = 0;
  c.subtree_cost = c.cost;
  for (int k = c.first_child; k >= 0; k = (*this)[k].next_sibling) {
    c.level = std::max(c.level, (*this)[k].level + 1);
    c.subtree_cost += (*this)[k].subtree_cost;
  }
}

Assembly::Shape Clusters::shape() const {
  Assembly::Shape out;
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const Cluster& c = clusters_[i];
    if (c.parent < 0 && int(i) != root_) continue;
    ++out.clusters;
    out.most_rows = std::max(out.most_rows, c.kept_rows + c.closed_rows);
  }
  out.levels = (*this)[root_].level;
  out.multiplies = (*this)[root_].subtree_cost;
  return out;
}

}  // namespace kansetsu
