#pragma once

#include <span>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// The point of the hull of others that is nearest to one, seen from above; z as it was. At most 32 points, at least one.
Vec3<> nearest_in_hull(std::span<const Vec3<>> points, const Vec3<>& p);
/// How far a point lies outside of it; 0 inside.
double distance_to_hull(std::span<const Vec3<>> points, const Vec3<>& p);

}  // namespace kansetsu
