#include "cli/suggest.h"

#include <fmt/ranges.h>

#include "kansetsu/base/suggest.h"

namespace kansetsu::cli {

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; " + nearest;
}

std::string unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
  const std::string list = known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "));
  return fmt::format("unknown {} '{}'{}\n  known: {}", kind, name, did_you_mean(name, known), list);
}

}  // namespace kansetsu::cli
