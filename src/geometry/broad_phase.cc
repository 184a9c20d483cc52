#include "kansetsu/geometry/broad_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

std::uint64_t key(int a, int b) {
  const auto low = std::uint32_t(std::min(a, b)), high = std::uint32_t(std::max(a, b));
  return (std::uint64_t(low) << 32) | high;
}
void insert(std::vector<std::uint64_t>& set, std::uint64_t value) {
  const auto place = std::lower_bound(set.begin(), set.end(), value);
  if (place == set.end() || *place != value) set.insert(place, value);
}
void erase(std::vector<std::uint64_t>& set, std::uint64_t value) {
  const auto place = std::lower_bound(set.begin(), set.end(), value);
  if (place != set.end() && *place == value) set.erase(place);
}
bool contains(const std::vector<std::uint64_t>& set, std::uint64_t value) {
  return !set.empty() && std::binary_search(set.begin(), set.end(), value);
}

double component(const Vec3<>& a, int k) { return k == 0 ? a.x : (k == 1 ? a.y : a.z); }
bool is_bounded(const Aabb& box, int axis) {
  return std::isfinite(component(box.lower, axis)) && std::isfinite(component(box.upper, axis));
}
bool is_empty(const Aabb& b) { return !(b.lower.x <= b.upper.x && b.lower.y <= b.upper.y && b.lower.z <= b.upper.z); }

}  // namespace

int BroadPhase::add(int body, const CollisionGroups& groups) {
  shapes_.push_back({body, groups});
  order_.push_back(size() - 1);
  return size() - 1;
}

void BroadPhase::set_groups(int shape, const CollisionGroups& groups) {
  if (shape < 0 || shape >= size())
    throw Error(fmt::format("BroadPhase::set_groups: there is no shape {}, only {}", shape, size()));
  shapes_[std::size_t(shape)].groups = groups;
}

void BroadPhase::exclude_bodies(int a, int b) { insert(excluded_bodies_, key(a, b)); }
void BroadPhase::exclude_shapes(int a, int b) { insert(excluded_shapes_, key(a, b)); }
void BroadPhase::set_family(int body, int family) {
  if (body < 0) throw Error(fmt::format("BroadPhase::set_family: there is no body {}", body));
  if (std::size_t(body) >= families_.size()) families_.resize(std::size_t(body) + 1, -1);
  families_[std::size_t(body)] = family;
}
void BroadPhase::include_bodies(int a, int b) { erase(excluded_bodies_, key(a, b)); }
void BroadPhase::include_shapes(int a, int b) { erase(excluded_shapes_, key(a, b)); }

void BroadPhase::always_include_shapes(int a, int b) { insert(included_shapes_, key(a, b)); }

void BroadPhase::clear() { *this = BroadPhase(); }

bool BroadPhase::wanted(int a, int b) const {
  const Entry &x = shapes_[std::size_t(a)], &y = shapes_[std::size_t(b)];
  if (x.body == y.body) return false;
  if (contains(included_shapes_, key(a, b))) return true;
  const int own = family(x.body);
  if (own >= 0 && own == family(y.body)) return false;
  return may_touch(x.groups, y.groups) && !contains(excluded_bodies_, key(x.body, y.body)) &&
         !contains(excluded_shapes_, key(a, b));
}

void BroadPhase::add_pair(int a, int b) {
  if (!wanted(a, b)) return;
  if (unsorted_.size() == kMostPairs)
    throw Error(fmt::format(
        "BroadPhase::update: more than {} pairs of shapes overlap, such as {} and {}; are many at the same place?",
        kMostPairs, a, b));
  unsorted_.push_back({std::min(a, b), std::max(a, b)});
}

