#pragma once

#include <nanobind/stl/variant.h>

#include "arrays.h"
#include "kansetsu/geometry/material.h"
#include "kansetsu/geometry/shape.h"

namespace kansetsu::python {

/// Shapes from Python objects; mesh files are read before (load_mesh).
using AnyShape = std::variant<Sphere, Box, Cylinder, Capsule, Plane, ConvexHull, HeightField, TriangleMesh>;

/// The library's shape; sizes that are not positive and finite raise.
Shape to_shape(const AnyShape& shape);

}  // namespace kansetsu::python
