#include "io/file_report.h"

#include <fmt/format.h>

namespace kansetsu::io {

void FileReport::add(Diagnostic diagnostic) {
  std::size_t& count = diagnostic.is_error() ? errors_ : warnings_;
  if (++count > most_ + 1) return;
  if (count == most_ + 1) {
    const char* what = diagnostic.is_error() ? "errors" : "warnings";
    diagnostic.code = too_many_;
    diagnostic.path.clear();
    diagnostic.message = fmt::format("more than {} {}; the rest is not shown", most_, what);
    diagnostic.hint.clear();
  }
  diagnostics_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> errors_of(std::vector<Diagnostic> diagnostics) {
  std::erase_if(diagnostics, [](const Diagnostic& d) { return !d.is_error(); });
  return diagnostics;
}

}  // namespace kansetsu::io
