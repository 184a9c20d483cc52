#pragma once

#include <filesystem>
#include <vector>

namespace kansetsu::io {

/// Files that models and scenes refer to: meshes, included files, models of figures. They may be in the package of the
/// referring file (the nearest folder at or above it with a package.xml, otherwise the parent of its folder), or in one of the
/// allowed folders, after resolving symbolic links.
struct ReferenceOptions {
  std::vector<std::filesystem::path> allowed_paths = {};
  std::vector<std::filesystem::path> package_paths = {};  ///< searched for package://NAME/… (UrdfOptions)
  /// The package of the referring file, which also limits the references of this file. Empty if the user named it.
  std::filesystem::path package = {};
};

}  // namespace kansetsu::io
