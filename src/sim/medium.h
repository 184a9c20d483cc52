#pragma once

#include "kansetsu/scene/medium.h"
#include "sim/figure.h"

/// Forces of the medium that fills the world, and of gravity compensation, link by link.
namespace kansetsu {

/// Lists the parts of a figure that the medium acts on, or whose weight is compensated.
void list_medium_parts(FigureData& figure, const Medium& medium);
/// Forces on these parts at the present poses and velocities, as torques of the figure.
void add_medium_forces(FigureData& figure, const Medium& medium, const Vec3<>& gravity);

}  // namespace kansetsu
