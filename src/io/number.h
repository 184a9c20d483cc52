#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Numbers in text, independent of the locale.
namespace kansetsu::io {

enum class Infinity { kRefuse, kAllow };

/// Reads exactly out.size() numbers separated by white space; "+1", ".5" and "5." are accepted, "nan" is not. Returns the
/// problem, e.g. "'}' is not a number" or "expected 3 numbers, found 2"; `out` is then unspecified.
std::optional<std::string> parse_numbers(std::string_view text, std::span<double> out,
                                         Infinity infinity = Infinity::kRefuse);

/// Removes and returns the first word of the text; empty at the end.
std::string_view next_word(std::string_view& text);
std::vector<std::string_view> split_words(std::string_view text);
/// The number of words separated by white space.
int count_words(std::string_view text);

/// The shortest text that parses to the same number.
std::string format_number(double value);
/// The same for several numbers, separated by blanks.
std::string format_numbers(std::span<const double> values);

}  // namespace kansetsu::io
