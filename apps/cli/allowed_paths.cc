#include "cli/allowed_paths.h"

namespace kansetsu::cli {
namespace {

thread_local const ReferencePaths* paths_of_call = nullptr;

}  // namespace

ReferencePaths::ReferencePaths(io::ReferenceOptions paths) : paths_(std::move(paths)), outer_(paths_of_call) {
  paths_of_call = this;
}
ReferencePaths::~ReferencePaths() { paths_of_call = outer_; }

std::vector<std::string>& given_paths() {
  static std::vector<std::string> paths;
  return paths;
}

std::vector<std::string>& given_package_paths() {
  static std::vector<std::string> paths;
  return paths;
}

const std::vector<std::filesystem::path>& allowed_paths() {
  if (paths_of_call) return paths_of_call->paths().allowed_paths;
  static const std::vector<std::filesystem::path> paths(given_paths().begin(), given_paths().end());
  return paths;
}

const std::vector<std::filesystem::path>& package_paths() {
  if (paths_of_call) return paths_of_call->paths().package_paths;
  static const std::vector<std::filesystem::path> paths(given_package_paths().begin(), given_package_paths().end());
  return paths;
}

io::ReferenceOptions references() { return {allowed_paths(), package_paths()}; }

}  // namespace kansetsu::cli
