#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bindings.h"
#include "kansetsu/base/diagnostic.h"
#include "kansetsu/base/error.h"

namespace kansetsu::python {

/// Raises kansetsu.NAME(text), a class of kansetsu._errors.
[[noreturn]] void raise_error(const char* name, const std::string& text);
/// Replaces options of the command in hints by arguments of Python.
std::vector<Diagnostic> in_python_words(std::vector<Diagnostic> diagnostics);
/// Raises kansetsu.LoadError with all diagnostics.
[[noreturn]] void raise_diagnostics(const std::vector<Diagnostic>& diagnostics);
/// The value; warnings become one kansetsu.FileWarning.
void warn(const std::vector<Diagnostic>& diagnostics);

template <class T>
T value_or_raise(Loaded<T>&& loaded) {
  if (!loaded.value) raise_diagnostics(loaded.diagnostics);
  warn(loaded.diagnostics);
  return *std::move(loaded.value);
}

/// TypeError and ValueError of arguments.
[[noreturn]] void raise_type(const std::string& text);
[[noreturn]] void raise_value(const std::string& text);

/// The index of a name in `all`; an unknown name raises with the known ones. @param of  the name of an element
template <class Range, class Of = std::identity>
std::size_t find_named(const char* function, const char* kind, const std::string& name, const Range& all,
                       const Of& of = {}) {
  std::string known;
  std::size_t i = 0;
  for (const auto& x : all) {
    const std::string candidate(std::invoke(of, x));
    if (candidate == name) return i;
    known += (i++ == 0 ? "" : ", ") + candidate;
  }
  raise_value(std::string(function) + ": there is no " + kind + " '" + name + "'; known: " + (i == 0 ? "none" : known));
}

/// One of several words, e.g. "local"; other words raise with the list.
template <class Enum>
struct Word {
  const char* word;
  Enum value;
};
template <class Enum, std::size_t n>
Enum read_word(const char* what, const std::string& text, const Word<Enum> (&words)[n]) {
  std::string known;
  for (const Word<Enum>& w : words) {
    if (text == w.word) return w.value;
    known += (known.empty() ? "'" : ", '") + std::string(w.word) + "'";
  }
  raise_value(std::string(what) + " is '" + text + "', expected one of " + known);
}
template <class Enum, std::size_t n>
const char* word_of(Enum value, const Word<Enum> (&words)[n]) {
  for (const Word<Enum>& w : words) {
    if (w.value == value) return w.word;
  }
  return "";
}

}  // namespace kansetsu::python
