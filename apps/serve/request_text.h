#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

/// Parts of a request's text.
namespace kansetsu::serve {

/// Compares in constant time.
bool same_secret(std::string_view a, std::string_view b);

struct Target {
  std::string_view path, query;
};
Target split(std::string_view target);

/// Of "name=value&…"; empty if there is none.
std::string_view query_value(std::string_view query, std::string_view name);

/// "bytes=first-last", "bytes=first-", "bytes=-count": first and last byte; none if malformed or out of range.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_range(std::string_view text, std::uint64_t size);

}  // namespace kansetsu::serve
