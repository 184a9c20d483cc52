#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/live_world.h"
#include "kansetsu/io/scene.h"
#include "serve/live.h"

namespace {

using namespace kansetsu;

/// A figure with a controller above a floor.
const SceneDescription& scene() {
  static const SceneDescription it = [] {
    auto read = io::parse_scene(R"(
[[environment]]
name = "floor"
type = "plane"
[[figure]]
name = "p"
model = "chain2"
base = "free"
pose = {p = [0.0, 0.0, 1.0]}
[[controller]]
name = "hold"
kind = "pd"
figure = "p"
kp = 5
kd = 1
)",
                                "live.toml");
    if (!read) std::fprintf(stderr, "%s\n", to_string(read.diagnostics).c_str()), std::abort();
    return *std::move(read.value);
  }();
  return it;
}

bool is_message(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.contains("type");
}

/// Lines are messages of a viewer, with time that passes between them; what is wrong with what comes back, if anything is.
std::string violation_of(std::string_view input) {
  cli::LiveWorld world(scene(), 1);
  serve::LiveSession session(world);
  if (!is_message(session.hello())) return "a first message that is none";
  for (int lines = 0; !input.empty() && lines < 20; ++lines) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    std::string problem;
    const auto state = session.handle(input.substr(0, end), problem);
    if (state && !is_message(*state)) return "a state that is none";
    if (!is_message(serve::problem_message(problem))) return "a problem that is none";
    session.tick(0.004);
    for (const std::string& news : session.news())
      if (!is_message(news)) return "news that are none";
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return is_message(session.hello()) ? "" : "a message for who comes late that is none";
}

}  // namespace

/// libFuzzer target: no messages of a viewer end the simulation, and all that others are told is sound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string violation = violation_of({reinterpret_cast<const char*>(data), size});
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
