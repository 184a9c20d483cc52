#pragma once

#include <string>
#include <vector>

#include "io/capture/capture_reader.h"

namespace kansetsu::io::capture {

/// The data of an ASF bone beyond those of Capture.
struct AsfBone {
  Vec3<> reach{};                    ///< from its joint to its end, at rest, file axes
  Mat3<> axes = Mat3<>::identity();  ///< in which the turns of its motion are given
  std::vector<int> dofs{};  ///< 0 1 2 slides along, 3 4 5 turns about x y z; 6: length; in the order of the motion
};
struct Asf {
  std::vector<Bone> bones{};
  std::vector<AsfBone> extra{};              ///< one per bone
  double length = 1;                         ///< "units length": inches are lengths divided by it
  double degree = 0.0174532925199432957692;  ///< of the skeleton's own angles [rad]
};

/// Errors go into the report.
Asf read_asf(std::string_view text, Report& report);

}  // namespace kansetsu::io::capture
