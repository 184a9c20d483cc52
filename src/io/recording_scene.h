#pragma once

#include <array>
#include <string>
#include <vector>

#include "kansetsu/io/recording.h"
#include "kansetsu/spatial/quaternion.h"

/// What viewers want to know of a recording beside its frames.
namespace kansetsu::io {

inline constexpr int kSceneVersion = 1;

/// A mesh file that goes along with the recording.
struct MeshFile {
  std::string path{};  ///< where it was read from
  std::string name{};  ///< mesh/0.stl, as the scene refers to it
  std::string data{};
};

/// Reads every mesh that shapes of the header refer to, once each, and no more than kLargestMesh bytes. What is missing or too
/// large is left out with a warning.
std::vector<MeshFile> collect_meshes(const RecordingHeader& header, std::vector<Diagnostic>& diagnostics);

/// The scene as JSON text (docs/formats/recording.md): links with their shapes, joints as chains of primitives over q.
std::string scene_json(const RecordingHeader& header, const std::vector<MeshFile>& meshes);

/// Colour of a shape: its material's, else that of the material of this name in the model.
std::optional<std::array<double, 4>> colour_of(const LinkShape& shape, const ModelDescription* model);

}  // namespace kansetsu::io
