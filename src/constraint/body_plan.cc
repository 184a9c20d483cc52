#include "constraint/body_plan.h"

#include <algorithm>
#include <utility>

#include "base/aligned_memory.h"

namespace kansetsu {

using kernel::BodyPlan;
using kernel::SweepRows;

const BodyPlan& BodyPlanner::plan(std::span<const BodyMass> figures, std::span<const SweepRows> rows) {
  const std::size_t n = figures.size();
  offset_.clear(), size_.clear(), padded_.clear(), M_.clear();
  for (const BodyMass& f : figures) {
    offset_.push_back(f.offset), size_.push_back(f.size), padded_.push_back((f.size + 7) / 8 * 8), M_.push_back(f.M);
  }
  while (meets_.size() < n) meets_.emplace_back();
  for (std::size_t f = 0; f < n; ++f) meets_[f].clear();
  row_.clear(), figure_.assign(2 * rows.size(), 0);
  int row = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    row_.push_back(row);
    row += rows[i].count;
    for (int p = 0; p < rows[i].parts; ++p) {
      const auto at = std::upper_bound(offset_.begin(), offset_.end(), rows[i].part[p].offset);
      figure_[2 * i + std::size_t(p)] = int(at - offset_.begin()) - 1;
    }
    const int a = figure_[2 * i], b = figure_[2 * i + 1];
    if (rows[i].parts < 2 || a == b) continue;
    meets_[std::size_t(a)].push_back(b), meets_[std::size_t(b)].push_back(a);
  }
  for (std::size_t f = 0; f < n; ++f) {
    std::vector<int>& m = meets_[f];
    std::sort(m.begin(), m.end());
    m.erase(std::unique(m.begin(), m.end()), m.end());
  }
  bool same = n == ordered_.size();
  for (std::size_t f = 0; f < n && same; ++f) same = meets_[f] == ordered_[f];
  if (!same) {
    ordered_.assign(meets_.begin(), meets_.begin() + long(n));
    order_figures();
  }
  place_blocks(rows);
  return plan_;
}

/// Least degree first; those that an eliminated figure meets meet each other from then on.
void BodyPlanner::order_figures() {
  const std::size_t n = size_.size();
  order_.clear(), position_.assign(n, -1);
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t least = n;
    for (std::size_t f = 0; f < n; ++f) {
      if (position_[f] < 0 && (least == n || meets_[f].size() < meets_[least].size())) least = f;
    }
    position_[least] = int(step);
    order_.push_back(int(least));
    const std::vector<int>& met = meets_[least];
    for (const int i : met) {
      std::vector<int>& m = meets_[std::size_t(i)];
      merged_.clear();
      std::set_union(m.begin(), m.end(), met.begin(), met.end(), std::back_inserter(merged_));
      std::erase_if(merged_, [&](int j) { return j == i || j == int(least); });
      m.assign(merged_.begin(), merged_.end());
    }
  }
  begin_.assign(1, 0), neighbour_.clear();
  for (std::size_t f = 0; f < n; ++f) {
    std::vector<int>& m = meets_[f];
    std::sort(m.begin(), m.end(), [&](int a, int b) { return position_[std::size_t(a)] < position_[std::size_t(b)]; });
    neighbour_.insert(neighbour_.end(), m.begin(), m.end());
    begin_.push_back(int(neighbour_.size()));
  }
}

void BodyPlanner::place_blocks(std::span<const SweepRows> rows) {
  const std::size_t n = size_.size();
  long at = 0, inverses = 0;
  diagonal_.clear(), inverse_at_.clear(), upper_.clear(), lower_.clear();
  const auto take = [&at](long count) { return std::exchange(at, at + count); };
  int largest = 8;
  long products = 0;
  for (std::size_t f = 0; f < n; ++f) {
    long met = size_[f];  // lines of its own and of those that it meets
    for (int e = begin_[f]; e < begin_[f + 1]; ++e) met += size_[std::size_t(neighbour_[std::size_t(e)])];
    products += size_[f] * met * met;
    diagonal_.push_back(take(long(size_[f]) * padded_[f]));
    inverse_at_.push_back(inverses);
    inverses += long(size_[f]) * padded_[f];
    largest = std::max(largest, padded_[f]);
    for (int e = begin_[f]; e < begin_[f + 1]; ++e) {
      const std::size_t j = std::size_t(neighbour_[std::size_t(e)]);
      upper_.push_back(take(long(size_[f]) * padded_[j]));
      lower_.push_back(take(long(size_[j]) * padded_[f]));
    }
  }
  /// A_ab
  const auto block = [&](int a, int b) {
    if (a == b) return diagonal_[std::size_t(a)];
    const bool up = position_[std::size_t(a)] < position_[std::size_t(b)];
    const std::size_t first = std::size_t(up ? a : b);
    const int other = up ? b : a;
    for (int e = begin_[first];; ++e) {
      if (neighbour_[std::size_t(e)] == other) return up ? upper_[std::size_t(e)] : lower_[std::size_t(e)];
    }
  };
  place_.assign(4 * rows.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (int a = 0; a < rows[i].parts; ++a) {
      for (int b = 0; b < rows[i].parts; ++b)
        place_[4 * i + std::size_t(2 * a + b)] =
            block(figure_[2 * i + std::size_t(a)], figure_[2 * i + std::size_t(b)]);
    }
  }
  const int velocities = n > 0 ? offset_.back() + padded_.back() : 0;
  const std::size_t needed = std::size_t(at + inverses + long(largest) * (largest + 8) + velocities + 64);
  if (numbers_.size() < needed) numbers_.resize(needed);
  double* next = aligned(numbers_.data());
  plan_ = {.figure_count = int(n),
           .block_count = int(rows.size()),
           .offset = offset_.data(),
           .size = size_.data(),
           .padded = padded_.data(),
           .order = order_.data(),
           .begin = begin_.data(),
           .neighbour = neighbour_.data(),
           .diagonal = diagonal_.data(),
           .upper = upper_.data(),
           .lower = lower_.data(),
           .inverse_at = inverse_at_.data(),
           .M = M_.data(),
           .row = row_.data(),
           .figure = figure_.data(),
           .place = place_.data(),
           .numbers = at,
           .products = products,
           .A = next,
           .inverse = next + at,
           .scratch = next + at + inverses,
           .dv = next + at + inverses + long(largest) * (largest + 8)};
}

}  // namespace kansetsu
