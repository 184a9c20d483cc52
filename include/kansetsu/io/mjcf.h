#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// MJCF, the format of MuJoCo, as a source of scenes. What is read, what is not, and every MJCFnnn code: docs/formats/mjcf.md.
///
/// Each child of <worldbody> that can move becomes a figure; what cannot becomes the environment. Joint coordinates have the
/// values they have in MuJoCo, `ref` included; links have the frames of its bodies.
namespace kansetsu::io {

/// Reads and validates. Never throws for what is in the file, and reports every problem at once.
Loaded<SceneDescription> read_mjcf(const std::filesystem::path& file, const ReferenceOptions& options = {});
/// The same for text in memory; `file_name` stands in diagnostics, and includes and meshes start from its folder.
Loaded<SceneDescription> parse_mjcf(std::string_view text, const std::string& file_name = {},
                                    const ReferenceOptions& options = {});

}  // namespace kansetsu::io
