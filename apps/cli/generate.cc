/// kansetsu generate KIND: a parametric motion, as a recording. Each kind is a row of kKinds and a function.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "cli/arguments.h"
#include "cli/clip.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/motion/parametric.h"
#include "kansetsu/motion/walk.h"

namespace kansetsu::cli {
namespace {

/// Numbers from the command line, by option.
struct Numbers {
  std::map<std::string, double> given{};
  std::vector<double> target{};
  std::string hand{};

  void set(const char* name, double& value) const {
    if (const auto at = given.find(name); at != given.end()) value = at->second;
  }
  void set(const char* name, int& value) const {
    if (const auto at = given.find(name); at != given.end()) value = int(at->second);
  }
};

/// An option of some kinds.
constexpr double kWalkDistance = 5;  // [m]

struct Parameter {
  const char *name, *unit, *help;
  double initial;
};
const Parameter kParameters[] = {
    {"depth", "M", "squat: vertical travel of the pelvis [m]", SquatOptions{}.depth},
    {"count", "N", "squat: number of squats", double(SquatOptions{}.count)},
    {"period", "S", "squat, reach: duration of one motion [s]", SquatOptions{}.period},
    {"pause", "S", "squat, reach: pause before, between and after [s]", SquatOptions{}.pause},
    {"angle", "RAD", "bar-swing: initial angle from the vertical [rad]", BarSwingOptions{}.angle},
    {"pump", "RAD", "bar-swing: hip flexion on the forward swing [rad]", BarSwingOptions{}.pump},
    {"height", "M", "bar-swing: height of the bar [m]", BarSwingOptions{}.height},
    {"duration", "S", "bar-swing: duration [s]", BarSwingOptions{}.duration},
    {"speed", "M/S", "walk: speed [m/s]", WalkOptions{}.speed},
    {"distance", "M", "walk: distance [m]", kWalkDistance},
    {"turn", "DEG", "walk: turn to the left along the way [deg]", 0},
    {"slope", "DEG", "walk: slope of the ground [deg]", 0},
    {"stairs", "M", "walk: height of each of eight stairs [m]", 0},
    {"rate", "HZ", "frame rate [Hz]", SquatOptions{}.rate},
};

Clip make_squat(const Model& model, const Numbers& n) {
  SquatOptions o;
  n.set("depth", o.depth), n.set("count", o.count), n.set("period", o.period), n.set("pause", o.pause);
  n.set("rate", o.rate);
  return squat(model, o);
}

Clip make_reach(const Model& model, const Numbers& n) {
  ReachOptions o;
  n.set("period", o.period), n.set("pause", o.pause), n.set("rate", o.rate);
  if (!n.hand.empty()) o.hand = n.hand;
  if (!n.target.empty()) o.target = {n.target[0], n.target[1], n.target[2]};
  return reach(model, o);
}

Clip make_bar_swing(const Model& model, const Numbers& n) {
  BarSwingOptions o;
  n.set("angle", o.angle), n.set("pump", o.pump), n.set("height", o.height), n.set("duration", o.duration);
  n.set("rate", o.rate);
  return bar_swing(model, o);
}

Clip make_walk(const Model& model, const Numbers& n) {
  constexpr double kTurnRate = 0.25;  // [rad/s]
  WalkOptions o;
  o.distance = kWalkDistance;
  double turn = 0, slope = 0, rate = 100;
  n.set("speed", o.speed), n.set("distance", o.distance), n.set("turn", turn), n.set("slope", slope);
  n.set("stairs", o.terrain.stair_rise), n.set("rate", rate);
  o.turn = turn == 0 ? 0 : std::copysign(kTurnRate, turn);
  o.turn_until = std::abs(turn) * kDegree;
  o.terrain.slope = slope * kDegree;
  return walk_clip(model, o, rate);
}

struct Kind {
  std::string_view name, takes;  ///< options, in words
  Clip (*make)(const Model& model, const Numbers& numbers);
};
constexpr std::array kKinds{
    Kind{"squat", "depth count period pause rate", make_squat},
    Kind{"reach", "hand target period pause rate", make_reach},
    Kind{"bar-swing", "angle pump height duration rate", make_bar_swing},
    Kind{"walk", "speed distance turn slope stairs rate", make_walk},
};

std::string kind_names(std::string_view separator) {
  std::string text;
  for (const Kind& kind : kKinds) text += (text.empty() ? "" : std::string(separator)) + std::string(kind.name);
  return text;
}

struct GenerateArguments {
  std::string kind, record;
  ModelSource figure{.name = "human28"};
  Numbers numbers;
  bool json = false;
};

void check_taken(const Kind& kind, const Numbers& numbers) {
  const std::string takes = " " + std::string(kind.takes) + " ";
  const auto check = [&](const std::string& name) {
    if (takes.find(" " + name + " ") != std::string::npos) return;
    throw Failure(kBadUsage,
                  fmt::format("kansetsu generate {} takes no --{}\n  known: {}", kind.name, name, kind.takes));
  };
  for (const auto& [name, value] : numbers.given) check(name);
  if (!numbers.hand.empty()) check("hand");
  if (!numbers.target.empty()) check("target");
}

void print_summary(const Model& model, const Clip& clip, bool as_json) {
  Vec3<> low{kInfinity, kInfinity, kInfinity}, high = -low;
  for (int k = 0; k < clip.frames(); ++k) {
    const Vec3<> com = center_of_mass(model, clip.q.col(k));
    low = {std::min(low.x, com.x), std::min(low.y, com.y), std::min(low.z, com.z)};
    high = {std::max(high.x, com.x), std::max(high.y, com.y), std::max(high.z, com.z)};
  }
  const double rate = clip.frames() > 1 ? (clip.frames() - 1) / clip.duration() : 0;
  if (as_json) {
    JsonWriter json;
    json.begin_object().entry("motion", clip.name).entry("figure", model.name()).entry("frames", clip.frames());
    json.entry("duration", clip.duration()).entry("rate", rate);
    json.entry("com_low", low).entry("com_high", high).end_object();
    return print(json.take() + "\n");
  }
  print(table({{"motion", clip.name},
               {"figure", model.name()},
               {"frames", fmt::format("{}, {:.6g} s at {:.6g} Hz", clip.frames(), clip.duration(), rate)},
               {"centre of mass", fmt::format("x {:.3f} … {:.3f}, y {:.3f} … {:.3f}, z {:.3f} … {:.3f} m", low.x,
                                              high.x, low.y, high.y, low.z, high.z)}}));
}

Exit generate_clip(const GenerateArguments& options) {
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.name == options.kind; });
  if (kind == kKinds.end())
    throw Failure(kBadUsage,
                  fmt::format("kansetsu generate: unknown motion '{}'\n  known: {}", options.kind, kind_names(", ")));
  check_taken(*kind, options.numbers);
  if (options.numbers.target.size() % 3 != 0)
    throw Failure(kBadUsage, fmt::format("--target: {} numbers, three are needed", options.numbers.target.size()));
  const Model model = model_or_fail(options.figure);
  const Clip clip = or_fail(kNumerical, "kansetsu generate", [&] { return kind->make(model, options.numbers); });
  if (!options.record.empty()) {
    check_written(io::write_recording(to_recording(model, clip, "kansetsu generate"), options.record));
    tell_written(options.record);
  }
  print_summary(model, clip, options.json);
  return kOk;
}

}  // namespace

Runner declare_generate(Arguments& args) {
  auto options = std::make_shared<GenerateArguments>();
  args.add("KIND", options->kind, "the motion").required().type_name(kind_names("|"));
  args.add("--figure MODEL", options->figure.name, "model that moves; default: human28");
  args.add("--record FILE", options->record, "write the motion: .mcap, .csv, .npz or .glb");
  for (const Parameter& p : kParameters) {
    const std::string name = p.name;
    args.add_number(
            "--" + name, [options, name](double x) { options->numbers.given[name] = x; },
            fmt::format("{}; default: {:g}", p.help, p.initial))
        .type_name(p.unit);
  }
  args.add("--hand FRAME", options->numbers.hand, "reach: frame to move to the target; default: gripR");
  args.add("--target X,Y,Z", options->numbers.target, "reach: x,y,z [m]; the figure stands at the origin facing x")
      .delimiter(',');
  add_path_option(args);
  args.add_flag("--json", options->json, "print the summary as JSON");
  return [options] { return generate_clip(*options); };
}

}  // namespace kansetsu::cli
