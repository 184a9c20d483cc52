#pragma once

#include <stdexcept>
#include <string>

namespace kansetsu {

/// Misuse of the API (wrong size, unknown name, model that does not validate). The text names the values.
/// Bad files are not errors of this kind: readers return diagnostics.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error "<function>: <what> has size <actual>, expected <expected>" unless the two agree.
[[noreturn]] void throw_size(const char* function, const char* what, long actual, long expected);
inline void check_size(const char* function, const char* what, long actual, long expected) {
  if (actual != expected) throw_size(function, what, actual, expected);
}

}  // namespace kansetsu
