/// kansetsu walk: a figure walks in a world; nothing holds it but the ground under its feet.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numbers>

#include "cli/arguments.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/table.h"
#include "cli/walk_push.h"
#include "kansetsu/base/error.h"
#include "kansetsu/sim/walk.h"

namespace kansetsu::cli {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

struct Options {
  ModelSource figure{.name = "human28", .base = Base::kFree};
  WalkSetup setup{};
  double turn = 0, slope = 0;
  std::vector<std::string> pushes, records;
  std::string html;
  double rate = 0;
  bool json = false;
};

std::string push_text(const Push& push) {
  return fmt::format("{:.3g} N·s at {:.3f} s, {:.0f}° from ahead", push.impulse, *push.time, *push.direction / kDegree);
}

void print_report(WalkSimulation& walk, const WalkReport& r, double wall) {
  const WorldTotals& t = walk.world().totals();
  std::vector<std::vector<std::string>> rows{
      {"ended", r.fallen ? fmt::format("fell after {:.3f} s: {}", r.seconds, r.cause)
                         : fmt::format("on its feet after {:.3f} s", r.seconds)},
      {"walked", fmt::format("{:.2f} m in {} steps of {:.3f} s", r.walked, r.steps, r.step_time)},
      {"heading", fmt::format("{:.1f}°", r.turned / kDegree)},
      {"capture point off its plan", fmt::format("{:.1f} mm root mean square", 1e3 * r.capture_error)},
      {"mean vertical force", fmt::format("{:.4f} of the weight", r.vertical_force)},
      {"most on one foot", fmt::format("{:.0f} N", r.most_force)},
      {"most torque", fmt::format("{:.0f} N·m at {}", r.most_torque, r.most_torque_joint)},
      {"most power", fmt::format("{:.0f} W, cost of transport {:.2f}", r.most_power, r.cost_of_transport)},
      {"other forces on the root", fmt::format("{:.3g} N", r.root_wrench)},
      {"momentum unexplained", fmt::format("{:.2g} of the weight, most in a step", r.unbalanced)},
      {"slip of a sticking sole", fmt::format("{:.2g} mm", 1e3 * r.slip)},
      {"nearest to a joint's end", fmt::format("{:.3g} rad", r.limit_margin)},
      {"contacts",
       fmt::format("{} surface, {} line, {} point; {} of them slid", r.modes[3], r.modes[2], r.modes[1], r.sliding)},
      {"solved by", fmt::format("fast {}, active set {}, complementarity {}, best {}", t.tiers[1], t.tiers[2],
                                t.tiers[3], t.tiers[4])},
      {"worst residual", fmt::format("{:.2g}", t.worst_residual)},
      {"deepest penetration", fmt::format("{:.2g} mm", 1e3 * t.worst_penetration)},
      {"control beyond its limits", fmt::format("{} times", r.infeasible)},
      {"speed", fmt::format("{:.1f} × real time", r.seconds / wall)},
      {"state", fmt::format("{:016x}", walk.world().hash())}};
  for (const Push& push : walk.pushes()) rows.insert(rows.begin() + 1, {"pushed", push_text(push)});
  Output out;
  out.write(table(rows));
  out.commit();
}

void print_json(WalkSimulation& walk, const WalkReport& r, double wall) {
  const WorldTotals& t = walk.world().totals();
  JsonWriter json;
  json.begin_object();
  json.entry("status", r.fallen ? "fallen" : "ok").entry("cause", r.cause).entry("seconds", r.seconds);
  json.entry("walked", r.walked).entry("distance", r.distance).entry("turned", r.turned);
  json.entry("steps", double(r.steps)).entry("step_time", r.step_time).entry("capture_error", r.capture_error);
  json.entry("vertical_force", r.vertical_force).entry("most_force", r.most_force);
  json.entry("most_torque", r.most_torque).entry("most_torque_joint", r.most_torque_joint);
  json.entry("most_power", r.most_power).entry("cost_of_transport", r.cost_of_transport);
  json.entry("root_wrench", r.root_wrench).entry("unbalanced", r.unbalanced).entry("slip", r.slip);
  json.entry("limit_margin", r.limit_margin).entry("infeasible", double(r.infeasible));
  json.key("contacts").begin_object();
  json.entry("surface", double(r.modes[3])).entry("line", double(r.modes[2])).entry("point", double(r.modes[1]));
  json.entry("sliding", double(r.sliding)).end_object();
  json.key("tiers").begin_object();
  json.entry("fast", double(t.tiers[1])).entry("active_set", double(t.tiers[2]));
  json.entry("complementarity", double(t.tiers[3])).entry("best", double(t.tiers[4])).end_object();
  json.entry("worst_residual", t.worst_residual).entry("penetration", t.worst_penetration);
  json.key("pushes").begin_array();
  for (const Push& push : walk.pushes()) {
    json.begin_object().entry("impulse", push.impulse).entry("time", *push.time);
    json.entry("direction", *push.direction).end_object();
  }
  json.end_array();
  json.entry("wall_seconds", wall).entry("hash", fmt::format("{:016x}", walk.world().hash())).end_object();
  Output out;
  out.write(json.take() + "\n");
  out.commit();
}

WalkSimulation simulation_or_fail(const Model& model, const WalkSetup& setup) {
  try {
    return {model, setup};
  } catch (const Error& error) {
    throw Failure(kBadUsage, fmt::format("kansetsu walk: {}", error.what()));
  }
}

Exit run_walk(const Options& options) {
  WalkSetup setup = options.setup;
  for (const std::string& text : options.pushes) setup.pushes.push_back(parse_push(text));
  setup.walk.terrain.slope = options.slope * kDegree;
  if (options.turn != 0) {
    setup.walk.turn = std::copysign(setup.walk.turn, options.turn);
    setup.walk.turn_until = std::abs(options.turn) * kDegree;
  } else {
    setup.walk.turn = 0;
  }
  const Model model = model_or_fail(options.figure);
  WalkSimulation walk = simulation_or_fail(model, setup);
  std::vector<std::string> files = options.records;
  if (!options.html.empty()) files.push_back(options.html);
  WorldRecorder recorder(walk.world(), walk.scene(), files, options.rate);

  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress("walking", std::size_t(std::max(setup.walk.distance * 100, 1.0)));
    recorder.add(walk.world());
    while (walk.step()) {
      recorder.add(walk.world());
      progress.done(std::size_t(std::max(walk.controller().status().walked * 100, 0.0)));
    }
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  recorder.finish();
  const WalkReport report = walk.report();
  options.json ? print_json(walk, report, wall) : print_report(walk, report, wall);
  if (!report.fallen) return kOk;
  fmt::print(stderr, "kansetsu walk: {} fell after {:.3f} s: {}\n", model.name(), report.seconds, report.cause);
  return kNumerical;
}

}  // namespace

