/// kansetsu track CLIP: a figure tracks a clip by joint torques alone.

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/clip.h"
#include "cli/walk_report.h"

namespace kansetsu::cli {
namespace {

struct TrackArguments {
  ClipSource clip;
  ModelSource figure{.name = {}, .base = Base::kFree};
  WalkSetup setup{};
  RunOptions run;
  bool self_collision = false;
};

Exit run_track(const TrackArguments& options) {
  WalkSetup setup = setup_of("track", options.setup, options.run);
  setup.self_collision = options.self_collision ? SelfCollision::kNotNeighbours : SelfCollision::kNone;
  const FigureClip source = figure_clip_or_fail(options.clip, options.figure);
  WalkSimulation walk =
      or_fail(kBadFile, "kansetsu track", [&] { return WalkSimulation(source.model, source.clip, setup); });
  return run_and_report(walk, options.run, {.command = "track", .figure = source.model.name()},
                        std::min(source.clip.duration(), setup.duration),
                        [&walk](const WalkStatus&) { return walk.world().time(); });
}

}  // namespace

Runner declare_track(Arguments& args) {
  auto o = std::make_shared<TrackArguments>();
  TrackOptions& track = o->setup.track;
  args.add("CLIP", o->clip.file, "captured motion (.bvh, .amc), or a recording of the figure (.mcap, .csv)").required();
  args.add("--figure MODEL", o->figure.name, "model; default: that of the recording, or human28");
  add_clip_options(args, o->clip);
  add_retarget_options(args, o->clip);
  args.add("--from T", track.from, "start time in the clip [s]; default: 0").not_negative();
  args.add("--to T", track.to, "end time in the clip [s]; default: its end").positive();
  args.add("--filter HZ", track.cutoff,
           "cut-off frequency of the low-pass filter [Hz]; 0: none; default: 6, or 12 for clips with flight phases")
      .between(0., 50.);
  args.add("--tries N", track.tries,
           "simulations per round of the search for a motion that does not fall; 0: no search")
      .between(0, 1000)
      .show_default();
  args.add_flag("--self-collision", o->self_collision, "enable contacts between limbs");
  add_path_option(args);
  add_run_options(args, o->run, o->setup);
  return [o] { return run_track(*o); };
}

}  // namespace kansetsu::cli
