#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// Reading and writing scenes as SDF 1.x, the format of Gazebo and Drake. Supported features and SDFnnn codes:
/// docs/formats/sdf.md.
///
/// Models become figures, static models the environment. A model without a joint to the world has a free base. Frames of links and zero
/// positions of joints are those of the file; links of nested models are named "inner::link".
namespace kansetsu::io {

/// Reads and validates. Never throws because of the file's content, and reports all problems.
Loaded<SceneDescription> read_sdf(const std::filesystem::path& file, const ReferenceOptions& options = {});
/// The same for text in memory; `file_name` is used in diagnostics, and to resolve includes and meshes.
Loaded<SceneDescription> parse_sdf(std::string_view text, const std::string& file_name = {},
                                   const ReferenceOptions& options = {});

/// The scene as SDF text; parse_sdf() returns the same mechanism. Links are written at zero coordinates. What SDF cannot express is a
/// warning, or an error if nothing can be written.
Loaded<std::string> to_sdf(const SceneDescription& scene);
/// Writes to_sdf() atomically; mesh files are named relative to the file's folder.
std::vector<Diagnostic> write_sdf(const SceneDescription& scene, const std::filesystem::path& file);

}  // namespace kansetsu::io
