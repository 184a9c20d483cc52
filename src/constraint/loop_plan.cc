#include "constraint/loop_plan.h"

#include <algorithm>
#include <tuple>

namespace kansetsu {

/// What decides the plan, as one list of numbers.
bool LoopPlan::is_same(std::span<Mechanics* const> figures, std::span<const RowWrench> w, std::span<const RowTorque> t,
                       int bilateral, int total) {
  std::vector<int>& s = next_signature_;
  s.clear();
  s.insert(s.end(), {bilateral, total, int(figures.size()), int(w.size()), int(t.size())});
  for (const Mechanics* figure : figures) {
    const TreeView& tree = figure->tree();
    s.insert(s.end(), {figure->nv(), figure->recursive() ? tree.body_count : -1});
    for (int i = 0; figure->recursive() && i < tree.body_count; ++i)
      s.insert(s.end(), {tree.bodies[i].parent, tree.bodies[i].u});
  }
  for (const RowWrench& x : w) s.insert(s.end(), {x.row, x.figure, x.body});
  for (const RowTorque& x : t) s.insert(s.end(), {x.row, x.figure, x.column});
  if (s == signature_) return true;
  signature_ = s;
  return false;
}

void LoopPlan::link(int child, int parent) {
  Node& c = nodes[size_t(child)];
  c.parent = parent;
  c.next_sibling = nodes[size_t(parent)].first_child;
  nodes[size_t(parent)].first_child = child;
}

/// Nodes of all bodies; then, of everything that hangs on the ground, one that it ends in.
void LoopPlan::make_parts(std::span<Mechanics* const> figures) {
  nodes.clear(), first_node_.clear(), whole_.clear();
  for (size_t f = 0; f < figures.size(); ++f) {
    const TreeView& tree = figures[f]->tree();
    const bool whole = !figures[f]->recursive();
    first_node_.push_back(int(nodes.size()));
    whole_.push_back(whole);
    for (int i = 0; i < (whole ? 1 : tree.body_count); ++i) {
      Node& n = nodes.emplace_back();
      n.figure = int(f);
      if (whole) continue;
      n.body = i, n.head = 6, n.columns = tree.bodies[i].nu;
    }
  }
  const int bodies = int(nodes.size());
  bound_.assign(size_t(bodies), -1);  // the node that a body's part ends in
  for (int n = 0; n < bodies; ++n) {
    const int figure = nodes[size_t(n)].figure, body = nodes[size_t(n)].body;
    const int carrier = body < 0 ? -1 : figures[size_t(figure)]->tree().bodies[body].parent;
    if (carrier >= 0) {
      bound_[size_t(n)] = bound_[size_t(node_of(figure, carrier))];
      link(n, node_of(figure, carrier));
      continue;
    }
    bound_[size_t(n)] = int(nodes.size());
    nodes.emplace_back();
    link(n, bound_[size_t(n)]);
  }
}

int LoopPlan::node_of(int figure, int body) const {
  return first_node_[size_t(figure)] + (whole_[size_t(figure)] ? 0 : body);
}

/// The node that takes in both: parents of joined parts have larger numbers.
int LoopPlan::meeting_node(int a, int b) const {
  while (a != b) (a < b ? a : b) = nodes[size_t(std::min(a, b))].parent;
  return a;
}

void LoopPlan::place_rows(std::span<Mechanics* const> figures, std::span<const RowWrench> w,
                          std::span<const RowTorque> t) {
  place_.assign(size_t(total_), {});
  const auto add = [&](RowPlace& p, int figure, int body, int carrier) {
    const int part = bound_[size_t(node_of(figure, body))];
    if (p.part[0] < 0) {
      p.part[0] = part;
      p.meet = carrier;
    } else if (p.part[0] == part) {  // of two bodies the one that carries the other has the smaller number
      const TreeView& tree = figures[size_t(figure)]->tree();
      int a = p.meet, b = carrier;
      while (!whole_[size_t(figure)] && a != b) (a > b ? a : b) = tree.bodies[std::max(a, b)].parent;
      p.meet = a;
    } else if (p.part[1] < 0) {
      p.part[1] = part;
    } else if (p.part[1] != part) {
      p.wide = true;
    }
  };
  for (const RowWrench& x : w) {
    RowPlace& p = place_[size_t(x.row)];
    add(p, x.figure, x.body, x.body);
    ++p.wrenches;
  }
  for (const RowTorque& x : t) {
    RowPlace& p = place_[size_t(x.row)];
    const TreeView& tree = figures[size_t(x.figure)]->tree();
    int body = 0;
    if (!whole_[size_t(x.figure)]) body = tree.columns.body[x.column];
    add(p, x.figure, body, whole_[size_t(x.figure)] ? -1 : tree.bodies[body].parent);
    ++p.torques;
  }
}

/// Joins parts in rounds until no bilateral rows are left between them.
void LoopPlan::join_parts() {
  const auto aggregate = [&] {  // one edge for all rows between two
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& x, const Edge& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
    merged_.clear();
    for (const Edge& e : edges_) {
      if (e.a == e.b) continue;
      if (!merged_.empty() && merged_.back().a == e.a && merged_.back().b == e.b)
        merged_.back().rows += e.rows;
      else
        merged_.push_back(e);
    }
    edges_.swap(merged_);
  };
  edges_.clear();
  for (int r = 0; r < bilateral_; ++r) {
    const RowPlace& p = place_[size_t(r)];
    if (!p.wide && p.part[1] >= 0)
      edges_.push_back({std::min(p.part[0], p.part[1]), std::max(p.part[0], p.part[1]), 1});
  }
  for (aggregate(); !edges_.empty(); aggregate()) {
    degree_.assign(nodes.size(), 0);
    taken_.assign(nodes.size(), -1);
    for (const Edge& e : edges_) degree_[size_t(e.a)] += e.rows, degree_[size_t(e.b)] += e.rows;
    const auto left_open = [&](const Edge& e) { return degree_[size_t(e.a)] + degree_[size_t(e.b)] - 2 * e.rows; };
    std::sort(edges_.begin(), edges_.end(), [&](const Edge& x, const Edge& y) {
      return std::tuple(left_open(x), x.a, x.b) < std::tuple(left_open(y), y.a, y.b);
    });
    for (const Edge& e : edges_) {
      const int a = taken_[size_t(e.a)], b = taken_[size_t(e.b)];
      if (a >= 0 && b >= 0) continue;
      if (a < 0 && b < 0) {
        const int joined = int(nodes.size());
        nodes.emplace_back();
        for (const int n : {e.a, e.b}) link(n, joined), taken_[size_t(n)] = joined;
        continue;
      }
      const int other = a < 0 ? e.a : e.b;
      if (degree_[size_t(other)] != e.rows) continue;  // not just a leaf
      taken_[size_t(other)] = std::max(a, b);
      link(other, std::max(a, b));
    }
    for (Edge& e : edges_) {
      const int a = taken_[size_t(e.a)] < 0 ? e.a : taken_[size_t(e.a)],
                b = taken_[size_t(e.b)] < 0 ? e.b : taken_[size_t(e.b)];
      e = {std::min(a, b), std::max(a, b), e.rows};
    }
  }
  root_ = int(nodes.size());
  nodes.emplace_back();
  for (int n = 0; n < root_; ++n) {
    if (nodes[size_t(n)].parent < 0) link(n, root_);
  }
}

/// A row between two bodies of one tree, or of columns of a tree alone, does not feel what carries them all.
void LoopPlan::close_rows() {
  for (int r = 0; r < bilateral_; ++r) {
    RowPlace& p = place_[size_t(r)];
    const bool within = (p.wrenches == 2 && p.torques == 0) || (p.wrenches == 0 && p.torques > 0);
    if (p.wide || p.part[0] < 0) {
      p.closes_at = root_;
    } else if (p.part[1] >= 0) {
      p.closes_at = meeting_node(p.part[0], p.part[1]);
    } else {
      const int figure = nodes[size_t(nodes[size_t(p.part[0])].first_child)].figure;
      p.closes_at = within && p.meet >= 0 && !whole_[size_t(figure)] ? node_of(figure, p.meet) : p.part[0];
    }
  }
}

/// Depth first, and on which stack the matrix of each node is: that of its parent's parent.
void LoopPlan::order_nodes() {
  order.clear();
  stack_.assign(1, root_);
  nodes[size_t(root_)].stack = 0;
  while (!stack_.empty()) {  // parents first, the last child first; then turned round
    const int n = stack_.back();
    stack_.pop_back();
    order.push_back(n);
    for (int c = nodes[size_t(n)].first_child; c >= 0; c = nodes[size_t(c)].next_sibling) {
      nodes[size_t(c)].stack = 1 - nodes[size_t(n)].stack;
      stack_.push_back(c);
    }
  }
  std::reverse(order.begin(), order.end());
}

/// Wrenches and torques by node.
void LoopPlan::sort_actions(std::span<Mechanics* const> figures, std::span<const RowWrench> w,
                            std::span<const RowTorque> t) {
  const auto sort = [&](auto actions, auto&& node, std::vector<Placed>& out, int Node::* begin, int Node::* end) {
    count_.assign(nodes.size() + 1, 0);
    for (const auto& x : actions) ++count_[size_t(node(x)) + 1];
    for (size_t n = 0; n < nodes.size(); ++n) {
      count_[n + 1] += count_[n];
      nodes[n].*begin = nodes[n].*end = count_[n];
    }
    out.resize(actions.size());
    for (size_t i = 0; i < actions.size(); ++i) out[size_t((nodes[size_t(node(actions[i]))].*end)++)] = {int(i), 0};
  };
  sort(
      w, [&](const RowWrench& x) { return node_of(x.figure, x.body); }, wrenches, &Node::wrench_begin,
      &Node::wrench_end);
  const auto node = [&](const RowTorque& x) {
    return whole_[size_t(x.figure)] ? first_node_[size_t(x.figure)]
                                    : node_of(x.figure, figures[size_t(x.figure)]->tree().columns.body[x.column]);
  };
  sort(t, node, torques, &Node::torque_begin, &Node::torque_end);
}

/// Rows of a node: those of its children, as they have them, then its own.
void LoopPlan::list_rows(int n) {
  Node& node = nodes[size_t(n)];
  const auto visit = [&](auto&& act) {
    if (n == root_) {
      for (int r = bilateral_; r < total_; ++r) act(r);
      for (int r = 0; r < bilateral_; ++r) {
        if (place_[size_t(r)].closes_at == root_) act(r);
      }
      return;
    }
    for (int c = node.first_child; c >= 0; c = nodes[size_t(c)].next_sibling) {
      for (int k = nodes[size_t(c)].kept_begin; k < nodes[size_t(c)].kept_end; ++k) act(rows[size_t(k)]);
    }
    for (int k = node.wrench_begin; k < node.wrench_end; ++k) act(row_of_wrench(k));
    for (int k = node.torque_begin; k < node.torque_end; ++k) act(row_of_torque(k));
  };
  node.kept_begin = int(rows.size());
  visit([&](int r) {
    if (place_[size_t(r)].closes_at == n || mark_[size_t(r)] == n) return;
    mark_[size_t(r)] = n;
    at_[size_t(r)] = node.head + int(rows.size()) - node.kept_begin;
    rows.push_back(r);
  });
  node.kept_end = node.closed_begin = int(rows.size());
  const int ld = padded(node.kept());
  visit([&](int r) {
    if (place_[size_t(r)].closes_at != n || mark_[size_t(r)] == n) return;
    mark_[size_t(r)] = n;
    at_[size_t(r)] = ld + int(rows.size()) - node.closed_begin;
    rows.push_back(r);
  });
  node.closed_end = int(rows.size());
  for (int k = node.wrench_begin; k < node.wrench_end; ++k) wrenches[size_t(k)].column = at_[size_t(row_of_wrench(k))];
  for (int k = node.torque_begin; k < node.torque_end; ++k) torques[size_t(k)].column = at_[size_t(row_of_torque(k))];
  for (int c = node.first_child; c >= 0; c = nodes[size_t(c)].next_sibling) add_runs(c, node.head, ld);
}

void LoopPlan::add_runs(int child, int head, int ld) {
  Node& c = nodes[size_t(child)];
  c.run_begin = int(runs.size());
  if (c.head > 0 && head > 0) runs.push_back({0, 0, c.head});
  for (int k = c.kept_begin; k < c.kept_end; ++k) {
    const int from = c.head + k - c.kept_begin, to = at_[size_t(rows[size_t(k)])];
    const bool first = int(runs.size()) == c.run_begin || to == ld;  // kept and closed rows are never in one run
    if (!first && runs.back().to + runs.back().count == to && runs.back().from + runs.back().count == from)
      ++runs.back().count;
    else
      runs.push_back({from, to, 1});
  }
  c.run_end = int(runs.size());
}

/// Where the numbers of the fronts are: matrices on two stacks, where a node and its children take turns; the rest stays.
void LoopPlan::lay_out() {
  long top[2] = {0, 0};
  stack_size[0] = stack_size[1] = numbers = 0;
  widest = 0;
  for (const int n : order) {
    Node& node = nodes[size_t(n)];
    const long ld = padded(node.kept()), closed_ld = ld + padded(node.closed()), columns = node.columns;
    const bool whole = node.figure >= 0 && node.body < 0;
    node.F = top[node.stack];
    top[node.stack] += ld * (whole ? ld : node.kept());
    stack_size[node.stack] = std::max(stack_size[node.stack], top[node.stack]);
    long first = -1;  // children are taken off
    for (int c = node.first_child; c >= 0; c = nodes[size_t(c)].next_sibling) {
      if (first < 0 || nodes[size_t(c)].F < first) first = nodes[size_t(c)].F;
    }
    if (first >= 0) top[1 - node.stack] = first;
    node.numbers = numbers;
    numbers += node.closed() * closed_ld + columns * (ld + 8) + 2 * closed_ld + 2 * padded(node.columns);
    widest = std::max(widest, int(closed_ld));
  }
}

bool LoopPlan::make(std::span<Mechanics* const> figures, std::span<const RowWrench> w, std::span<const RowTorque> t,
                    int bilateral, int total) {
  if (is_same(figures, w, t, bilateral, total)) return false;
  bilateral_ = bilateral, total_ = total;
  make_parts(figures);
  place_rows(figures, w, t);
  join_parts();
  close_rows();
  order_nodes();
  sort_actions(figures, w, t);
  wrench_rows_ = w;
  torque_rows_ = t;
  rows.clear(), runs.clear();
  mark_.assign(size_t(total), -1);
  at_.assign(size_t(total), 0);
  for (const int n : order) list_rows(n);
  lay_out();
  return true;
}

}  // namespace kansetsu
