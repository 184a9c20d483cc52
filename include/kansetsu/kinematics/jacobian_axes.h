#pragma once

namespace kansetsu {

/// Reference point and axes of the velocity of a Jacobian.
enum class JacobianAxes {
  kLocalWorldAligned,  ///< of the frame's origin, in world axes
  kLocal,              ///< of the frame's origin, in the frame's axes
  kWorld,              ///< of the point of the body at the world's origin, in world axes
};

}  // namespace kansetsu
