#pragma once

#include <span>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// How far a point lies outside the hull of others, seen from above; 0 inside. At most 32 points, at least one.
double distance_to_hull(std::span<const Vec3<>> points, const Vec3<>& p);

}  // namespace kansetsu
