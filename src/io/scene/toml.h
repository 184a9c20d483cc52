#pragma once

#include <optional>
#include <string>
#include <string_view>

// toml++ 3.3 asserts of files what files may violate (a key that begins with a stray character), and with clang assumes it where
// assertions are off. Its parser goes on soundly without either.
#define TOML_EXCEPTIONS 0
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_ASSERT_ASSUME(expr) static_assert(true)

#include <toml++/toml.h>

/// The one way from text to TOML: every reader of TOML files goes through parse_toml().
namespace kansetsu::io {

/// What a text holds, or why it holds nothing: then `problem` is set.
struct TomlText {
  toml::table table{};
  std::string problem{}, hint{};
  int line = 0;
  bool foreign = false;  ///< no text at all, rather than text with a mistake
};
/// Text of any origin. A byte order mark is passed over.
TomlText parse_toml(std::string_view text, const std::string& file_name);

/// The line of the first character beyond ASCII outside of strings and comments, where TOML allows none. To be looked for before
/// parsing: toml++ 3.3 takes what such characters lead to for unreachable.
std::optional<int> stray_character_line(std::string_view text);

/// The line of the first key of more than kDeepestKey parts, as in a.b.c: toml++ goes through its tables by recursion, however deep
/// they are.
inline constexpr int kDeepestKey = 100;
std::optional<int> deep_key_line(std::string_view text);

}  // namespace kansetsu::io
