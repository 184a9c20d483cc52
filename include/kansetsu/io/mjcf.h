#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// Reading and writing scenes as MJCF, MuJoCo's format. Supported features and MJCFnnn codes: docs/formats/mjcf.md.
///
/// Each moving child of `<worldbody>` becomes a figure; fixed bodies become the environment. Joint coordinates have the same
/// values as in MuJoCo, including `ref`; links have the frames of its bodies.
namespace kansetsu::io {

/// Reads and validates. Never throws because of the file's content, and reports all problems.
Loaded<SceneDescription> read_mjcf(const std::filesystem::path& file, const ReferenceOptions& options = {});
/// The same for text in memory; `file_name` is used in diagnostics, and to resolve includes and meshes.
Loaded<SceneDescription> parse_mjcf(std::string_view text, const std::string& file_name = {},
                                    const ReferenceOptions& options = {});

/// The scene as MJCF text; parse_mjcf() returns the same mechanism. What MJCF cannot express is a warning, or an error if nothing can
/// be written. The initial state becomes the reference configuration (qpos0), and a keyframe "initial" if that is not
/// sufficient.
Loaded<std::string> to_mjcf(const SceneDescription& scene);
/// Writes to_mjcf() atomically; mesh files are named relative to the file's folder.
std::vector<Diagnostic> write_mjcf(const SceneDescription& scene, const std::filesystem::path& file);

}  // namespace kansetsu::io
