#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/text.h"

/// What all readers share: diagnostics of one file that do not drown, and a value only where there is no error.
namespace kansetsu::io {

/// Collects the diagnostics of one file: at most so many errors, and as many warnings.
class FileReport {
 public:
  /// @param too_many  the code that says that there are more
  FileReport(std::string file, const char* too_many, std::size_t most = kMaxDiagnostics)
      : file_(std::move(file)), too_many_(too_many), most_(most) {}

  const std::string& file() const { return file_; }
  void add(Diagnostic diagnostic);
  bool failed() const { return errors_ > 0; }
  /// No more are shown: there is no need to look for them.
  bool full(Severity severity = Severity::kError) const {
    return (severity == Severity::kError ? errors_ : warnings_) > most_;
  }
  std::vector<Diagnostic> take() { return std::exchange(diagnostics_, {}); }

 private:
  std::string file_;
  const char* too_many_;
  std::size_t most_, errors_ = 0, warnings_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

/// The value, unless something about it is an error.
template <class T>
Loaded<T> loaded(T value, std::vector<Diagnostic> diagnostics) {
  if (has_errors(diagnostics)) return {std::nullopt, std::move(diagnostics)};
  return {std::move(value), std::move(diagnostics)};
}

/// What `parse` makes of the text of a file, or why the file was not read.
template <class Parse>
std::invoke_result_t<Parse, const std::string&> parse_file(const std::filesystem::path& file, const FileCodes& codes,
                                                           Parse&& parse, std::uintmax_t largest = kMaxFileSize) {
  const FileText read = read_file(file, largest);
  if (read.problem) return {std::nullopt, {unreadable(read, file, codes, largest)}};
  return parse(read.text);
}

/// A writer takes what has no errors: these are in the way.
std::vector<Diagnostic> errors_of(std::vector<Diagnostic> diagnostics);

}  // namespace kansetsu::io
