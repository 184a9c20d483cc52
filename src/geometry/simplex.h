#pragma once

#include "geometry/gjk.h"

namespace kansetsu::detail {

/// A point of the set of all differences a − b.
struct DifferencePoint {
  Vec3<> w, a, b;
};
inline DifferencePoint difference_support(const Convex& A, const Convex& B, const Vec3<>& d) {
  DifferencePoint p;
  std::uint32_t unused;
  p.a = support(A, d, unused);
  p.b = support(B, -d, unused);
  p.w = p.a - p.b;
  return p;
}

/// Up to four difference points; weights are those of the point of their hull nearest to the origin.
struct Simplex {
  DifferencePoint p[4];
  double weight[4];
  int count = 0;
};
/// Keeps the points that carry the nearest point and returns it; all four if the origin is inside.
Vec3<> reduce(Simplex& simplex);

/// Depth and direction by the expanding polytope; the origin is in or on the hull of the simplex.
Separation expand_polytope(const Convex& A, const Convex& B, const Simplex& simplex, double scale);

}  // namespace kansetsu::detail
