#pragma once

#include "geometry/pairs.h"

namespace kansetsu::detail {

/// Pairs with a height field or a mesh: appends one manifold per region of the surface that is touched.
void collide_terrain(const Placed& A, const Placed& B, double margin, ManifoldList& out);

}  // namespace kansetsu::detail