/// Picks the axis along which the centres of the bounded boxes spread most, and sets out the intervals in the last order.
void BroadPhase::load(std::span<const Aabb> boxes) {
  double sum[3] = {}, square[3] = {};
  double count = 0;
  for (const Aabb& box : boxes) {
    if (is_empty(box) || !is_bounded(box, 0) || !is_bounded(box, 1) || !is_bounded(box, 2)) continue;
    for (int k = 0; k < 3; ++k) {
      const double c = component(box.lower, k) + component(box.upper, k);
      sum[k] += c;
      square[k] += c * c;
    }
    count += 1;
  }
  double largest = -1;
  for (int k = 0; k < 3 && count > 0; ++k) {
    const double variance = square[k] / count - (sum[k] / count) * (sum[k] / count);
    if (variance > largest) {
      largest = variance;
      axis_ = k;
    }
  }
  const int u = (axis_ + 1) % 3, v = (axis_ + 2) % 3;
  intervals_.clear();
  unbounded_.clear();
  empty_.clear();
  for (int shape : order_) {
    const Aabb& box = boxes[std::size_t(shape)];
    if (is_empty(box)) {
      empty_.push_back(shape);
      continue;
    }
    if (!is_bounded(box, axis_)) {
      unbounded_.push_back(shape);
      continue;
    }
    intervals_.push_back({component(box.lower, axis_), component(box.upper, axis_), component(box.lower, u),
                          component(box.upper, u), component(box.lower, v), component(box.upper, v), shape});
  }
}

/// Insertion sort: from step to step little changes. Where much did, std::sort.
void BroadPhase::sort() {
  const auto before = [](const Interval& a, const Interval& b) {
    return a.lower != b.lower ? a.lower < b.lower : a.shape < b.shape;
  };
  const std::size_t n = intervals_.size();
  std::size_t moves = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (!before(intervals_[i], intervals_[i - 1])) continue;
    const Interval x = intervals_[i];
    std::size_t k = i;
    for (; k > 0 && before(x, intervals_[k - 1]); --k) intervals_[k] = intervals_[k - 1];
    intervals_[k] = x;
    moves += i - k;
    if (moves > 8 * n) {
      std::sort(intervals_.begin(), intervals_.end(), before);
      break;
    }
  }
  auto next = order_.begin();  // for the next step
  for (const Interval& x : intervals_) *next++ = x.shape;
  next = std::copy(unbounded_.begin(), unbounded_.end(), next);
  std::copy(empty_.begin(), empty_.end(), next);
}

void BroadPhase::update(std::span<const Aabb> boxes) {
  check_size("BroadPhase::update", "boxes", long(boxes.size()), long(size()));
  unsorted_.clear();
  load(boxes);
  sort();
  const std::size_t n = intervals_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Interval& a = intervals_[i];
    for (std::size_t k = i + 1; k < n && intervals_[k].lower <= a.upper; ++k) {
      const Interval& b = intervals_[k];
      const bool meets =
          (a.lower_1 <= b.upper_1) & (b.lower_1 <= a.upper_1) & (a.lower_2 <= b.upper_2) & (b.lower_2 <= a.upper_2);
      if (meets) add_pair(a.shape, b.shape);
    }
  }
  for (std::size_t i = 0; i < unbounded_.size(); ++i) {
    const int a = unbounded_[i];
    const Aabb& box = boxes[std::size_t(a)];
    for (const Interval& b : intervals_) {
      if (overlap(box, boxes[std::size_t(b.shape)])) add_pair(a, b.shape);
    }
    for (std::size_t k = i + 1; k < unbounded_.size(); ++k) {
      if (overlap(box, boxes[std::size_t(unbounded_[k])])) add_pair(a, unbounded_[k]);
    }
  }
  sort_pairs();
}

/// By counting the pairs of each first shape; each has few, which are put in order by insertion.
void BroadPhase::sort_pairs() {
  first_.assign(shapes_.size() + 1, 0);
  for (const ShapePair& p : unsorted_) ++first_[std::size_t(p.a) + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  pairs_.resize(unsorted_.size());
  for (const ShapePair& p : unsorted_) pairs_[std::size_t(first_[std::size_t(p.a)]++)] = p;
  for (std::size_t i = 1; i < pairs_.size(); ++i) {
    const ShapePair x = pairs_[i];
    std::size_t k = i;
    for (; k > 0 && pairs_[k - 1].a == x.a && pairs_[k - 1].b > x.b; --k) pairs_[k] = pairs_[k - 1];
    pairs_[k] = x;
  }
}

}  // namespace kansetsu
