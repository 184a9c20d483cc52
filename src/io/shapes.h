#pragma once

#include "kansetsu/geometry/shape.h"

/// What readers of several formats make shapes with.
namespace kansetsu::io {

/// Points on an ellipsoid, dense enough that its hull is within 3 % of it.
ConvexHull ellipsoid_hull(const Vec3<>& radii);
double ellipsoid_volume(const Vec3<>& radii);
/// Of a unit mass, about the centre.
Sym3<> ellipsoid_inertia(const Vec3<>& radii);

/// The turn that takes z to the direction.
Mat3<> rotation_to(const Vec3<>& direction);

}  // namespace kansetsu::io
