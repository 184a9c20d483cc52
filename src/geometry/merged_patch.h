#pragma once

#include "geometry/convex.h"

namespace kansetsu::detail {

/// Collects the patches of triangles and joins those of one plane: a box on a floor of many triangles has one patch of
/// four corners. Fixed in size; what does not fit is counted as dropped.
class MergedPatches {
 public:
  void add(const Manifold& patch, std::uint32_t region);
  /// Appends all, in the order of their regions, moved from the surface's frame to the world.
  void write(const Transform<>& X_WS, bool flipped, ManifoldList& out);

 private:
  static constexpr int kMaxGroups = 24, kMaxPoints = 32;
  struct Group {
    Vec3<> normal;
    double height;  ///< of the midpoints along the normal
    std::uint32_t region;
    int count;
    Scratch<ContactPoint, kMaxPoints> points;
  };
  void append(Group& group, const Manifold& patch);

  int count_ = 0;
  Scratch<Group, kMaxGroups> groups_;
};

/// The outline of points that lie about a plane, counterclockwise around its normal, at most `limit` of them, the deepest
/// among them. Works in place and returns how many are left.
int outline(const Vec3<>& normal, ContactPoint* points, int count, int limit);

}  // namespace kansetsu::detail
