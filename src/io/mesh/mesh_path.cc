#include "io/mesh/mesh_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "io/text.h"

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

/// The folders of a variable in the manner of PATH.
std::vector<fs::path> folders_of(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets variables while models load
  for (const std::string_view folder : split(value ? value : "", ":")) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// By name: what the user's own folders hold may be links, as ROS installs them.
bool is_below(const fs::path& file, const fs::path& folder) {
  std::error_code ignored;
  const fs::path relative =
      file.lexically_normal().lexically_relative(fs::absolute(folder, ignored).lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

bool cut_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

MeshFinder::MeshFinder(const fs::path& model_file, const std::vector<fs::path>& package_paths,
                       const std::vector<fs::path>& allowed, const fs::path& outer)
    : roots_(package_paths), gate_(model_file, allowed, outer) {
  std::error_code ignored;
  folder_ = fs::absolute(model_file, ignored).parent_path();
  for (fs::path& root : roots_) {
    if (!root.has_filename()) root = root.parent_path();  // "folder/"
  }
  for (fs::path& folder : folders_of("ROS_PACKAGE_PATH")) roots_.push_back(std::move(folder));
  for (const fs::path& folder : folders_of("AMENT_PREFIX_PATH")) roots_.push_back(folder / "share");
  trusted_ = roots_;
  for (fs::path folder = folder_; !folder.empty(); folder = folder.parent_path()) {
    roots_.push_back(folder);
    if (folder == folder.parent_path()) break;
  }
}

MeshPath MeshFinder::find(std::string_view uri) const {
  if (uri.starts_with("http://") || uri.starts_with("https://")) return {MeshPath::Status::kRemote, {}, {}};
  if (cut_prefix(uri, "package://") || cut_prefix(uri, "model://")) return find_in_package(uri);
  cut_prefix(uri, "file://");
  if (uri.empty()) return {MeshPath::Status::kNoFile, {}, {}};
  return file_at(folder_ / fs::path(uri));  // an absolute name replaces the folder
}

std::string MeshFinder::hint(const MeshPath& outside) const {
  if (outside.folder.empty()) return gate_.hint(outside.path);
  return fmt::format("if package {} belongs to the model, name its folder: --package-path {}", quote(outside.package),
                     quote(outside.folder, std::string::npos));
}

MeshPath MeshFinder::file_at(const fs::path& path) const {
  // Behind a link, a/../b is another file for the system than by its name: the file that is checked is the one that is opened.
  std::error_code error;
  const fs::path named = fs::absolute(path, error).lexically_normal();
  const bool trusted = std::ranges::any_of(trusted_, [&](const fs::path& folder) { return is_below(named, folder); });
  if (trusted && is_file(named)) return {MeshPath::Status::kFound, named.string(), {}};
  const fs::path real = fs::canonical(path, error);
  if (error || !is_file(real)) return {MeshPath::Status::kNoFile, {}, {}};
  return {gate_.allows(real) ? MeshPath::Status::kFound : MeshPath::Status::kOutside, real.string(), {}};
}

MeshPath MeshFinder::find_in_package(std::string_view rest) const {
  const std::size_t slash = rest.find('/');
  const std::string package(rest.substr(0, slash));
  const fs::path inner =
      slash == std::string_view::npos ? fs::path() : fs::path(rest.substr(slash + 1)).relative_path();
  if (package.empty()) return file_at(folder_ / inner);  // package:///x.stl: beside the model
  MeshPath best{MeshPath::Status::kNoPackage, {}, package};
  for (const fs::path& root : roots_) {
    for (const fs::path& folder : {root / package, root}) {
      if (folder.filename() != package || !is_folder(folder)) continue;
      best = file_at(folder / inner);
      best.package = package, best.folder = folder.string();
      if (best.status == MeshPath::Status::kFound) return best;
    }
  }
  return best;
}

}  // namespace kansetsu::io
