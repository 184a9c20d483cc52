#pragma once

#include <vector>

#include "kansetsu/ik/task.h"
#include "kansetsu/kinematics/kinematics.h"

namespace kansetsu {

/// A figure that stands on its soles at the origin, knees a little bent, its centre of mass above their middle.
struct Stance {
  /// @param function  for the message if the model has no soles
  Stance(const Model& model, const char* function);

  Transform<> pose(const ik::FrameOn& frame) const { return poses[frame.link] * frame.X_LF; }

  Eigen::VectorXd q;
  LinkPoses poses;
  std::vector<ik::FrameOn> soles;  ///< left, right
  Vec3<> middle{};                 ///< of the support, z = 0
};

/// The frames by their names; throws Error that says what the function needs if there is none.
std::vector<ik::FrameOn> frames_named(const Model& model, const char* function,
                                      std::initializer_list<const char*> names);
/// The corners of the link's lowest flat side, below the frame and along its axes: what touches the floor when the frame's z is
/// up. The frame's origin alone where the link has no box.
std::vector<Vec3<>> patch_corners(const Model& model, const ik::FrameOn& frame);

}  // namespace kansetsu
