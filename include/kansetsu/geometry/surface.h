#pragma once

#include <string>

#include "kansetsu/geometry/shape.h"

namespace kansetsu {

/// Whether a height field has as many heights as its grid, and triangles name vertices that are there: what is wrong, or nothing.
/// Whoever goes through the data of a shape of unknown origin asks this first.
std::string surface_problem(const Shape& shape);

}  // namespace kansetsu
