#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Where the mesh files named by a model are.
namespace kansetsu::io {

struct MeshPath {
  enum class Status { kFound, kNoFile, kNoPackage, kRemote };
  Status status = Status::kNoFile;
  std::string path;     ///< of the file, if found
  std::string package;  ///< of a package:// or model:// name
};

class MeshFinder {
 public:
  /// Looks for packages in `package_paths`, then ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and the folders above `model_file`;
  /// relative names start from the model's folder.
  MeshFinder(const std::filesystem::path& model_file, const std::vector<std::filesystem::path>& package_paths);

  /// Understands package://, model://, file://, absolute and relative names. http and https are remote: never fetched.
  MeshPath find(std::string_view uri) const;

 private:
  MeshPath find_in_package(std::string_view rest) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> roots_;  // each may be the package itself or hold it
};

}  // namespace kansetsu::io
