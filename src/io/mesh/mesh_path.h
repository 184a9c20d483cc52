#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_gate.h"

/// Resolving the mesh files of a model.
namespace kansetsu::io {

struct MeshPath {
  enum class Status { kFound, kNoFile, kNoPackage, kRemote, kOutside };
  Status status = Status::kNoFile;
  std::string path;      ///< of the file, if found; kOutside: where it would be
  std::string package;   ///< of a package:// or model:// name
  std::string folder{};  ///< of that package, if there is one
};

class MeshFinder {
 public:
  /// Searches packages in `package_paths`, ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and the folders above `model_file`; relative names
  /// are relative to the model's folder. Files outside of the model's package, of `allowed` and of the first three are refused.
  /// `outer`: see FileGate.
  MeshFinder(const std::filesystem::path& model_file, const std::vector<std::filesystem::path>& package_paths,
             const std::vector<std::filesystem::path>& allowed = {}, const std::filesystem::path& outer = {});

  /// Understands package://, model://, file://, absolute and relative names. http and https are remote: never fetched.
  MeshPath find(std::string_view uri) const;
  /// What the user can do about a file that is outside.
  std::string hint(const MeshPath& outside) const;
  const FileGate& gate() const { return gate_; }

 private:
  MeshPath find_in_package(std::string_view rest) const;
  MeshPath file_at(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> roots_;    // each may be the package itself or hold it
  std::vector<std::filesystem::path> trusted_;  // those of roots_ that the user named
  FileGate gate_;
};

}  // namespace kansetsu::io
