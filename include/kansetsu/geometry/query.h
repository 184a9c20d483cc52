#pragma once

#include <optional>

#include "kansetsu/geometry/geometry.h"

/// Distances between shapes, and rays.
namespace kansetsu {

struct Distance {
  double distance = 0;  ///< [m]; negative: depth of penetration, the least motion along normal_W that separates the two
  Vec3<> p_WA, p_WB;    ///< nearest points of the two surfaces: p_WA − p_WB = distance · normal_W
  Vec3<> normal_W;      ///< unit, from B to A
};

/// Signed distance of any two shapes. Two planes are infinitely deep in each other unless they face each other. Between
/// two non-convex shapes, and between one and a shape deep inside it, the depth is that of the deepest pair of their pieces.
/// Never allocates.
Distance signed_distance(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB);

struct RayHit {
  double distance = 0;  ///< along the ray [m]; 0 where the ray starts inside
  Vec3<> p_W;
  Vec3<> normal_W;  ///< unit, outward; against the ray where the ray starts inside
};

/// First point of the shape on the ray from p_WO along direction_W, which need not be a unit vector, no further than
/// `reach` [m]. None for a direction of zero or one that is not finite. Meshes are hit from either side. Never allocates.
std::optional<RayHit> ray_cast(const Geometry& geometry, const Transform<>& X_WG, const Vec3<>& p_WO,
                               const Vec3<>& direction_W, double reach);

}  // namespace kansetsu
