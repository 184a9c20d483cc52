#pragma once

#include <string>
#include <vector>

#include "io/recording/recording_meshes.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/spatial/quaternion.h"

/// The description of a recording for viewers.
namespace kansetsu::io {

inline constexpr int kSceneVersion = 1;

/// The shapes to draw for each link: its visuals; its collision shapes if all files of its visuals are missing; bones if it has neither.
std::vector<std::vector<LinkShape>> shown_shapes(const Model& model, const MeshSet& meshes);

/// The scene as JSON text (docs/formats/recording.md): links with their shapes, joints as chains of primitives over q.
std::string scene_json(const RecordingHeader& header, const MeshFiles& meshes);

}  // namespace kansetsu::io
