/// kansetsu simulate SCENE: simulates a world and prints a summary.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/arguments.h"
#include "cli/controls.h"
#include "cli/interrupt.h"
#include "cli/json_writer.h"
#include "cli/load_scene.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tiers.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {
namespace {

struct SimulateArguments {
  std::string scene, keyframe;
  std::optional<double> duration, step;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> records, controls;
  std::string control_file;
  double rate = 0;
  int threads = 1;
  bool json = false, strict = false, allow_partial = false;
};

struct Summary {
  double seconds = 0, wall = 0;
  double energy_start = 0;
  SensorValues sensors_start{}, sensors_end{};
  WorldHealth health{};  ///< at the end
};

void print_summary(const World& world, const Summary& s, Output& out) {
  const WorldTotals& t = world.totals();
  const auto number = [](const char* format, double x) { return fmt::format(fmt::runtime(format), x); };
  std::vector<std::vector<std::string>> rows{
      {"simulated", number("{:.6g} s", s.seconds)},
      {"steps", fmt::format("{}", t.steps)},
      {"speed", fmt::format("{:.4g} steps/s, {:.3g} × real time", double(t.steps) / s.wall, s.seconds / s.wall)},
      {"contacts", number("{:.3g} per step", t.steps ? double(t.contacts) / double(t.steps) : 0)},
      {"solved by", tier_text(t)},
      {"impacts", fmt::format("{}, {:.6g} J", t.impacts, t.impact_energy)},
      {"worst residual", number("{:.3g}", t.worst_residual)},
      {"deepest penetration", number("{:.3g} m", t.worst_penetration)},
      {"largest gap", fmt::format("{:.3g} m, {:.3g} rad", t.worst_gap, t.worst_angle)},
      {"energy", fmt::format("{:.6g} → {:.6g} J", s.energy_start, s.health.energy)},
      {"  work of torques", number("{:.6g} J", t.work_torque)},
      {"  work of contacts, limits", number("{:.6g} J", t.work_contact)},
      {"  work of connections", number("{:.6g} J", t.work_connection)},
      {"  impacts", number("{:.6g} J", t.impact_energy)},
      {"  unexplained", number("{:.3g} J", s.health.energy_drift)},
      {"state", fmt::format("{:016x}", world.hash())}};
  out.write(table(rows));
  if (const std::string actuators = actuator_table(world); !actuators.empty()) out.write("\nActuators\n" + actuators);
  if (world.events().empty()) return;
  out.write("\nEvents\n");
  std::vector<std::vector<std::string>> events;
  for (const Event& e : world.events()) {
    events.push_back({fmt::format("{:.6g} s", e.time), to_string(e.kind), e.name, e.detail});
  }
  out.write(table(events));
}

/// Connections whose ends are apart: a grip that cannot be reached.
std::vector<const ConnectionReport*> open_connections(const World& world) {
  constexpr double kOpen = 1e-3;  // [m, rad]
  std::vector<const ConnectionReport*> out;
  for (const ConnectionReport& c : world.report().connections) {
    if (std::max(c.position_gap, c.angle_gap) > kOpen) out.push_back(&c);
  }
  return out;
}

std::string json_summary(const World& world, const Summary& s) {
  const WorldTotals& t = world.totals();
  JsonWriter json;
  json.begin_object();
  json.entry("status", world.status() == WorldStatus::kFailed ? "failed" : "ok").entry("failure", world.failure());
  json.entry("seconds", s.seconds).entry("steps", double(t.steps)).entry("wall_seconds", s.wall);
  json.entry("steps_per_second", double(t.steps) / s.wall);
  json.entry("contacts", double(t.contacts)).entry("impacts", double(t.impacts));
  write_tiers(t, json);
  json.entry("worst_residual", t.worst_residual).entry("penetration", t.worst_penetration);
  json.entry("gap", t.worst_gap).entry("gap_angle", t.worst_angle);
  json.key("open_connections").begin_array();
  for (const ConnectionReport* c : open_connections(world)) {
    json.begin_object().entry("name", std::string(c->name)).entry("gap", c->position_gap);
    json.entry("gap_angle", c->angle_gap).end_object();
  }
  json.end_array();
  json.key("energy").begin_object();
  json.entry("start", s.energy_start).entry("end", s.health.energy).entry("work_torque", t.work_torque);
  json.entry("work_contact", t.work_contact).entry("work_connection", t.work_connection);
  json.entry("impact", t.impact_energy).entry("unexplained", s.health.energy_drift).end_object();
  write_actuators(world, json.key("actuators"));
  json.key("sensors").begin_object().key("start").raw(sensors_as_json(s.sensors_start));
  json.key("end").raw(sensors_as_json(s.sensors_end)).end_object();
  json.key("events").begin_array();
  for (const Event& e : world.events()) {
    json.begin_object().entry("time", e.time).entry("kind", to_string(e.kind)).entry("name", e.name);
    json.entry("detail", e.detail).end_object();
  }
  json.end_array();
  json.entry("hash", fmt::format("{:016x}", world.hash())).end_object();
  return json.take() + "\n";
}

/// What makes the result doubtful. Connections that are open at the end are reported by name.
std::vector<std::string> doubts(const WorldHealth& health, bool corrects_start) {
  std::vector<std::string> out;
  for (const HealthFinding& finding : health.findings) {
    if (finding.what == "the gap" || finding.what == "the angle") continue;
    const bool of_start = finding.what == "the penetration" || finding.what == "the unexplained energy";
    out.push_back(finding.text() +
                  (corrects_start && of_start
                       ? "; shapes overlap or joints are outside their limits at the start, and moving "
                         "them apart changes the energy"
                       : "; a shorter --step may help"));
  }
  return out;
}

/// "--keyframe home, --keyframe stand", the first few of them.
std::string keyframe_options(const SceneDescription& scene) {
  constexpr std::size_t kMost = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(scene.keyframes.size(), kMost); ++i)
    out += fmt::format("{}--keyframe {}", out.empty() ? "" : ", ", scene.keyframes[i].name);
  return scene.keyframes.size() > kMost ? out + ", …" : out;
}

