#pragma once

#include "kansetsu/geometry/query.h"

namespace kansetsu::ik {

/// Whether the shape is a sphere or a capsule.
bool is_round(const Geometry& geometry);

/// As signed_distance(), for two round shapes. Where the segments they are drawn around meet, the normal is z.
Distance round_distance(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB);

}  // namespace kansetsu::ik
