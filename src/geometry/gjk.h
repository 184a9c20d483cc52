#pragma once

#include "geometry/convex.h"

namespace kansetsu::detail {

/// Distance of the cores of two shapes, and their nearest points.
struct Separation {
  double distance = 0;  ///< of the cores; negative: depth
  Vec3<> normal{};      ///< unit, from B to A
  Vec3<> a{}, b{};      ///< nearest points of the cores, in the common frame
  bool beyond = false;  ///< further apart than the requested reach; the rest is not set
};

/// min n·A − max n·B over the cores: a lower bound of the signed distance for every unit n, sharp for the right one.
inline double separation_along(const Convex& A, const Convex& B, const Vec3<>& n) {
  return -support_height(A, -n) - support_height(B, n);
}

/// Signed distance of the cores: Gilbert–Johnson–Keerthi outside, the expanding polytope inside. Exact up to rounding for
/// polyhedra; for cylinders to about 1e-10 of their size. Where both cores are points in the same place, the normal is
/// z. Never allocates.
Separation separate(const Convex& A, const Convex& B, double reach);
/// The same outside; where the cores overlap or touch, the distance is 0 and the rest is not set.
Separation separate_outside(const Convex& A, const Convex& B, double reach);

}  // namespace kansetsu::detail
