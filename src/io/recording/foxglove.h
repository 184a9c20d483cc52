#pragma once

#include <string>
#include <vector>

#include "io/recording/recording_scene.h"
#include "kansetsu/io/recording.h"

/// Messages that Foxglove and rerun show without configuration: https://docs.foxglove.dev/docs/visualization/message-schemas.
namespace kansetsu::io::foxglove {

/// foxglove.FrameTransforms: where every link is. Frames are called "figure/link", their parent is "world".
std::string transforms(const RecordingHeader& header, const RecordedFrame& frame);
/// foxglove.JointStates: every joint of one coordinate, called "joint", or "figure/joint" where there are several figures; with
/// acceleration and effort where numbers called FIGURE/vdot/DOF and FIGURE/tau/DOF are recorded.
class JointStates {
 public:
  explicit JointStates(const RecordingHeader& header);
  bool empty() const { return joints_.empty(); }
  std::string message(const RecordedFrame& frame) const;

 private:
  struct Joint {
    std::string name{};
    std::size_t figure = 0;
    int q = 0, v = 0;
    int vdot = -1, tau = -1;  ///< indices of numbers; −1: none
  };
  std::vector<Joint> joints_{};
};
inline constexpr std::size_t kMostShapeBytes = std::size_t{128} << 20;  ///< half of what a reader takes in one chunk
/// foxglove.SceneUpdate: the shapes of all links and of the environment, for the beginning. Meshes beyond `most` bytes are left out with
/// a warning.
std::string shapes(const RecordingHeader& header, const MeshFiles& meshes, double time,
                   std::vector<Diagnostic>& diagnostics, std::size_t most = kMostShapeBytes);
/// foxglove.SceneUpdate: contact and connection forces as arrows, one metre for a thousand newtons.
std::string forces(const RecordedFrame& frame);

}  // namespace kansetsu::io::foxglove
