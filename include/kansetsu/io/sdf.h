#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// SDF 1.x, the format of Gazebo and Drake, as a source of scenes and to write them. What is read, what is not, and every SDFnnn code:
/// docs/formats/sdf.md.
///
/// A model that moves becomes a figure, one that is static the environment. A model that no joint fixes to the world floats. Links have
/// the frames and joints the zeros that the file gives them; names of nested models are "inner::link".
namespace kansetsu::io {

/// Reads and validates. Never throws for what is in the file, and reports every problem at once.
Loaded<SceneDescription> read_sdf(const std::filesystem::path& file, const ReferenceOptions& options = {});
/// The same for text in memory; `file_name` stands in diagnostics, and includes and meshes start from its folder.
Loaded<SceneDescription> parse_sdf(std::string_view text, const std::string& file_name = {},
                                   const ReferenceOptions& options = {});

/// The scene as SDF text; parse_sdf gives the same mechanism back. Links stand where they are when all coordinates are zero. What the
/// format cannot hold is a warning, what cannot be written at all an error.
Loaded<std::string> to_sdf(const SceneDescription& scene);
/// Writes to_sdf() so that no half-written file is ever seen; mesh files are named from the file's folder.
std::vector<Diagnostic> write_sdf(const SceneDescription& scene, const std::filesystem::path& file);

}  // namespace kansetsu::io
