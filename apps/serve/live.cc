#include "serve/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kansetsu::serve {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr double kStepSeconds = 1.0 / 60, kLargestTick = 0.1, kLargestSpeed = 16;
constexpr double kFarthest = 1e4, kStrongestGravity = 1e3;  // [m], [m/s²]

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double number(const Json& value, double limit) {
  const double x = value.get<double>();
  if (!std::isfinite(x) || std::abs(x) > limit) throw Wrong(fmt::format("{} is out of range", x));
  return x;
}

Vec3<> vec3(const Json& value, double limit) {
  if (!value.is_array() || value.size() != 3) throw Wrong("three numbers are expected");
  return {number(value[0], limit), number(value[1], limit), number(value[2], limit)};
}

io::BodyRef body(const Json& message, const io::RecordingHeader& header) {
  const int figure = message.at("figure").get<int>(), link = message.at("link").get<int>();
  const bool known = figure >= 0 && std::size_t(figure) < header.figures.size() && link >= 0 &&
                     link < header.figures[std::size_t(figure)].model.link_count();
  if (!known) throw Wrong(fmt::format("there is no link {} of figure {}", link, figure));
  return {figure, link};
}

}  // namespace

std::string LiveSession::hello() const {
  const Vec3<> g = source_.gravity();
  Json controls = Json::array();
  for (const LiveControl& c : source_.controls()) {
    controls.push_back({{"name", c.name}, {"min", c.min}, {"max", c.max}, {"value", c.value}});
  }
  return Json{
      {"type", "hello"},     {"version", kVersion},        {"scene", Json::parse(io::to_scene_json(source_.header()))},
      {"playing", playing_}, {"gravity", {g.x, g.y, g.z}}, {"controls", controls}}
      .dump();
}

std::string LiveSession::state() const {
  return Json{{"type", "state"}, {"playing", playing_}, {"speed", speed_}}.dump();
}

std::optional<std::string> LiveSession::handle(std::string_view text, std::string& problem) {
  try {
    const Json message = Json::parse(text);
    const auto type = message.at("type").get<std::string>();
    wanted_ = true;  // whatever it was, show what became of it
    if (type == "play" || type == "pause") {
      playing_ = type == "play" && !failed_;
      return state();
    }
    if (type == "speed") {
      speed_ = std::clamp(number(message.at("value"), 1e6), 0.0, kLargestSpeed);
      return state();
    }
    if (type == "step") {
      playing_ = false;
      steps_ = std::min(steps_ + 1, 10);
      return state();
    }
    if (type == "reset") {
      source_.reset();
    } else if (type == "drag") {
      source_.drag(body(message, source_.header()), vec3(message.at("point"), kFarthest),
                   vec3(message.at("target"), kFarthest));
    } else if (type == "drop") {
      source_.drop();
    } else if (type == "grab") {
      source_.grab(body(message, source_.header()), vec3(message.at("point"), kFarthest));
    } else if (type == "release") {
      source_.release(body(message, source_.header()));
    } else if (type == "gravity") {
      source_.set_gravity(vec3(message.at("value"), kStrongestGravity));
    } else if (type == "control") {
      const auto name = message.at("name").get<std::string>();
      const auto controls = source_.controls();
      const auto known = std::find_if(controls.begin(), controls.end(), [&](auto& c) { return c.name == name; });
      if (known == controls.end()) throw Wrong(fmt::format("there is no control '{}'", name));
      source_.set_control(name, std::clamp(number(message.at("value"), 1e12), known->min, known->max));
    } else {
      throw Wrong(fmt::format("unknown message '{}'", type));
    }
  } catch (const Json::exception& error) {
    problem = error.what();
  } catch (const Wrong& error) {
    problem = error.what();
  }
  return std::nullopt;
}

std::optional<std::string> LiveSession::tick(double seconds) {
  const bool stepping = steps_ > 0;
  if (!playing_ && !stepping && !wanted_) return std::nullopt;
  wanted_ = false;
  double ahead = playing_ ? std::min(seconds, kLargestTick) * speed_ : 0;
  if (stepping) {
    --steps_;
    ahead = kStepSeconds;
  }
  const io::RecordedFrame frame = source_.advance(ahead);
  time_ = frame.time;
  return io::to_frame_message(frame);
}

std::vector<std::string> LiveSession::news() {
  const std::string why = source_.failure();
  if (why.empty() == !failed_) return {};
  failed_ = !why.empty();
  if (!failed_) return {};
  playing_ = false;
  return {state(), problem_message(why)};
}

std::string problem_message(std::string_view why) { return Json{{"type", "problem"}, {"message", why}}.dump(); }

}  // namespace kansetsu::serve
