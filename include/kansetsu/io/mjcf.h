#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// MJCF, the format of MuJoCo, as a source of scenes and to write them. What is read, what is not, and every MJCFnnn code: docs/formats/mjcf.md.
///
/// Each child of `<worldbody>` that can move becomes a figure; what cannot becomes the environment. Joint coordinates have the
/// values they have in MuJoCo, `ref` included; links have the frames of its bodies.
namespace kansetsu::io {

/// Reads and validates. Never throws for what is in the file, and reports every problem at once.
Loaded<SceneDescription> read_mjcf(const std::filesystem::path& file, const ReferenceOptions& options = {});
/// The same for text in memory; `file_name` stands in diagnostics, and includes and meshes start from its folder.
Loaded<SceneDescription> parse_mjcf(std::string_view text, const std::string& file_name = {},
                                    const ReferenceOptions& options = {});

/// The scene as MJCF text, for MuJoCo; parse_mjcf gives the same mechanism back. What the format cannot hold is a warning, what
/// cannot be written at all an error. The scene's beginning is the reference configuration (qpos0); where that cannot tell it all, a
/// keyframe "initial" does.
Loaded<std::string> to_mjcf(const SceneDescription& scene);
/// Writes to_mjcf() so that no half-written file is ever seen; mesh files are named from the file's folder.
std::vector<Diagnostic> write_mjcf(const SceneDescription& scene, const std::filesystem::path& file);

}  // namespace kansetsu::io
