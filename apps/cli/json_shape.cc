#include "cli/json_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/suggest.h"

namespace kansetsu::cli {
namespace {

using nlohmann::json;

/// The value for a message, shortened if it is long.
std::string shown(const json& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = value.is_object()                      ? "an object"
                     : value.is_array() && value.size() > 8 ? "a longer array"
                                                            : value.dump();
  if (text.size() > kLongest) text = fmt::format("a {}", value.type_name());
  return text;
}

bool is_number(const json& value) { return value.is_number(); }

}  // namespace

void Problems::unknown(const std::string& path, std::string_view kind, std::string_view name,
                       const std::vector<std::string>& known) {
  add(kBadUsage, path, unknown_name(kind, name, known));
}

void Problems::add(Exit exit, const std::string& path, const std::string& what) {
  if (text_.empty()) exit_ = exit;
  if (!too_many()) text_ += fmt::format("{}: error: {}: {}\n", file_, path, what);
}

void Problems::fail_if_any() const {
  if (!text_.empty()) throw Failure(exit_, text_);
}

bool is_object(const json& value, const std::string& path, Problems& problems) {
  if (value.is_object()) return true;
  problems.bad_shape(path, fmt::format("must be an object, not {}", shown(value)));
  return false;
}

bool is_object_of(const json& value, const std::string& path, const std::vector<std::string>& known,
                  Problems& problems) {
  if (!is_object(value, path, problems)) return false;
  for (const auto& [name, entry] : value.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) problems.unknown(path, "entry", name, known);
  }
  return true;
}

std::optional<std::vector<double>> numbers(const json& value, int count, const std::string& path, Problems& problems) {
  if (count == 1 && value.is_number()) return std::vector<double>{value.get<double>()};
  const bool fits =
      value.is_array() && value.size() == std::size_t(count) && std::all_of(value.begin(), value.end(), is_number);
  if (fits) return value.get<std::vector<double>>();
  const std::string wanted = count == 1 ? "a number" : fmt::format("an array of {} numbers", count);
  problems.bad_shape(path, fmt::format("must be {}, not {}", wanted, shown(value)));
  return std::nullopt;
}

}  // namespace kansetsu::cli
