#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/text.h"

/// Shared by all readers: the diagnostics of one file, limited in number, and a value only if there are no errors.
namespace kansetsu::io {

/// Collects the diagnostics of one file: at most `most` errors and `most` warnings.
class FileReport {
 public:
  /// @param too_many  the code reported when the limit is exceeded
  FileReport(std::string file, const char* too_many, std::size_t most = kMaxDiagnostics)
      : file_(std::move(file)), too_many_(too_many), most_(most) {}

  const std::string& file() const { return file_; }
  void add(Diagnostic diagnostic);
  /// @param line  0: the file as a whole
  void error(int line, const char* code, std::string path, std::string message, std::string hint = {}) {
    add({Severity::kError, code, file_, line, std::move(path), std::move(message), std::move(hint)});
  }
  void warn(int line, const char* code, std::string path, std::string message, std::string hint = {}) {
    add({Severity::kWarning, code, file_, line, std::move(path), std::move(message), std::move(hint)});
  }
  /// Report an error and return false, or no value.
  bool fail(int line, const char* code, std::string path, std::string message, std::string hint) {
    return error(line, code, std::move(path), std::move(message), std::move(hint)), false;
  }
  std::nullopt_t refuse(int line, const char* code, std::string path, std::string message, std::string hint) {
    return error(line, code, std::move(path), std::move(message), std::move(hint)), std::nullopt;
  }
  bool failed() const { return errors_ > 0; }
  /// The limit is exceeded; further diagnostics are dropped.
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

/// The value, or none if there is an error.
template <class T>
Loaded<T> loaded(T value, std::vector<Diagnostic> diagnostics) {
  if (has_errors(diagnostics)) return {std::nullopt, std::move(diagnostics)};
  return {std::move(value), std::move(diagnostics)};
}

/// Reads a file and parses it; if it cannot be read, the diagnostic that says why.
template <class Parse>
std::invoke_result_t<Parse, const std::string&> parse_file(const std::filesystem::path& file, const FileCodes& codes,
                                                           Parse&& parse, std::uintmax_t largest = kMaxFileSize) {
  const FileText read = read_file(file, largest);
  if (read.problem) return {std::nullopt, {unreadable(read, file, codes, largest)}};
  return parse(read.text);
}

/// The errors among the diagnostics: writers refuse what has any.
std::vector<Diagnostic> errors_of(std::vector<Diagnostic> diagnostics);

}  // namespace kansetsu::io
