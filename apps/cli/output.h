#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "kansetsu/io/output_file.h"

namespace kansetsu::cli {

/// The destination of data: standard output, or a file that appears complete or not at all (io::OutputFile). Throws Failure if
/// it cannot be written, and BrokenPipe if standard output was closed.
class Output {
 public:
  struct BrokenPipe {};

  Output() = default;  ///< standard output
  /// "-" is also standard output. Without commit(), an existing file is not changed.
  explicit Output(const std::filesystem::path& file);

  void write(std::string_view text);
  void commit();  ///< after the last write()
  /// The temporary file that commit() renames; another program may write it instead. Empty for standard output.
  std::filesystem::path part() const { return file_ ? file_->part() : std::filesystem::path(); }

 private:
  [[noreturn]] void fail();

  std::optional<io::OutputFile> file_{};  ///< none: standard output
};

/// Writes a complete file.
void write_whole(const std::filesystem::path& file, std::string_view text);

/// Writes to standard output.
void print(std::string_view text);

}  // namespace kansetsu::cli
