#pragma once

#include <string>
#include <vector>

#include "io/recording/recording_meshes.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/spatial/quaternion.h"

/// What viewers want to know of a recording beside its frames.
namespace kansetsu::io {

inline constexpr int kSceneVersion = 1;

/// What of the links of a figure is drawn: their visuals. Where all files of a link's visuals are missing, its collision shapes; where
/// it has none of these, bones.
std::vector<std::vector<LinkShape>> shown_shapes(const Model& model, const MeshSet& meshes);

/// The scene as JSON text (docs/formats/recording.md): links with their shapes, joints as chains of primitives over q.
std::string scene_json(const RecordingHeader& header, const MeshFiles& meshes);

}  // namespace kansetsu::io
