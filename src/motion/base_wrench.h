#pragma once

#include <Eigen/Core>

#include "kansetsu/spatial/spatial.h"

namespace kansetsu {

/// A free base's generalised force as a wrench at its origin, world axes.
inline Force<> base_wrench(const Transform<>& X_WB, const Eigen::VectorXd& tau) {
  return {X_WB.R * Vec3<>{tau[0], tau[1], tau[2]}, X_WB.R * Vec3<>{tau[3], tau[4], tau[5]}};
}

}  // namespace kansetsu