Runner declare_walk(CLI::App& app) {
  auto o = std::make_shared<Options>();
  WalkOptions& walk = o->setup.walk;
  walk.distance = 5;
  walk.turn = 0.25;
  app.add_option("--figure", o->figure.name, kModelHelp)->capture_default_str()->type_name("");
  app.add_option("--speed", walk.speed, "metres per second")->check(CLI::Range(0.1, 2.0))->capture_default_str();
  app.add_option("--distance", walk.distance, "metres, after which it stops")
      ->check(CLI::Range(0.1, 1e4))
      ->capture_default_str();
  app.add_option("--turn", o->turn, "degrees to the left on the way; negative: to the right")
      ->check(CLI::Range(-3600., 3600.));
  app.add_option("--turn-rate", walk.turn, "radians per second")->check(CLI::Range(0.01, 1.0))->capture_default_str();
  app.add_option("--slope", o->slope, "degrees that the ground rises ahead")->check(CLI::Range(-20., 20.));
  app.add_option("--stairs", walk.terrain.stair_rise, "metres of each of eight stairs up, 1.5 m ahead")
      ->check(CLI::Range(0., 0.3));
  app.add_option("--step-time", walk.step_time, "seconds from foot to foot; 0: by the speed")
      ->check(CLI::Range(0., 2.));
  app.add_option("--clearance", walk.clearance, "metres that a foot is lifted")
      ->check(CLI::Range(0.01, 0.3))
      ->capture_default_str();
  app.add_option(
         "--push", o->pushes,
         "a blow on the trunk: 20Ns@3s, 20Ns@random, 20Ns@3s:left (front, back, left, right: from where, or degrees); "
         "may be repeated")
      ->type_name("PUSH");
  app.add_option("--seed", o->setup.seed, "of what is drawn: times and directions of pushes")->capture_default_str();
  app.add_option("--duration", o->setup.duration, "seconds at most")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--step", o->setup.time_step, "time step in seconds")
      ->check(CLI::Range(1e-5, 5e-3))
      ->capture_default_str();
  app.add_option("--record", o->records, "write what happens: .mcap, .csv, .npz, .glb or .html; may be repeated");
  app.add_option("--rate", o->rate, "recorded frames per second; 0: every step")->check(CLI::NonNegativeNumber);
  app.add_option("--html", o->html, "write a page that shows it")->type_name("OUT");
  app.add_flag("--json", o->json, "print the report as JSON");
  return [o] { return run_walk(*o); };
}

}  // namespace kansetsu::cli
