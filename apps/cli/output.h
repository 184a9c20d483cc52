#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "kansetsu/io/output_file.h"

namespace kansetsu::cli {

/// Where data goes: standard output, or a file that appears whole or not at all (io::OutputFile). Throws Failure if it cannot be
/// written, and BrokenPipe if standard output was closed.
class Output {
 public:
  struct BrokenPipe {};

  Output() = default;  ///< standard output
  /// "-" is standard output, too. Without commit(), a file stays as it was.
  explicit Output(const std::filesystem::path& file);

  void write(std::string_view text);
  void commit();  ///< after the last write()
  /// The file that commit() puts in its place: another program may write it instead. Empty where there is none.
  std::filesystem::path part() const { return file_ ? file_->part() : std::filesystem::path(); }

 private:
  [[noreturn]] void fail();

  std::optional<io::OutputFile> file_{};  ///< none: standard output
};

/// A whole file at once.
void write_whole(const std::filesystem::path& file, std::string_view text);

/// All of standard output at once.
void print(std::string_view text);

}  // namespace kansetsu::cli
