#include "io/file_gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path.lexically_normal() : whole;
}

fs::path package_of(const fs::path& model_file) {
  const fs::path folder = resolved(model_file).parent_path();
  std::error_code ignored;
  for (fs::path above = folder; above.has_relative_path(); above = above.parent_path()) {
    if (fs::is_regular_file(above / "package.xml", ignored)) return above;
  }
  const fs::path parent = folder.parent_path();
  return parent.has_relative_path() ? parent : folder;
}

bool is_within(const fs::path& file, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && rest != file.end();
}

}  // namespace

FileGate::FileGate(const fs::path& model_file, const std::vector<fs::path>& allowed, const fs::path& outer) {
  folders_.push_back(!outer.empty() && is_within(resolved(model_file), outer) ? outer : package_of(model_file));
  for (const fs::path& folder : allowed) {
    fs::path whole = resolved(folder);
    if (!whole.has_filename() && whole.has_relative_path()) whole = whole.parent_path();  // "folder/"
    folders_.push_back(std::move(whole));
  }
}

bool FileGate::allows(const fs::path& file) const {
  if (file.native().find('\0') != std::string::npos) return false;  // the system would open the part before it
  const fs::path whole = resolved(file);
  return std::ranges::any_of(folders_, [&](const fs::path& folder) { return is_within(whole, folder); });
}

std::string FileGate::hint(const fs::path& file) const {
  return fmt::format("if it belongs to the model, allow its folder: --allow-path {}",
                     quote(resolved(file).parent_path().string(), std::string::npos));
}

}  // namespace kansetsu::io
