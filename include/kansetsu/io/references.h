#pragma once

#include <filesystem>
#include <vector>

namespace kansetsu::io {

/// Files that models and scenes name: meshes, included files, models of figures. They are opened where they are in the package of
/// the file that names them (the nearest folder at or above it with a package.xml, else the parent of its folder); others only if
/// they are in one of the allowed folders. Links are followed before.
struct ReferenceOptions {
  std::vector<std::filesystem::path> allowed_paths = {};
  std::vector<std::filesystem::path> package_paths = {};  ///< where package://NAME/… is looked for (UrdfOptions)
  /// The package of the file that named this one: its references stay within that package. Empty if the user named it.
  std::filesystem::path package = {};
};

}  // namespace kansetsu::io
