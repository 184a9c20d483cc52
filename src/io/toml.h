#pragma once

#include <optional>
#include <string_view>

// toml++ 3.3 asserts of files what files may violate (a key that begins with a stray character), and with clang assumes it where
// assertions are off. Its parser goes on soundly without either.
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_ASSERT_ASSUME(expr) static_assert(true)

#include <toml++/toml.h>

namespace kansetsu::io {

/// The line of the first character beyond ASCII outside of strings and comments, where TOML allows none. To be looked for before
/// parsing: toml++ 3.3 takes what such characters lead to for unreachable.
std::optional<int> stray_character_line(std::string_view text);

/// The line of the first key of more than kDeepestKey parts, as in a.b.c: toml++ goes through its tables by recursion, however deep
/// they are.
inline constexpr int kDeepestKey = 100;
std::optional<int> deep_key_line(std::string_view text);

}  // namespace kansetsu::io
