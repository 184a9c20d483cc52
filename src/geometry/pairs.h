#pragma once

#include "geometry/convex.h"

/// Pairs of convex shapes with their own code. In each, A is the shape named first; poses are in the world. All fill out.count,
/// the normal from B to A and the points, and return whether there are any.
namespace kansetsu::detail {

struct Placed {
  const Geometry& geometry;
  const Transform<>& X_W;
};

bool sphere_plane(const Placed& A, const Placed& B, double margin, Manifold& out);
bool box_plane(const Placed& A, const Placed& B, double margin, Manifold& out);
bool capsule_plane(const Placed& A, const Placed& B, double margin, Manifold& out);
/// Cylinder, hull on a plane.
bool convex_plane(const Placed& A, const Placed& B, double margin, Manifold& out);
bool sphere_sphere(const Placed& A, const Placed& B, double margin, Manifold& out);
bool capsule_sphere(const Placed& A, const Placed& B, double margin, Manifold& out);
bool box_sphere(const Placed& A, const Placed& B, double margin, Manifold& out);
bool cylinder_sphere(const Placed& A, const Placed& B, double margin, Manifold& out);
bool capsule_capsule(const Placed& A, const Placed& B, double margin, Manifold& out);
bool box_box(const Placed& A, const Placed& B, double margin, Manifold& out);
/// Any two convex shapes but planes.
bool convex_convex(const Placed& A, const Placed& B, double margin, Manifold& out);

/// A contact of one point: gap and normal from B to A, and the point of B's surface that is nearest to A.
bool single_point(const Vec3<>& normal, double gap, const Vec3<>& p_b, std::uint32_t feature, double margin,
                  Manifold& out);

/// Of a cylinder, in its own frame: signed distance of a point from the surface, and the outward normal. On the axis, at
/// equal distances, the side counts and its normal is x.
struct CylinderPoint {
  double distance;
  Vec3<> normal;
  int region;  ///< 0 side, 1 bottom, 2 top, 3 lower rim, 4 upper rim
};
CylinderPoint point_to_cylinder(double radius, double half_length, const Vec3<>& x);

/// Exchanges A and B.
void flip(Manifold& manifold);

}  // namespace kansetsu::detail
