#include "io/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "io/text.h"

namespace kansetsu::io {
namespace {

constexpr std::string_view kSpace = " \t\n\r\f\v";

/// Whether a number outside the range of double underflows: decided by the decimal exponent of its first digit.
bool is_tiny(std::string_view word) {
  const std::size_t e = std::min(word.find_first_of("eE"), word.size());
  const std::string_view digits = word.substr(0, e);
  const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  const std::size_t point = std::min(digits.find('.'), digits.size());
  int exponent = 0;
  if (e < word.size()) {
    std::string_view tail = word.substr(e + 1);
    if (tail.starts_with('+')) tail.remove_prefix(1);
    if (std::from_chars(tail.data(), tail.data() + tail.size(), exponent).ec == std::errc::result_out_of_range) {
      return tail.starts_with('-');
    }
  }
  return static_cast<long>(point) - static_cast<long>(first) + exponent < 0;
}

std::optional<std::string> parse_number(std::string_view word, double& out, Infinity infinity) {
  std::string_view digits = word;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);  // from_chars knows no plus sign
  const char* end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, out);
  if (problem == std::errc::invalid_argument || stop != end) return fmt::format("{} is not a number", quote(word));
  if (problem == std::errc::result_out_of_range) {
    if (!is_tiny(digits)) return fmt::format("{} is too large", quote(word));
    out = digits.starts_with('-') ? -0.0 : 0.0;
  }
  if (std::isnan(out)) return fmt::format("{} is not a number", quote(word));
  if (std::isinf(out) && infinity == Infinity::kRefuse) return fmt::format("{} is not finite", quote(word));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> parse_numbers(std::string_view text, std::span<double> out, Infinity infinity) {
  std::size_t found = 0;
  double surplus = 0;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text), ++found) {
    if (auto problem = parse_number(word, found < out.size() ? out[found] : surplus, infinity)) return problem;
  }
  if (found == out.size()) return std::nullopt;
  return fmt::format("expected {} number{}, found {}", out.size(), out.size() == 1 ? "" : "s", found);
}

std::string_view next_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) out.push_back(word);
  return out;
}

int count_words(std::string_view text) {
  int count = 0;
  while (!next_word(text).empty()) ++count;
  return count;
}

std::string format_number(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string format_numbers(std::span<const double> values) {
  std::string text;
  for (const double x : values) text += (text.empty() ? "" : " ") + format_number(x);
  return text;
}

}  // namespace kansetsu::io
