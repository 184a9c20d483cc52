#pragma once

#include "kansetsu/model/clip.h"

namespace kansetsu {

/// Velocities and accelerations of a clip by differences along the configuration manifold: second order inside, the outermost
/// accelerations are those beside them. @param v, vdot  out, nv × frames
void differentiate(const Model& model, const Clip& clip, Eigen::MatrixXd& v, Eigen::MatrixXd& vdot);

}  // namespace kansetsu
