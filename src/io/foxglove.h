#pragma once

#include <string>
#include <vector>

#include "io/recording_scene.h"
#include "kansetsu/io/recording.h"

/// Messages that Foxglove and rerun show without being told how: https://docs.foxglove.dev/docs/visualization/message-schemas.
namespace kansetsu::io::foxglove {

/// foxglove.FrameTransforms: where every link is. Frames are called "figure/link", their parent is "world".
std::string transforms(const RecordingHeader& header, const RecordedFrame& frame);
/// foxglove.SceneUpdate: the shapes of all links and of the environment, for the beginning.
std::string shapes(const RecordingHeader& header, const std::vector<MeshFile>& meshes, double time);
/// foxglove.SceneUpdate: contact and connection forces as arrows, one metre for a thousand newtons.
std::string forces(const RecordedFrame& frame);

}  // namespace kansetsu::io::foxglove
