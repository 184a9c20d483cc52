#pragma once

#include <algorithm>

#include "kansetsu/geometry/geometry.h"

/// Boxes around points and around boxes, and normals of triangles.
namespace kansetsu::detail {

/// Around nothing: it grows with the first point.
inline constexpr Aabb kNoBox{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};

inline void include(Aabb& box, const Vec3<>& p) {
  box.lower = {std::min(box.lower.x, p.x), std::min(box.lower.y, p.y), std::min(box.lower.z, p.z)};
  box.upper = {std::max(box.upper.x, p.x), std::max(box.upper.y, p.y), std::max(box.upper.z, p.z)};
}

/// Around a box that is turned and moved.
Aabb turned_bounds(const Aabb& local, const Transform<>& X);

/// Zero if the corners are on a line.
inline Vec3<> unit_normal(const Vec3<>& a, const Vec3<>& b, const Vec3<>& c) {
  const Vec3<> n = cross(b - a, c - a);
  const double length = norm(n);
  return length > 0 ? (1 / length) * n : Vec3<>{};
}

}  // namespace kansetsu::detail
