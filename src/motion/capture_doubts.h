#pragma once

#include <string>
#include <vector>

#include "motion/body_targets.h"

namespace kansetsu::retargeting {

/// What a capture has that people do not do.
struct CaptureDoubt {
  const char* code;
  std::string message, hint;
};
/// Bones that are elsewhere all of a sudden; people who lie all the time, because the file's up is another; left for right; sizes of no
/// person. @param first  frame   @param leg  [m] its length
std::vector<CaptureDoubt> find_doubts(const Capture& capture, const BonePoints& bones, int first, double leg);

}  // namespace kansetsu::retargeting
