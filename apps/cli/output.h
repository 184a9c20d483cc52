#pragma once

#include <cstdio>
#include <filesystem>
#include <string_view>

namespace kansetsu::cli {

/// Where data goes: standard output, or a file that appears whole or not at all. Throws Failure if it cannot be written, and
/// BrokenPipe if nobody reads standard output any more.
class Output {
 public:
  struct BrokenPipe {};

  Output();                                     ///< standard output
  explicit Output(std::filesystem::path file);  ///< "-" is standard output, too
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();  ///< without commit(), a file stays as it was before

  void write(std::string_view text);
  void commit();  ///< after the last write()

 private:
  void close();
  [[noreturn]] void fail(int error);

  std::filesystem::path target_, temporary_;  ///< empty: standard output; written in place
  std::FILE* stream_ = nullptr;
};

/// A whole file at once.
void write_whole(const std::filesystem::path& file, std::string_view text);

/// All of standard output at once.
void print(std::string_view text);

}  // namespace kansetsu::cli
