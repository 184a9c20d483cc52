#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kansetsu::io {

/// Decides which files a model may refer to: those in its own package and in folders that the user allows. Models come from untrusted
/// sources and must not reach other files.
class FileGate {
 public:
  /// The package is the nearest folder at or above the model that contains a package.xml; otherwise the parent of the model's folder,
  /// but never the root of the file system. A model inside `outer`, the package of the file that refers to it, shares that package:
  /// otherwise each level of references could reach one folder further up.
  explicit FileGate(const std::filesystem::path& model_file, const std::vector<std::filesystem::path>& allowed = {},
                    const std::filesystem::path& outer = {});

  /// Whether the file is in one of the allowed folders, after resolving symbolic links.
  bool allows(const std::filesystem::path& file) const;
  /// The hint shown for a refused file.
  std::string hint(const std::filesystem::path& file) const;
  const std::filesystem::path& package() const { return folders_.front(); }

 private:
  std::vector<std::filesystem::path> folders_;  ///< canonical; the package first
};

}  // namespace kansetsu::io
