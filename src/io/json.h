#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

/// Reading JSON from untrusted sources.
namespace kansetsu::io {

/// Thrown for invalid content; wrong types throw nlohmann's own exceptions.
struct WrongJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Maximum nesting of arrays and objects; models, scenes and glTF files need less. Each level takes about eighty bytes of memory for
/// one byte of text.
inline constexpr int kDeepestJson = 64;

inline bool is_nested_too_deeply(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++depth > kDeepestJson) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

template <class Json>
Json parse_json(std::string_view text) {
  if (is_nested_too_deeply(text)) throw WrongJson("it is nested too deeply");
  return Json::parse(text);
}

/// An integer that fits into an int; nlohmann would truncate larger numbers and fractions.
template <class Json>
int int_from(const Json& in) {
  constexpr auto kLowest = std::numeric_limits<int>::lowest(), kHighest = std::numeric_limits<int>::max();
  const bool fits = in.is_number_unsigned()  ? in.template get<std::uint64_t>() <= std::uint64_t(kHighest)
                    : in.is_number_integer() ? in.template get<std::int64_t>() >= std::int64_t(kLowest) &&
                                                   in.template get<std::int64_t>() <= std::int64_t(kHighest)
                                             : false;
  if (!fits) throw WrongJson("a whole number is missing, or too large");
  return in.template get<int>();
}

}  // namespace kansetsu::io
