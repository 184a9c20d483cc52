#pragma once

#include <vector>

#include "kansetsu/model/capture.h"

namespace kansetsu::retargeting {

/// What was interpolated of a bone's turns.
struct BoneJump {
  int bone = 0, first = 0, count = 0;  ///< first frame, and how many there are in the whole capture
};

/// Skeletons of captures jump where their solver went over to another pose with the same markers: a thigh turns around from one frame
/// to the next, and back some frames later. Of each bone that turns faster than people do, the longest sequence of frames stays that
/// one motion can go through; those left out are interpolated.
/// @param moving  one per bone: whether it matters   @param first  frames before it are left alone
std::vector<BoneJump> bridge_jumps(Capture& capture, const std::vector<bool>& moving, int first);

}  // namespace kansetsu::retargeting
