#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// Scene files in TOML. Keys and SCENEnnn codes: docs/formats/scene.md.
namespace kansetsu::io {

/// Reads and validates a scene in TOML, MJCF or SDF, and the URDF, MJCF and SDF files of its figures. Never throws because of the
/// files' content, and reports all problems.
Loaded<SceneDescription> read_scene(const std::filesystem::path& file, const ReferenceOptions& options = {});
/// The same for TOML text in memory; `file_name` is used in diagnostics, and to resolve file names.
Loaded<SceneDescription> parse_scene(std::string_view text, const std::string& file_name = {},
                                     const ReferenceOptions& options = {});

/// Loads the mesh files of collision shapes, for building a world: meshes of the environment as they are, meshes of links as convex
/// hulls, as in MuJoCo. Files that cannot be read give a warning MESHnnn.
std::vector<Diagnostic> load_meshes(SceneDescription& scene);

/// The scene as TOML text including its models; parse_scene() returns the same scene.
Loaded<std::string> to_scene(const SceneDescription& scene);
/// Writes to_scene() atomically.
std::vector<Diagnostic> write_scene(const SceneDescription& scene, const std::filesystem::path& file);

enum class FileFormat { kUrdf, kMjcf, kSdf, kScene };
/// The format of a file, by its first bytes, or by its extension if these are not conclusive.
FileFormat find_format(const std::filesystem::path& file);
/// The same for text: a scene, unless it contains XML.
FileFormat find_format_of(std::string_view text);

}  // namespace kansetsu::io
