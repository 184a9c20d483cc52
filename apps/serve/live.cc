#include "serve/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace kansetsu::serve {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 2;
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

/// A whole number of 64 bits: one beyond the range of `int` names no body, where a truncated one might.
std::int64_t index(const Json& value) {
  if (!value.is_number_integer()) throw Wrong("a whole number is expected");
  return value.get<std::int64_t>();
}

io::BodyRef body(const Json& message, const io::RecordingHeader& header) {
  const std::int64_t figure = index(message.at("figure")), link = index(message.at("link"));
  const bool known = figure >= 0 && std::size_t(figure) < header.figures.size() && link >= 0 &&
                     link < header.figures[std::size_t(figure)].model.link_count();
  if (!known) throw Wrong(fmt::format("there is no link {} of figure {}", link, figure));
  return {int(figure), int(link)};
}

/// As text; bytes that are not UTF-8, which a viewer may send, are replaced.
std::string text_of(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string LiveSession::hello() const {
  const Vec3<> g = source_.gravity();
  Json controls = Json::array();
  for (const LiveControl& c : source_.controls()) {
    controls.push_back({{"name", c.name}, {"min", c.min}, {"max", c.max}, {"value", c.value}, {"unit", c.unit}});
  }
  std::string text = text_of(Json{{"type", "hello"},
                                  {"version", kVersion},
                                  {"playing", playing_},
                                  {"recording", recording_.has_value()},
                                  {"gravity", {g.x, g.y, g.z}},
                                  {"controls", controls}});
  text.pop_back();  // the brace
  return text + ",\"scene\":" + scene_.json + "}";
}

const std::string* LiveSession::file(const std::string& name) const {
  if (name == "recording.mcap") return recorded_file_.empty() ? nullptr : &recorded_file_;
  const auto found = scene_.files.find(name);
  return found == scene_.files.end() ? nullptr : found->second.get();
}

std::string LiveSession::state() const {
  return text_of(
      Json{{"type", "state"}, {"playing", playing_}, {"speed", speed_}, {"recording", recording_.has_value()}});
}

/// A frame earlier than the last one means that the simulation was reset or rewound: the recording is cut there.
void LiveSession::keep(io::RecordedFrame frame) {
  auto& frames = recording_->frames;
  while (!frames.empty() && frames.back().time >= frame.time) frames.pop_back();
  frames.push_back(std::move(frame));
  recorded_ += stream_.value_count() * sizeof(double);
  if (recorded_ <= kLargestLiveRecording) return;
  finish_recording();
  full_ = true;
}

void LiveSession::finish_recording() {
  recorded_file_ = io::to_mcap(*recording_);
  recording_.reset();
}

std::optional<std::string> LiveSession::handle(std::string_view text, std::string& problem) {
  try {
    const Json message = Json::parse(text);
    const auto type = message.at("type").get<std::string>();
    wanted_ = true;  // show the result of any message
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
    if (type == "record") {
      const bool on = message.at("on").get<bool>();
      if (on && !recording_) {
        recording_.emplace(io::Recording{.header = source_.header()});
        recorded_ = 0;
      } else if (!on && recording_) {
        finish_recording();
      }
      return state();
    }
    if (type == "reset") {
      source_.reset();
      broken_.clear();
    } else if (type == "rewind") {
      source_.rewind(number(message.at("time"), 1e12));
      broken_.clear();
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
  } catch (const std::exception& error) {  // of the message, or of the source: neither ends the simulation
    problem = error.what();
  }
  return std::nullopt;
}

bool LiveSession::tick(double seconds) {
  const bool stepping = steps_ > 0;
  if (!playing_ && !stepping && !wanted_) return false;
  wanted_ = false;
  double ahead = playing_ ? std::min(seconds, kLargestTick) * speed_ : 0;
  if (stepping) {
    --steps_;
    ahead = kStepSeconds;
  }
  try {
    io::RecordedFrame frame = source_.advance(ahead);
    time_ = frame.time;
    stream_.next(frame);
    if (recording_) keep(std::move(frame));
    return true;
  } catch (const std::exception& error) {
    broken_ = error.what();
    return false;
  }
}

std::vector<std::string> LiveSession::news() {
  if (std::exchange(full_, false))
    return {state(), problem_message("The recording has reached its size limit and was stopped.")};
  const std::string why = broken_.empty() ? source_.failure() : broken_;
  if (why.empty() == !failed_) return {};
  failed_ = !why.empty();
  if (!failed_) return {};
  playing_ = false;
  return {state(), problem_message(why)};
}

std::string problem_message(std::string_view why) { return text_of(Json{{"type", "problem"}, {"message", why}}); }

}  // namespace kansetsu::serve
