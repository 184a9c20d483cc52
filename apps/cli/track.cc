/// kansetsu track CLIP: a figure follows a clip with torques alone.

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/clip.h"
#include "cli/recording.h"
#include "cli/walk_push.h"
#include "cli/walk_report.h"
#include "kansetsu/base/error.h"

namespace kansetsu::cli {
namespace {

struct Options {
  ClipSource clip;
  ModelSource figure{.name = {}, .base = Base::kFree};
  WalkSetup setup{};
  std::vector<std::string> pushes, records;
  std::string html;
  double rate = 0;
  bool self_collision = false, json = false;
};

WalkSimulation simulation_or_fail(const Model& model, const Clip& clip, const WalkSetup& setup) {
  try {
    return {model, clip, setup};
  } catch (const Error& error) {
    throw Failure(kBadFile, fmt::format("kansetsu track: {}", error.what()));
  }
}

Exit run_track(const Options& options) {
  WalkSetup setup = options.setup;
  for (const std::string& text : options.pushes) setup.pushes.push_back(parse_push("track", text));
  setup.self_collision = options.self_collision ? SelfCollision::kNotNeighbours : SelfCollision::kNone;
  const FigureClip source = figure_clip_or_fail(options.clip, options.figure);
  WalkSimulation walk = simulation_or_fail(source.model, source.clip, setup);
  std::vector<std::string> files = options.records;
  if (!options.html.empty()) files.push_back(options.html);
  WorldRecorder recorder(walk.world(), walk.scene(), files, options.rate);
  return run_and_report(walk, recorder, {.command = "track", .figure = source.model.name(), .json = options.json},
                        std::min(source.clip.duration(), setup.duration),
                        [&walk](const WalkStatus&) { return walk.world().time(); });
}

}  // namespace

Runner declare_track(CLI::App& app) {
  auto o = std::make_shared<Options>();
  TrackOptions& track = o->setup.track;
  app.add_option("CLIP", o->clip.file, "captured motion (.bvh, .amc), or a recording of the figure (.mcap, .csv)")
      ->required()
      ->type_name("");
  app.add_option("--figure", o->figure.name, "model that follows; the recording's own, or human28")->type_name("MODEL");
  add_clip_options(app, o->clip);
  add_retarget_options(app, o->clip);
  app.add_option("--from", track.from, "seconds of the clip at which it begins")->check(CLI::NonNegativeNumber);
  app.add_option("--to", track.to, "seconds of the clip at which it ends")->check(CLI::PositiveNumber);
  app.add_option("--filter", track.cutoff, "low pass of the clip in Hz; 0: as it is")
      ->check(CLI::Range(0., 50.))
      ->capture_default_str();
  app.add_flag("--self-collision", o->self_collision, "limbs may touch each other");
  app.add_option("--push", o->pushes, "a blow on the trunk: 20Ns@3s, 20Ns@random, 20Ns@3s:left; may be repeated")
      ->type_name("PUSH");
  app.add_option("--seed", o->setup.seed, "of what is drawn: times and directions of pushes")->capture_default_str();
  app.add_option("--step", o->setup.time_step, "time step in seconds")
      ->check(CLI::Range(1e-5, 5e-3))
      ->capture_default_str();
  app.add_option("--record", o->records, "write what happens: .mcap, .csv, .npz, .glb or .html; may be repeated");
  app.add_option("--rate", o->rate, "recorded frames per second; 0: every step")->check(CLI::NonNegativeNumber);
  app.add_option("--html", o->html, "write a page that shows it")->type_name("OUT");
  app.add_flag("--json", o->json, "print the report as JSON");
  return [o] { return run_track(*o); };
}

}  // namespace kansetsu::cli
