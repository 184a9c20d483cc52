#pragma once

#include <nanobind/stl/variant.h>

#include "arrays.h"
#include "kansetsu/geometry/material.h"
#include "kansetsu/geometry/shape.h"

namespace kansetsu::python {

/// Shapes that Python makes; files that are only named are read first (load_mesh).
using AnyShape = std::variant<Sphere, Box, Cylinder, Capsule, Plane, ConvexHull, HeightField, TriangleMesh>;

/// As the library has it; sizes that are not positive and finite raise.
Shape to_shape(const AnyShape& shape);

}  // namespace kansetsu::python
