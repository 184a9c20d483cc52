#include "serve/request_text.h"

#include <algorithm>
#include <charconv>

namespace kansetsu::serve {

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

Target split(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

std::string_view query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return pair.substr(name.size() + 1);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return {};
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_range(std::string_view text, std::uint64_t size) {
  if (!text.starts_with("bytes=") || size == 0) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const auto first = number(text.substr(0, dash)), last = number(text.substr(dash + 1));
  if (first && *first < size && (last ? *last >= *first : dash + 1 == text.size())) {
    return std::pair{*first, std::min(last.value_or(size - 1), size - 1)};
  }
  if (dash == 0 && last && *last > 0) return std::pair{size - std::min(*last, size), size - 1};
  return std::nullopt;
}

}  // namespace kansetsu::serve
