#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace kansetsu::cli {
namespace {

bool has_colours() {
  const auto set = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables here
    return value ? value : "";
  };
  return isatty(STDERR_FILENO) == 1 && set("NO_COLOR").empty() && set("TERM") != "dumb";
}

constexpr std::string_view kRed = "\033[1;31m", kYellow = "\033[1;33m", kCyan = "\033[36m", kEnd = "\033[0m";

/// Colours the word at the beginning of a line or after ": ", as in diagnostics.
std::string painted(const std::string& text, std::string_view word, std::string_view paint) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) {
    const bool starts = at == 0 || text[at - 1] == '\n' || text.substr(0, at).ends_with(": ");
    const char next = at + word.size() < text.size() ? text[at + word.size()] : ' ';
    if (!starts || (next != '[' && next != ':')) continue;
    out.append(text, from, at - from).append(paint).append(word).append(kEnd);
    from = at + word.size();
  }
  return out.append(text, from);
}

std::string size_text(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return unit == 0 || bytes >= 100 ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
                                   : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

}  // namespace

std::string coloured(std::string text) {
  if (!has_colours()) return text;
  text = painted(painted(text, "error", kRed), "warning", kYellow);
  for (std::size_t at = text.find("\n  help:"); at != std::string::npos; at = text.find("\n  help:", at + 1)) {
    text.insert(at + 8, kEnd);
    text.insert(at + 3, kCyan);
  }
  return text;
}

void tell_written(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);  // of regular files only
  if (!error) fmt::print(stderr, "wrote {}, {}\n", file, size_text(double(size)));
}

void warn(std::string_view command, std::string_view what) {
  fmt::print(stderr, "{}", coloured(fmt::format("kansetsu {}: warning: {}\n", command, what)));
}

}  // namespace kansetsu::cli
