#pragma once

#include "kansetsu/motion/whole_body.h"

namespace kansetsu {

/// The acceleration, in its own axes, by which a sole that has touched comes to rest: what is left of its motion dies down, and one
/// that is not to pivot turns onto the ground.
inline Motion<> settling(const FrameMotion& motion, const Sole& sole, Edge pivot, const Vec3<>& normal) {
  constexpr double kStiffness = 400, kDamping = 40;
  const Mat3<>& R = motion.X_WF.R;
  const double edge_x = pivot == Edge::kNone ? 0 : (pivot == Edge::kRear ? -1 : 1) * sole.half_length;
  const Vec3<> edge = R * Vec3<>{edge_x, 0, 0};
  const Vec3<> tilt = pivot == Edge::kNone ? cross(R.column_z(), normal) : Vec3<>{};
  return {transpose_times(R, kStiffness * tilt - kDamping * motion.V.w),
          transpose_times(R, -kDamping * add_cross(motion.V.v, motion.V.w, edge))};
}

}  // namespace kansetsu
