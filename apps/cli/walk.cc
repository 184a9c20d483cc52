/// kansetsu walk: a figure walks in a world, supported by the ground alone.

#include <fmt/format.h>

#include <cmath>

#include "cli/arguments.h"
#include "cli/load_model.h"
#include "cli/walk_report.h"
#include "kansetsu/motion/walk_simulation.h"

namespace kansetsu::cli {
namespace {

/// Largest speed [m/s] at which human28 keeps walking: at 1.4 it falls after nine metres, at 1.5 after three.
constexpr double kKeepsUp = 1.3;

struct WalkArguments {
  ModelSource figure{.name = "human28", .base = Base::kFree};
  WalkSetup setup{};
  double turn = 0, slope = 0;
  RunOptions run;
};

Exit run_walk(const WalkArguments& options) {
  WalkSetup setup = setup_of("walk", options.setup, options.run);
  setup.walk.terrain.slope = options.slope * kDegree;
  if (options.turn != 0) {
    setup.walk.turn = std::copysign(setup.walk.turn, options.turn);
    setup.walk.turn_until = std::abs(options.turn) * kDegree;
  } else {
    setup.walk.turn = 0;
  }
  const Model model = model_or_fail(options.figure);
  if (setup.walk.speed > kKeepsUp) fmt::print(stderr, "kansetsu walk: above {} m/s human28 falls\n", kKeepsUp);
  WalkSimulation walk = or_fail(kBadUsage, "kansetsu walk", [&] { return WalkSimulation(model, setup); });
  return run_and_report(walk, options.run, {.command = "walk", .figure = model.name()}, setup.walk.distance,
                        [](const WalkStatus& status) { return status.walked; });
}

}  // namespace

Runner declare_walk(Arguments& args) {
  auto o = std::make_shared<WalkArguments>();
  WalkOptions& walk = o->setup.walk;
  walk.distance = 5;
  walk.turn = 0.25;
  args.add("--figure MODEL", o->figure.name, kModelHelp).show_default();
  args.add("--speed M/S", walk.speed, "walking speed [m/s]").between(0.1, 2.0).show_default();
  args.add("--distance M", walk.distance, "distance to walk [m]").between(0.1, 1e4).show_default();
  args.add("--turn DEG", o->turn, "turn to the left along the way [deg]; negative: to the right")
      .between(-3600., 3600.);
  args.add("--turn-rate RAD/S", walk.turn, "turning speed [rad/s]").between(0.01, 1.0).show_default();
  args.add("--slope DEG", o->slope, "slope of the ground [deg]").between(-20., 20.);
  args.add("--stairs M", walk.terrain.stair_rise, "height of each of eight stairs, 1.5 m ahead [m]").between(0., 0.3);
  args.add("--step-time S", walk.step_time, "duration of a step [s]; default: from the speed").between(0., 2.);
  args.add("--clearance M", walk.clearance, "height to which a foot is lifted [m]").between(0.01, 0.3).show_default();
  args.add("--duration S", o->setup.duration, "maximum duration [s]").positive().show_default();
  add_path_option(args);
  add_run_options(args, o->run, o->setup);
  return [o] { return run_walk(*o); };
}

}  // namespace kansetsu::cli
