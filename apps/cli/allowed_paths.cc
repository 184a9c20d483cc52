#include "cli/allowed_paths.h"

namespace kansetsu::cli {

std::vector<std::string>& given_paths() {
  static std::vector<std::string> paths;
  return paths;
}

std::vector<std::string>& given_package_paths() {
  static std::vector<std::string> paths;
  return paths;
}

const std::vector<std::filesystem::path>& allowed_paths() {
  static const std::vector<std::filesystem::path> paths(given_paths().begin(), given_paths().end());
  return paths;
}

const std::vector<std::filesystem::path>& package_paths() {
  static const std::vector<std::filesystem::path> paths(given_package_paths().begin(), given_package_paths().end());
  return paths;
}

io::ReferenceOptions references() { return {allowed_paths(), package_paths()}; }

}  // namespace kansetsu::cli
