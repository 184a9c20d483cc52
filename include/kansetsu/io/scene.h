#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// Scene files in TOML. Every key and every SCENEnnn code: docs/formats/scene.md.
namespace kansetsu::io {

/// Reads and validates a scene: TOML, or MJCF or SDF if the file holds that. Figures from URDF, MJCF and SDF files are read along. Never
/// throws for what is in the files, and reports every problem at once.
Loaded<SceneDescription> read_scene(const std::filesystem::path& file, const ReferenceOptions& options = {});
/// The same for TOML text in memory; `file_name` stands in diagnostics, and names of files start from its folder.
Loaded<SceneDescription> parse_scene(std::string_view text, const std::string& file_name = {},
                                     const ReferenceOptions& options = {});

/// Reads the mesh files that collision shapes refer to, so that a world can be built with them: meshes of the environment as they
/// are, those of links as their convex hulls, as in MuJoCo. What cannot be read stays as it is, with a warning MESHnnn.
std::vector<Diagnostic> load_meshes(SceneDescription& scene);

/// The scene as TOML text with all its models in it; parse_scene gives the same scene back.
Loaded<std::string> to_scene(const SceneDescription& scene);
/// Writes to_scene() so that no half-written file is ever seen.
std::vector<Diagnostic> write_scene(const SceneDescription& scene, const std::filesystem::path& file);

enum class FileFormat { kUrdf, kMjcf, kSdf, kScene };
/// The format of a file, by its first bytes, or by its extension if these are not conclusive.
FileFormat find_format(const std::filesystem::path& file);
/// The same of text: a scene, if it does not hold XML.
FileFormat find_format_of(std::string_view text);

}  // namespace kansetsu::io
