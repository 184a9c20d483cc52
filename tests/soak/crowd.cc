#include "crowd.h"

#include <fmt/format.h>

#include "kansetsu/model/figures.h"

namespace kansetsu::test {

World crowd(int figures, int threads) {
  WorldOptions options;
  options.threads = threads;
  options.seed = 7;
  World world(options);
  world.add_fixed(Plane{}, {}, {}, "floor");
  const Model model = human28();
  for (int i = 0; i < figures; ++i) {
    State state(model);
    state.q.head<3>() << 0.45 * (i % 5), 0.4 * (i / 5), 0.9 + 0.02 * (i % 3);
    FigureOptions figure;
    figure.name = "figure" + std::to_string(i);
    world.add(model, state, figure);
    ControllerDescription control;
    control.name = "noise" + std::to_string(i);
    control.figure = figure.name;
    control.kind = ControlKind::kPd;
    for (const char* joint : {"shoulderL_y", "shoulderR_y", "hipL_y", "hipR_y", "kneeL_y", "kneeR_y", "waist_y"}) {
      control.joints.push_back({.dof = {joint, 0}, .deviation = 0.3, .kp = 100, .kd = 5, .effort = 80});
    }
    control.period = 0.1;
    world.add_controller(control);
  }
  return world;
}

std::string crowd_differences(int steps, std::uint64_t& hash, std::uint64_t& contacts) {
  const auto run = [](World& world, int count) {
    for (int i = 0; i < count; ++i) world.step();
  };
  World one = crowd(20, 1);
  run(one, steps / 2);
  const Snapshot middle = one.save();
  const std::uint64_t half = one.hash();
  run(one, steps - steps / 2);
  if (one.status() != WorldStatus::kRunning) return one.failure();
  hash = one.hash();
  contacts = one.totals().contacts;
  if (hash == half) return "nothing moves";
  for (const int threads : {2, 4}) {
    World many = crowd(20, threads);
    run(many, steps);
    if (many.hash() != hash) return fmt::format("{} threads: {:016x} instead of {:016x}", threads, many.hash(), hash);
  }
  one.restore(middle);
  if (one.hash() != half) return "restore does not give the saved state";
  run(one, steps - steps / 2);
  if (one.hash() != hash) return fmt::format("after restore: {:016x} instead of {:016x}", one.hash(), hash);
  World other = crowd(20, 1);  // a snapshot is of any world that is built alike
  other.restore(middle);
  run(other, steps - steps / 2);
  if (other.hash() != hash) return fmt::format("in replay: {:016x} instead of {:016x}", other.hash(), hash);
  return {};
}

}  // namespace kansetsu::test
