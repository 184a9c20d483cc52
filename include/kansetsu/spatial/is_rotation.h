#pragma once

#include <limits>

#include "kansetsu/spatial/quaternion.h"

namespace kansetsu {

/// Whether a quaternion of any length represents a rotation: |q|², by which rotations are divided, is a normal number. That holds for
/// lengths from 1.5e-154 to 1.3e154, in single precision from 1.1e-19 to 1.8e19.
template <class Real>
bool is_rotation(const Quaternion<Real>& q) {
  const Real square = dot(q, q);
  return square >= std::numeric_limits<Real>::min() && square <= std::numeric_limits<Real>::max();
}

}  // namespace kansetsu
