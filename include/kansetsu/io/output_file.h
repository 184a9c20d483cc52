#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kansetsu::io {

/// When NAME.kansetsu-part, which bytes go to, takes the place of the file.
enum class Writing {
  kInPlace,  ///< with the first bytes, so that what is written is there whatever happens to the program
  kBeside    ///< at the end
};

/// A file that is written front to back and keeps the first thing that went wrong. Opening changes nothing yet: an old file is as
/// it was until something could be written after start(), or until close() if it is written beside. Nobody else can write to it
/// meanwhile. A link is followed, not replaced; devices and pipes are written in place.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& path, Writing writing);
  ~OutputFile();  ///< without start(), all is as before; written beside, without close() as well
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void start();  ///< from here on the old content may go
  /// A piece that makes sense only as a whole: if the disk is full, pieces that did not fit leave no trace. Kept in memory until
  /// start() and flush(), or until there is much of it.
  bool write(std::string_view piece);
  bool flush();
  /// Completes the file. What went wrong, on the way or now; nothing if all is well.
  std::optional<std::string> close();

  bool ok() const { return !problem(); }
  const std::optional<std::string>& problem() const;  ///< the first so far
  const std::filesystem::path& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kansetsu::io