void start_from(SceneDescription& scene, const std::string& keyframe) {
  std::vector<std::string> known;
  for (const Keyframe& k : scene.keyframes) known.push_back(k.name);
  if (std::find(known.begin(), known.end(), keyframe) == known.end())
    throw Failure(kBadUsage,
                  fmt::format("there is no keyframe '{}'; {}", keyframe,
                              known.empty() ? "the scene has none" : fmt::format("known: {}", fmt::join(known, ", "))));
  apply_keyframe(scene, keyframe);
}

Exit simulate(const SimulateArguments& options) {
  SceneDescription scene =
      scene_or_fail(options.scene, {}, options.allow_partial ? PartialModel::kTell : PartialModel::kRefuse);
  if (!options.keyframe.empty()) start_from(scene, options.keyframe);
  if (options.step) scene.time_step = *options.step;
  if (options.duration) scene.duration = *options.duration;
  if (options.seed) scene.seed = *options.seed;
  const double steps = std::ceil(scene.duration / scene.time_step - 1e-9);
  constexpr double kMostSteps = 1e15;  // more than a computer makes in a year, and beyond the resolution of time
  if (!(steps <= kMostSteps)) {
    throw Failure(kBadUsage, fmt::format("{:.3g} s in steps of {:.3g} s are {:.3g} steps: too many", scene.duration,
                                         scene.time_step, steps));
  }
  BuiltWorld built = build_or_fail(scene, options.threads);
  World& world = built.world;
  if (built.corrects_start && options.keyframe.empty() && !scene.keyframes.empty()) {
    fmt::print(stderr, "  help: the file has keyframes to start from: {}\n", keyframe_options(scene));
  }
  if (world.figure_count() == 0) fmt::print(stderr, "{}: nothing can move: the scene has no figure\n", options.scene);
  // A grip that is made at a distance closes over several steps; one that stays open is reported at the end.
  if (options.strict) world.set_strict(HealthLimits{.gap = kInfinity, .angle = kInfinity});
  set_controls(world, options.controls);
  std::optional<ControlTable> table;
  if (!options.control_file.empty()) table.emplace(options.control_file, world);
  WorldRecorder recorder(world, scene, options.records, options.rate);
  const Interrupt interrupt;

  Summary summary;
  summary.energy_start = world.health().energy;
  summary.sensors_start = sensors_now(world);
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress("simulating " + options.scene, std::size_t(steps));
    recorder.add(world);
    std::size_t count = 0;
    while (world.status() == WorldStatus::kRunning && world.time() < scene.duration - 0.5 * scene.time_step &&
           !Interrupt::caught()) {
      if (table) table->apply(world);
      world.step();
      recorder.add(world);
      if (++count % 64 != 0) continue;
      progress.done(count);
      (void)world.health();  // samples the kinetic energy
    }
  }
  summary.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.seconds = world.time();
  summary.health = world.health();
  summary.sensors_end = sensors_of(world);
  recorder.finish();

  Output out;
  if (options.json)
    out.write(json_summary(world, summary));
  else
    print_summary(world, summary, out);
  out.commit();
  for (const ConnectionReport* c : open_connections(world)) {
    fmt::print(stderr, "kansetsu simulate: connection '{}' is open at the end: {:.3g} m, {:.3g} rad\n", c->name,
               c->position_gap, c->angle_gap);
  }
  for (const std::string& name : recorder.names()) tell_written(name);
  const std::vector<std::string> warnings = doubts(summary.health, built.corrects_start);
  for (const std::string& warning : warnings) warn("simulate", warning);
  if (const int signal = Interrupt::caught()) return interrupted("simulate", world.time(), signal);
  if (world.status() != WorldStatus::kFailed) return kOk;
  fmt::print(stderr, "kansetsu simulate: the world stopped {}\n", world.failure());
  return kNumerical;
}

}  // namespace

Runner declare_simulate(Arguments& args) {
  auto options = std::make_shared<SimulateArguments>();
  args.add("SCENE", options->scene,
           "scene (.toml), MJCF, SDF or URDF file, or a built-in figure, which stands on a floor")
      .required();
  args.add("--duration T", options->duration, "simulated time [s]; default: that of the scene").positive();
  args.add("--step T", options->step, "time step [s]; default: that of the scene").positive();
  args.add("--keyframe NAME", options->keyframe, "start from this keyframe of the scene or MJCF file");
  args.add("--control NAME=VALUE", options->controls, "ACTUATOR=VALUE or FIGURE/ACTUATOR=VALUE; may be repeated");
  args.add("--controls FILE", options->control_file, "CSV file of controls, with columns for time [s] and actuators");
  args.add("--record FILE", options->records, "record to a .mcap, .csv, .npz, .glb or .html file; may be repeated");
  args.add("--rate HZ", options->rate, "recorded frames per second [Hz]; default: every step").not_negative();
  args.add("--seed N", options->seed, "random seed; default: that of the scene");
  args.add("--threads N", options->threads, "number of threads; does not change results").between(1, 256);
  add_path_option(args);
  args.add_flag("--json", options->json, "print the summary as JSON");
  args.add_flag("--allow-partial", options->allow_partial, "simulate a partial model");
  args.add_flag("--strict", options->strict,
                "stop with exit code 4 at an unsolved contact, penetration above 1 mm, or 1 % of unexplained energy");
  return [options] { return simulate(*options); };
}

}  // namespace kansetsu::cli
