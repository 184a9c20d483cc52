#include <fmt/format.h>

#include "cli/recording.h"
#include "errors.h"
#include "inputs.h"
#include "kansetsu/motion/walk_simulation.h"
#include "motion_handle.h"
#include "progress.h"

/// Figures that walk, or track clips by torques alone.
namespace kansetsu::python {
namespace {

AnyDict to_dict(const WalkReport& r) {
  nb::dict out;
  out["fallen"] = r.fallen, out["cause"] = r.cause, out["seconds"] = r.seconds, out["distance"] = r.distance,
  out["walked"] = r.walked;
  out["turned"] = r.turned, out["steps"] = r.steps, out["step_time"] = r.step_time,
  out["capture_error"] = r.capture_error;
  out["vertical_force"] = r.vertical_force, out["most_force"] = r.most_force, out["most_torque"] = r.most_torque;
  out["most_torque_joint"] = r.most_torque_joint, out["most_power"] = r.most_power,
  out["cost_of_transport"] = r.cost_of_transport;
  out["root_wrench"] = r.root_wrench, out["unbalanced"] = r.unbalanced, out["slip"] = r.slip,
  out["joint_error"] = r.joint_error;
  out["shift"] = r.shift, out["infeasible"] = r.infeasible;
  out["foot_slide"] = r.foot_slide, out["peak_weights"] = r.peak_weights, out["clip_seconds"] = r.clip_seconds;
  out["path_error"] = r.path_error, out["turn_error"] = r.turn_error, out["jerk_ratio"] = r.jerk_ratio;
  return out;
}

constexpr int kWalkStepsBetweenSignals = 256;

/// Runs to the end, or until Ctrl-C.
AnyDict run(WalkSimulation& simulation, const std::optional<PathLike>& record, double rate, Progress progress,
            double duration) {
  const Teller teller(progress);
  std::vector<std::string> files;
  if (record) files.push_back(record->string());
  cli::WorldRecorder recorder(simulation.world(), simulation.scene(), files, rate);
  recorder.add(simulation.world());
  simulation.prepare([&](double reached) {
    teller.look(reached, duration);
    return true;
  });
  for (bool more = true; more;) {
    {
      nb::gil_scoped_release release;
      for (int i = 0; more && i < kWalkStepsBetweenSignals; ++i) {
        more = simulation.step();
        recorder.add(simulation.world());
      }
    }
    teller.look(more ? simulation.world().time() : duration, duration);
  }
  recorder.finish();
  return to_dict(simulation.report());
}

AnyDict walk(const ModelHandle& m, double speed, double distance, double turn, double slope, double duration,
             const std::vector<Push>& pushes, std::uint64_t seed, const std::optional<PathLike>& record, double rate,
             Progress progress) {
  for (const auto& [name, x] : {std::pair("speed", speed), std::pair("turn", turn), std::pair("slope", slope)}) {
    if (!std::isfinite(x)) raise_value(fmt::format("motion.walk: {} is {}, expected a finite number", name, x));
  }
  if (!(distance > 0) || !(duration > 0)) raise_value("motion.walk: distance and duration must be more than 0");
  WalkSetup setup;
  setup.walk.speed = speed, setup.walk.distance = distance, setup.walk.turn = turn, setup.walk.terrain.slope = slope;
  setup.duration = duration, setup.pushes = pushes, setup.seed = seed;
  WalkSimulation simulation(m.model, setup);
  return run(simulation, record, rate, progress, duration);
}

AnyDict track(const ModelHandle& m, const Clip& clip, double friction, double cutoff, int tries,
              const std::optional<PathLike>& record, double rate, Progress progress) {
  WalkSetup setup;
  setup.track.friction = friction, setup.track.cutoff = cutoff, setup.track.tries = tries;
  WalkSimulation simulation(m.model, clip, setup);
  return run(simulation, record, rate, progress, clip.duration());
}

}  // namespace

void bind_walking(nb::module_& module) {
  using namespace nb::literals;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  nb::class_<Push>(module, "Push", "An impulse on the trunk.")
      .def(
          "__init__",
          [](Push* p, double impulse, const std::optional<double>& time, const std::optional<double>& direction,
             double duration) { new (p) Push{impulse, time, direction, duration}; },
          "impulse"_a, "time"_a = nb::none(), "direction"_a = nb::none(), "duration"_a = 0.1,
          "[N s]; time [s] and direction [rad] from straight ahead to the left are random if omitted.");
  module.def("walk", walk, "model"_a, nb::kw_only(), "speed"_a = 0.8, "distance"_a = kInf, "turn"_a = 0.0,
             "slope"_a = 0.0, "duration"_a = 120.0, "pushes"_a = std::vector<Push>{}, "seed"_a = 0,
             "record"_a = nb::none(), "rate"_a = 60.0, "progress"_a = false,
             "Simulates a walking figure and returns the report. record: a file, at `rate` frames per second. "
             "progress: True for a bar, or a function of (done, total) seconds.");
  module.def("track", track, "model"_a, "clip"_a, nb::kw_only(), "friction"_a = 0.6, "cutoff"_a = 6.0,
             "tries"_a = TrackOptions{}.tries, "record"_a = nb::none(), "rate"_a = 60.0, "progress"_a = false,
             "Simulates a figure that tracks a clip by joint torques alone, likewise. tries: simulations per round of "
             "the search "
             "for a motion that does not fall; 0: no search.");
}

}  // namespace kansetsu::python
