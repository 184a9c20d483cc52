#pragma once

#include <optional>

#include "kansetsu/geometry/shape.h"

/// What readers of several formats make shapes with.
namespace kansetsu::io {

/// Points on an ellipsoid, dense enough that its hull is within 3 % of it.
ConvexHull ellipsoid_hull(const Vec3<>& radii);
/// The radii, if the hull is one that ellipsoid_hull() makes.
std::optional<Vec3<>> ellipsoid_radii(const ConvexHull& hull);
double ellipsoid_volume(const Vec3<>& radii);
/// Of a unit mass, about the centre.
Sym3<> ellipsoid_inertia(const Vec3<>& radii);

/// A thin skin: its area, and the inertia of a unit mass about the centre.
struct Skin {
  double area = 0;
  Sym3<> inertia{};
};
/// Of spheres, boxes, cylinders and capsules; none of others.
std::optional<Skin> skin_of(const Shape& shape);
/// Of the same small thickness everywhere, as MuJoCo has it: the area by Thomsen's formula, which is within 1.1 % of it.
Skin ellipsoid_skin(const Vec3<>& radii);

/// Whether a vector of this length has a direction: the squares of others are lost in rounding, or no numbers. MuJoCo's bounds.
inline constexpr double kShortestVector = 1e-14, kLongestVector = 1e15;
inline bool has_direction(double length) { return length > kShortestVector && length < kLongestVector; }
/// The turn that takes z, or another coordinate axis, to the direction.
Mat3<> rotation_to(const Vec3<>& direction, const Vec3<>& from = {0, 0, 1});

}  // namespace kansetsu::io
