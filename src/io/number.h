#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Numbers in text, the same in every locale.
namespace kansetsu::io {

enum class Infinity { kRefuse, kAllow };

/// Reads exactly out.size() numbers separated by white space; "+1", ".5" and "5." are numbers, "nan" never is. Returns
/// what is wrong, e.g. "'}' is not a number" or "expected 3 numbers, found 2"; `out` is then unspecified.
std::optional<std::string> parse_numbers(std::string_view text, std::span<double> out,
                                         Infinity infinity = Infinity::kRefuse);

/// Cuts the first word off the text; empty at the end.
std::string_view next_word(std::string_view& text);
/// How many pieces white space divides the text into.
int count_words(std::string_view text);

/// The shortest text that reads back as the same number.
std::string format_number(double value);
/// The same of several, with blanks between them.
std::string format_numbers(std::span<const double> values);

}  // namespace kansetsu::io
