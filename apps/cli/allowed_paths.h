#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kansetsu/io/references.h"

namespace kansetsu::cli {

/// Folders outside the package of a model from which it may still read files. They apply to every file of a run.
const std::vector<std::filesystem::path>& allowed_paths();
/// Folders in which package://NAME/… is looked up.
const std::vector<std::filesystem::path>& package_paths();
/// Sets both; call it before the first file is read.
std::vector<std::string>& given_paths();
std::vector<std::string>& given_package_paths();
/// Both, in the form that readers of scenes take.
io::ReferenceOptions references();

/// While it lives, the calling thread uses these folders instead: for callers that name folders in each call.
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
