#pragma once

namespace kansetsu {

/// Where the velocity that a Jacobian gives is taken, and in which axes.
enum class JacobianAxes {
  kLocalWorldAligned,  ///< of the frame's origin, in world axes
  kLocal,              ///< of the frame's origin, in the frame's axes
  kWorld,              ///< of the point of the body at the world's origin, in world axes
};

}  // namespace kansetsu
