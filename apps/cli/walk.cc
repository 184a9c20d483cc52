/// kansetsu walk: a figure walks in a world; nothing holds it but the ground under its feet.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "cli/arguments.h"
#include "cli/load_model.h"
#include "cli/recording.h"
#include "cli/walk_push.h"
#include "cli/walk_report.h"
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

WalkSimulation simulation_or_fail(const Model& model, const WalkSetup& setup) {
  try {
    return {model, setup};
  } catch (const Error& error) {
    throw Failure(kBadUsage, fmt::format("kansetsu walk: {}", error.what()));
  }
}

Exit run_walk(const Options& options) {
  WalkSetup setup = options.setup;
  for (const std::string& text : options.pushes) setup.pushes.push_back(parse_push("walk", text));
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

  return run_and_report(walk, recorder, {.command = "walk", .figure = model.name(), .json = options.json},
                        setup.walk.distance, [](const WalkStatus& status) { return status.walked; });
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
