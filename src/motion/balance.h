#pragma once

#include "kansetsu/model/clip.h"

namespace kansetsu {

/// What to add to the centre of mass in each frame so that the zero moment point comes to the middle: of a point mass on its way,
///     Δ − z/(g + z̈)·Δ̈ = middle − zmp,   Δ = 0 at both ends.
/// @return  2 × frames: x and y [m]; worst is how far the zero moment point was off [m]
Eigen::MatrixXd balance_offsets(const Model& model, const Clip& clip, const Vec3<>& middle, double& worst);

}  // namespace kansetsu
