#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kansetsu::io {

/// Which files a model may name: those of its own package, and of folders that the user allows. A model is somebody else's text;
/// what it names must not reach files that were never part of it.
class FileGate {
 public:
  /// The package is the nearest folder at or above the model that holds a package.xml, else the parent of the model's folder, but
  /// never the root of the file system. A model that another file named, and that is in its package `outer`, has that one: else a
  /// scene could reach one folder further up with every file that it names.
  explicit FileGate(const std::filesystem::path& model_file, const std::vector<std::filesystem::path>& allowed = {},
                    const std::filesystem::path& outer = {});

  /// Whether the file, links followed, is in one of the folders.
  bool allows(const std::filesystem::path& file) const;
  /// What to do about a file that is refused.
  std::string hint(const std::filesystem::path& file) const;
  const std::filesystem::path& package() const { return folders_.front(); }

 private:
  std::vector<std::filesystem::path> folders_;  ///< canonical; the package first
};

}  // namespace kansetsu::io
