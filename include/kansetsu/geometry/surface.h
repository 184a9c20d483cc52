#pragma once

#include <string>

#include "kansetsu/geometry/shape.h"

namespace kansetsu {

/// Checks that a height field has as many heights as its grid, and that triangles refer to existing vertices: the problem, or none.
/// To be called before iterating over the data of a shape of unknown origin.
std::string surface_problem(const Shape& shape);

}  // namespace kansetsu
