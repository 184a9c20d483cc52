#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/model/model.h"

/// Reading and writing URDF. Supported features, assumptions and URDFnnn codes: docs/formats/urdf.md.
namespace kansetsu::io {

struct UrdfOptions {
  std::optional<Base> base = std::nullopt;  ///< none: that of the file's `<kansetsu base="…"/>`, fixed by default
  bool merge_fixed = false;                 ///< links joined by fixed joints become one link each (merge_fixed_links)
  /// Searched for package://NAME/…: folders that contain a folder NAME, or are named NAME. Then ROS_PACKAGE_PATH,
  /// AMENT_PREFIX_PATH and the folders above the file are searched.
  std::vector<std::filesystem::path> package_paths = {};
  /// Folders other than the model's own package from which meshes may be read (ReferenceOptions); those of package_paths,
  /// ROS_PACKAGE_PATH and AMENT_PREFIX_PATH are.
  std::vector<std::filesystem::path> allowed_paths = {};
  std::filesystem::path package = {};  ///< of the referring file (ReferenceOptions)
};

/// Reads and validates. Never throws because of the file's content, and reports all problems.
Loaded<ModelDescription> read_urdf(const std::filesystem::path& file, const UrdfOptions& options = {});
/// The same for text in memory; `file_name` is used in diagnostics, and to resolve mesh names.
Loaded<ModelDescription> parse_urdf(std::string_view text, const std::string& file_name = {},
                                    const UrdfOptions& options = {});
/// read_urdf() and Model::build().
Loaded<Model> load_urdf(const std::filesystem::path& file, const UrdfOptions& options = {});

/// The description as URDF text; parse_urdf() returns the same description. What other programs will not understand is a
/// warning; what cannot be written is an error.
Loaded<std::string> to_urdf(const ModelDescription& description);
/// Writes to_urdf() to a temporary file and renames it, so that the file is replaced atomically. An existing file is
/// unchanged if that fails.
std::vector<Diagnostic> write_urdf(const ModelDescription& description, const std::filesystem::path& file);

}  // namespace kansetsu::io
