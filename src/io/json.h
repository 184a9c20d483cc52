#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

/// Reading JSON of unknown origin.
namespace kansetsu::io {

/// Thrown for what is not as it should be; nlohmann's own exceptions serve for wrong types.
struct WrongJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A whole number that fits into an int: nlohmann would cut off what is too large, and fractions.
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
