#pragma once

#include <optional>

#include "kansetsu/model/description.h"

/// Mass properties of shapes taken as solids of one density.
namespace kansetsu {

/// [m³]; none for a mesh and a plane.
std::optional<double> volume(const Shape& shape);

/// About the shape's centre, in its axes [kg·m²]; none for a mesh and a plane.
std::optional<Sym3<>> solid_inertia(const Shape& shape, double mass);

/// Several solids as one, each given by its mass, centre and axes in a common frame. The result is in that frame's axes.
Inertial combine(const std::vector<Inertial>& parts);

}  // namespace kansetsu
