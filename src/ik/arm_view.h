#pragma once

#include "kansetsu/spatial/spatial.h"

/// The serial chain from the ground to one frame, for the kernels of arms. Positions are tree coordinates: the model's
/// own up to a sign and an offset, which Arm keeps.
namespace kansetsu::ik {

inline constexpr int kMostArmJoints = 8;

/// The motion of a joint: a turn about a coordinate axis of its frame, or a slide along z.
enum class ArmMotion { kTurnX, kTurnY, kTurnZ, kSlideZ };

/// Which components of an offset are not zero.
enum class ArmOffset { kNone, kX, kY, kZ, kAny };

struct ArmJoint {
  ArmMotion motion = ArmMotion::kTurnZ;
  bool turned = false;  ///< R is not the identity
  Mat3<> R;             ///< of the joint's frame in its parent's, at zero
  Vec3<> p;             ///< its origin there
  ArmOffset offset = ArmOffset::kAny;
  double lower, upper;  ///< of the tree coordinate; ±∞ where there is no limit
  double from, to;      ///< where starting points are drawn from …
  double stride;        ///< … by an additive recurrence with this step, in parts of the interval
};

/// Plain pointers and numbers, for kernels.
struct ArmView {
  const ArmJoint* joints;
  int n;
  Transform<> X_tool;  ///< of the frame on the last joint's body
  ArmOffset tool_offset;
  bool tool_turned;
  double length;  ///< [m] equivalent to a radian
  double extent;  ///< [m] reach of coordinates: the scale of single precision
};

}  // namespace kansetsu::ik
