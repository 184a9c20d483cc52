#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kansetsu::io {

/// When the temporary file NAME.kansetsu-part replaces the file.
enum class Writing {
  kInPlace,  ///< with the first bytes: what was written survives a crash of the program
  kBeside    ///< at the end
};

/// A file written sequentially, which remembers its first error. Opening does not change an old file: it is replaced by
/// the first write after start(), or by close() if written to a temporary file. The file is locked
/// until then. Symbolic links are followed; devices and pipes are written in place.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& path, Writing writing);
  ~OutputFile();  ///< without start(), or with a temporary file without close(), an old file is unchanged
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void start();  ///< from now on the old content may be replaced
  /// Writes a piece completely or not at all: if the disk is full, no part of it remains. Buffered until
  /// start() and flush(), or until the buffer is full. Everything before start() is one piece, so that an incomplete header never
  /// replaces an old file.
  bool write(std::string_view piece);
  bool flush();
  /// Completes the file. @return the first error, or none
  std::optional<std::string> close();

  bool ok() const { return !problem(); }
  const std::optional<std::string>& problem() const;  ///< the first so far
  const std::filesystem::path& path() const;
  const std::filesystem::path& part() const;  ///< the temporary file; empty for devices and pipes

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Removes the temporary files of this program. Async-signal-safe, for handlers of terminating signals.
void drop_open_parts() noexcept;

}  // namespace kansetsu::io
