#include "cli/walk_push.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

#include "cli/command.h"

namespace kansetsu::cli {
namespace {

/// Removes a number from the beginning of the text and returns it.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return value;
}
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// The direction from which it comes: a push from the back points forwards.
constexpr std::pair<std::string_view, double> kSides[] = {{"back", 0}, {"right", 90}, {"front", 180}, {"left", -90}};

}  // namespace

Push parse_push(const std::string& command, const std::string& text) {
  const auto fail = [&](const char* why) {
    return Failure(kBadUsage,
                   fmt::format("kansetsu {}: --push '{}': {}\n  help: as in 20Ns@3s, 20Ns@random or 20Ns@3s:left",
                               command, text, why));
  };
  constexpr double kLargest = 1000;  // [N·s]
  std::string_view rest = text;
  Push push;
  const auto impulse = take_number(rest);
  if (!impulse || *impulse <= 0 || *impulse > kLargest) throw fail("does not begin with an impulse between 0 and 1000");
  push.impulse = *impulse;
  if (!take(rest, "Ns@")) throw fail("no 'Ns@' after the impulse");
  if (!take(rest, "random")) {
    push.time = take_number(rest);
    if (!push.time || *push.time < 0) throw fail("no time after '@'");
    if (!take(rest, "s")) throw fail("no 's' after the time");
  }
  if (rest.empty()) return push;
  if (!take(rest, ":")) throw fail("unexpected text after the time; ':' and a direction may follow");
  for (const auto& [name, degrees] : kSides) {
    if (rest == name) {
      push.direction = degrees * std::numbers::pi / 180;
      return push;
    }
  }
  const auto degrees = take_number(rest);
  if (!degrees || !rest.empty()) throw fail("the direction is neither front, back, left, right nor degrees");
  push.direction = *degrees * std::numbers::pi / 180;
  return push;
}

}  // namespace kansetsu::cli
