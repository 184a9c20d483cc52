#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/model/model.h"

/// URDF in and out. What is read, what is assumed and every URDFnnn code: docs/formats/urdf.md.
namespace kansetsu::io {

struct UrdfOptions {
  std::optional<Base> base = std::nullopt;  ///< none: as the file's `<kansetsu base="…"/>` says, fixed without one
  bool merge_fixed = false;                 ///< links joined by fixed joints become one link each (merge_fixed_links)
  /// Where package://NAME/… is looked for: folders that hold a folder NAME, or are called NAME themselves. After these come
  /// ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and the folders above the file.
  std::vector<std::filesystem::path> package_paths = {};
  /// Folders other than the model's own package from which meshes may be read (ReferenceOptions); those of package_paths,
  /// ROS_PACKAGE_PATH and AMENT_PREFIX_PATH are.
  std::vector<std::filesystem::path> allowed_paths = {};
  std::filesystem::path package = {};  ///< of the file that named this one (ReferenceOptions)
};

/// Reads and validates. Never throws for what is in the file, and reports every problem at once.
Loaded<ModelDescription> read_urdf(const std::filesystem::path& file, const UrdfOptions& options = {});
/// The same for text in memory; `file_name` stands in diagnostics, and relative mesh names start from its folder.
Loaded<ModelDescription> parse_urdf(std::string_view text, const std::string& file_name = {},
                                    const UrdfOptions& options = {});
/// read_urdf and Model::build in one.
Loaded<Model> load_urdf(const std::filesystem::path& file, const UrdfOptions& options = {});

/// The description as URDF text; parse_urdf gives the same description back. What other programs will not understand is a
/// warning, what cannot be written at all an error.
Loaded<std::string> to_urdf(const ModelDescription& description);
/// Writes to_urdf() to a temporary file next to `file` and renames it, so that no half-written file is ever seen. An old
/// file stays as it is if anything fails.
std::vector<Diagnostic> write_urdf(const ModelDescription& description, const std::filesystem::path& file);

}  // namespace kansetsu::io
