#pragma once

#include <optional>

#include "kansetsu/geometry/shape.h"

/// Shapes that several readers need.
namespace kansetsu::io {

/// A hull of points on an ellipsoid, within 3 % of it.
ConvexHull ellipsoid_hull(const Vec3<>& radii);
/// The radii, if ellipsoid_hull() made the hull.
std::optional<Vec3<>> ellipsoid_radii(const ConvexHull& hull);
double ellipsoid_volume(const Vec3<>& radii);
/// Inertia of a unit mass about the centre.
Sym3<> ellipsoid_inertia(const Vec3<>& radii);

/// A thin shell: its area, and the inertia of a unit mass about the centre.
struct Skin {
  double area = 0;
  Sym3<> inertia{};
};
/// The shell of a sphere, box, cylinder or capsule; none for other shapes.
std::optional<Skin> skin_of(const Shape& shape);
/// A shell of constant thickness, as in MuJoCo. The area is by Thomsen's formula, accurate to 1.1 %.
Skin ellipsoid_skin(const Vec3<>& radii);

/// Whether a vector of this length can be normalised: squares of others underflow or overflow. MuJoCo's bounds.
inline constexpr double kShortestVector = 1e-14, kLongestVector = 1e15;
inline bool has_direction(double length) { return length > kShortestVector && length < kLongestVector; }
/// The shortest rotation from the coordinate axis `from` to the direction.
Mat3<> rotation_to(const Vec3<>& direction, const Vec3<>& from = {0, 0, 1});

}  // namespace kansetsu::io
