#include "kansetsu/base/diagnostic.h"

#include <algorithm>

#include "kansetsu/base/error.h"
#include "kansetsu/base/printable.h"

namespace kansetsu {

std::string to_string(const Diagnostic& d) {
  std::string text;
  if (!d.file.empty()) text += d.file + ":";
  if (d.line > 0) text += std::to_string(d.line) + ":";
  if (!text.empty()) text += " ";
  text += d.is_error() ? "error" : "warning";
  if (!d.code.empty()) text += "[" + d.code + "]";
  text += ": " + d.message + "\n";
  if (!d.path.empty()) text += "  at " + d.path + "\n";
  if (!d.hint.empty()) text += "  help: " + d.hint + "\n";
  return printable(std::move(text));
}

std::string to_string(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += to_string(d);
  return text;
}

bool has_errors(const std::vector<Diagnostic>& diagnostics) {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& d) { return d.is_error(); });
}

bool is_partial(const std::vector<Diagnostic>& diagnostics) {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& d) { return d.partial; });
}

std::string partial_summary(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> messages;
  for (const Diagnostic& d : diagnostics) {
    if (d.partial && std::ranges::find(messages, d.message) == messages.end()) messages.push_back(d.message);
  }
  std::string text;
  for (const std::string& message : messages) text += (text.empty() ? "partial model: " : "; ") + message;
  return text;
}

void throw_diagnostics(const std::vector<Diagnostic>& diagnostics) { throw Error(to_string(diagnostics)); }

}  // namespace kansetsu
