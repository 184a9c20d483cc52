#pragma once

#include <optional>
#include <string>
#include <string_view>

// toml++ 3.3 asserts conditions that files can violate (a key that begins with a stray character), and assumes them with clang if
// assertions are disabled. The parser is sound without either.
#define TOML_EXCEPTIONS 0
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_ASSERT_ASSUME(expr) static_assert(true)

#include <toml++/toml.h>

/// Parsing TOML; all readers of TOML files use parse_toml().
namespace kansetsu::io {

/// The parsed table, or `problem` if parsing failed.
struct TomlText {
  toml::table table{};
  std::string problem{}, hint{};
  int line = 0;
  bool foreign = false;  ///< not text, rather than text with an error
};
/// Parses text from untrusted sources; skips a byte order mark.
TomlText parse_toml(std::string_view text, const std::string& file_name);

/// The line of the first non-ASCII character outside of strings and comments, where TOML allows none. Checked before parsing: toml++ 3.3
/// has undefined behaviour for such input.
std::optional<int> stray_character_line(std::string_view text);

/// The line of the first key of more than kDeepestKey parts, as in a.b.c: toml++ recurses over nested tables without a limit.
inline constexpr int kDeepestKey = 100;
std::optional<int> deep_key_line(std::string_view text);

}  // namespace kansetsu::io
