#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kansetsu {

enum class Severity { kWarning, kError };

/// One finding about a file or a description, in the form of a compiler message.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;     ///< stable, e.g. "URDF012"; listed in docs/formats
  std::string file;     ///< empty if the input was not a file
  int line = 0;         ///< 1-based, 0 if unknown
  std::string path;     ///< where in the document, e.g. robot[g1]/joint[knee]/axis
  std::string message;  ///< what is wrong, with the value
  std::string hint;     ///< what to do about it
  /// A warning about something left out of the model that would change its motion.
  bool partial = false;

  bool is_error() const { return severity == Severity::kError; }
};

/// "file:line: error[CODE]: message", then "  at path" and "  help: hint" where known.
std::string to_string(const Diagnostic& diagnostic);

/// All of them, one after the other.
std::string to_string(const std::vector<Diagnostic>& diagnostics);

bool has_errors(const std::vector<Diagnostic>& diagnostics);
/// Whether some of the model was left out.
bool is_partial(const std::vector<Diagnostic>& diagnostics);
/// "read, but not the whole model: …" with every omitted feature once; empty if there is none.
std::string partial_summary(const std::vector<Diagnostic>& diagnostics);

/// Value plus all diagnostics; there is no value if and only if an error was reported.
template <class T>
struct [[nodiscard]] Loaded {
  std::optional<T> value;
  std::vector<Diagnostic> diagnostics;

  explicit operator bool() const { return value.has_value(); }
  /// Whether there is a value that is not the whole model.
  bool partial() const { return value.has_value() && is_partial(diagnostics); }
};

/// Throws Error with all lines if there is no value; returns the value otherwise.
[[noreturn]] void throw_diagnostics(const std::vector<Diagnostic>& diagnostics);

template <class T>
T value_or_throw(Loaded<T>&& loaded) {
  if (!loaded.value) throw_diagnostics(loaded.diagnostics);
  return *std::move(loaded.value);
}

}  // namespace kansetsu
