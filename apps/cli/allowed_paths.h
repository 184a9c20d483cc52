#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kansetsu/io/references.h"

namespace kansetsu::cli {

/// Folders outside of a model's package from which files that it names may be read: the same for all files that a run reads.
const std::vector<std::filesystem::path>& allowed_paths();
/// Folders in which package://NAME/… is looked for.
const std::vector<std::filesystem::path>& package_paths();
/// Their names, to be given before the first file is read.
std::vector<std::string>& given_paths();
std::vector<std::string>& given_package_paths();
/// Both, as readers of scenes take them.
io::ReferenceOptions references();

/// Other folders for what the calling thread reads while this lives: where each call names its own.
class ReferencePaths {
 public:
  explicit ReferencePaths(io::ReferenceOptions paths);
  ~ReferencePaths();
  ReferencePaths(const ReferencePaths&) = delete;
  ReferencePaths& operator=(const ReferencePaths&) = delete;

  const io::ReferenceOptions& paths() const { return paths_; }

 private:
  io::ReferenceOptions paths_;
  const ReferencePaths* outer_;
};

}  // namespace kansetsu::cli
