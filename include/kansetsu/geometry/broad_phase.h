#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "kansetsu/geometry/geometry.h"

/// Which of many shapes may touch.
namespace kansetsu {

/// Two shapes may touch if one's groups meet the other's mask, in either direction (MuJoCo's contype and conaffinity).
struct CollisionGroups {
  std::uint32_t groups = 1;
  std::uint32_t mask = 0xffffffff;
  friend bool operator==(const CollisionGroups&, const CollisionGroups&) = default;
};
inline bool may_touch(const CollisionGroups& a, const CollisionGroups& b) {
  return (a.groups & b.mask) != 0 || (b.groups & a.mask) != 0;
}

/// Two shapes by their index, a < b.
struct ShapePair {
  int a = 0, b = 0;
  friend auto operator<=>(const ShapePair&, const ShapePair&) = default;
};

/// Finds the pairs of shapes whose boxes overlap: sort and sweep along the axis on which the boxes lie furthest apart, the
/// order kept from step to step. Shapes of one body never meet; give all static shapes one body.
class BroadPhase {
 public:
  /// Adds a shape of a body and returns its index: 0, 1, 2, …
  int add(int body, const CollisionGroups& groups = {});
  void set_groups(int shape, const CollisionGroups& groups);
  /// No shape of body a meets one of body b. Repeating it changes nothing.
  void exclude_bodies(int a, int b);
  void exclude_shapes(int a, int b);
  /// Bodies of one family never meet, however many there are. A body is of one family; negative: of none.
  void set_family(int body, int family);
  /// Removes an exclusion; does nothing if there is none.
  void include_bodies(int a, int b);
  void include_shapes(int a, int b);
  /// These two meet regardless of groups and exclusions, unless they belong to one body.
  void always_include_shapes(int a, int b);
  void clear();

  static constexpr std::size_t kMostPairs = 2'000'000;

  int size() const { return int(shapes_.size()); }
  int body(int shape) const { return shapes_[std::size_t(shape)].body; }

  /// Finds all pairs for these boxes, one per shape, which include the desired margin. A box with a NaN, or whose
  /// lower limit is above its upper one, meets nothing. Throws Error if the number of boxes is not size(), or if more than
  /// kMostPairs meet: their contacts would take gigabytes, and a file of a few kilobytes can place all shapes at one point. No
  /// allocation once it has run with as many shapes and pairs.
  void update(std::span<const Aabb> boxes);

  /// Of the last update, sorted: the same for the same boxes, regardless of earlier updates.
  std::span<const ShapePair> pairs() const { return pairs_; }

 private:
  struct Entry {
    int body;
    CollisionGroups groups;
  };
  struct Interval {
    double lower, upper;      ///< along the sweep axis
    double lower_1, upper_1;  ///< along the other two
    double lower_2, upper_2;
    int shape;
  };
  bool wanted(int a, int b) const;
  int family(int body) const { return std::size_t(body) < families_.size() ? families_[std::size_t(body)] : -1; }
  void load(std::span<const Aabb> boxes);
  void sort();
  void sort_pairs();
  void add_pair(int a, int b);

  std::vector<Entry> shapes_;
  std::vector<int> families_;  ///< by body; those behind the last have none
  std::vector<std::uint64_t> excluded_bodies_, excluded_shapes_, included_shapes_;  ///< sorted keys
  std::vector<int> order_;  ///< of the last step, along the axis
  std::vector<Interval> intervals_;
  std::vector<int> unbounded_, empty_;  ///< shapes that take no part in the sweep
  std::vector<ShapePair> unsorted_, pairs_;
  std::vector<int> first_;  ///< scratch of sort_pairs()
  int axis_ = 0;
};

}  // namespace kansetsu
