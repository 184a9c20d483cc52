#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kansetsu/io/recording.h"
#include "kansetsu/spatial/quaternion.h"

/// What viewers want to know of a recording beside its frames.
namespace kansetsu::io {

inline constexpr int kSceneVersion = 1;

/// A mesh file that goes along with the recording.
struct MeshFile {
  std::string path{};  ///< where it was read from; empty: it came with a recording, for the figure and the uri
  int figure = -1;
  std::string uri{};
  std::string name{};  ///< mesh/0.stl, as the scene refers to it
  std::shared_ptr<const std::string> data{};
};

/// The mesh files of a recording, as one of its figures sees them.
struct MeshSet {
  const std::vector<MeshFile>& files;
  int figure = -1;  ///< −1: the environment

  const MeshFile* find(const Mesh& mesh) const;
  const MeshFile* find_texture(const std::string& texture) const;
};

/// Every mesh that shapes of the header refer to, once each, and no more than kLargestMesh bytes. What is missing, too large, or no
/// mesh is left out with a warning: whatever a model names, only geometry goes into a recording. Then PNG textures, in the same way.
std::vector<MeshFile> collect_meshes(const RecordingHeader& header, std::vector<Diagnostic>& diagnostics);

/// What of the links of a figure is drawn: their visuals. Where all files of a link's visuals are missing, its collision shapes; where
/// it has none of these, bones.
std::vector<std::vector<LinkShape>> shown_shapes(const Model& model, const MeshSet& meshes);

/// The scene as JSON text (docs/formats/recording.md): links with their shapes, joints as chains of primitives over q.
std::string scene_json(const RecordingHeader& header, const std::vector<MeshFile>& meshes);

/// The texture of a shape: its material's, else that of the material of this name in the model; empty: none.
std::string texture_of(const LinkShape& shape, const ModelDescription* model);
/// Colour of a shape: its material's, else that of the material of this name in the model.
std::optional<std::array<double, 4>> colour_of(const LinkShape& shape, const ModelDescription* model);

}  // namespace kansetsu::io
