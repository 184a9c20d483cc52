/// kansetsu bench SUBJECT: benchmarks of this program alone. Comparisons with other libraries are in script/bench.

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "cli/arguments.h"
#include "cli/clip.h"
#include "cli/ik_experiment.h"
#include "cli/ik_experiment_plot.h"
#include "cli/ik_methods.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/serve_page.h"
#include "cli/suggest.h"
#include "kansetsu/base/error.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/motion/walk_simulation.h"

namespace kansetsu::cli {
namespace {

struct BenchArguments {
  std::string subject, svg, record;
  std::vector<std::string> frames, arms;
  ClipSource clip;
  int trials = 100, targets = 500, lines = 3;
  bool json = false, live = false, no_browser = false;
};

std::string experiment_table(const std::vector<ExperimentRow>& rows) {
  const auto three = [](const std::array<double, 3>& x) {
    return fmt::format("{:9.3f} {:9.3f} {:9.3f}", x[0], x[1], x[2]);
  };
  std::string text =
      "RMS of (steps - ideal)                 as the document counts               fair counting                 time\n"
      "                                            A         B         C          A         B         C     us/step\n";
  const auto line = [&](std::string_view name, const std::string& a, const std::string& b, const std::string& time) {
    text += fmt::format("{:<36} {}  {:>29}  {:>10}\n", name, a, b, time);
  };
  line("log quaternion, as printed", three(kPrintedLogQuaternion), "", "19-22");
  line("Euler, as printed", three(kPrintedEuler), "", "22-25");
  for (const ExperimentRow& r : rows) {
    line(r.name, three(r.rms), three(r.fair_rms), fmt::format("{:.2f}", r.us_per_step));
  }
  return text +
         "The error of Euler angles comes from asinf near a pitch of 90 degrees: with atan2, with the angles kept, or "
         "in "
         "double precision it is gone.\n";
}

std::string experiment_json(const std::vector<ExperimentRow>& rows) {
  JsonWriter json;
  json.begin_object().key("printed").begin_object();
  json.key("log_quaternion_rms").array(kPrintedLogQuaternion).key("euler_rms").array(kPrintedEuler);
  json.key("log_quaternion_ms").array(kPrintedLogQuaternionTime).key("euler_ms").array(kPrintedEulerTime).end_object();
  json.key("rows").begin_array();
  for (const ExperimentRow& r : rows) {
    json.line().begin_object().entry("name", r.name).entry("method", to_string(r.method));
    json.entry("single", r.kept != Kept::kDouble).key("rms").array(r.rms).key("fair_rms").array(r.fair_rms);
    json.entry("us_per_step", r.us_per_step).key("trials").begin_array();
    for (const ExperimentRow::Trial& t : r.trials)
      json.begin_array().value(t.distance).value(double(t.count)).end_array();
    json.end_array().end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

void write_file(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  Output out(file);
  out.write(text);
  out.commit();
}

Exit run_experiment(const BenchArguments& options) {
  const std::vector<ExperimentRow> rows = ik_experiment({.trials = options.trials});
  print(options.json ? experiment_json(rows) : experiment_table(rows));
  write_file(options.svg, ik_experiment_plot(rows));
  return kOk;
}

Model arm_of(const BenchArguments& options, std::size_t i) {
  return options.arms.size() > i ? model_or_fail({.name = options.arms[i]}) : five_ball_arm(i == 0 ? kWhite : kRed);
}

Exit watch_lines(const BenchArguments& options) {
  need_viewer("kansetsu bench ik-lines");
  std::optional<TwoArms> arms;
  or_fail(kBadUsage, "kansetsu bench ik-lines", [&] { arms.emplace(arm_of(options, 0), arm_of(options, 1)); });
  return serve_page({.name = "two arms", .live = &*arms}, {.no_browser = options.no_browser});
}

Exit draw_lines(const BenchArguments& options) {
  if (options.record.empty() != options.live || options.arms.size() > 2)
    throw Failure(kBadUsage, "kansetsu bench ik-lines: give --record FILE or --live, and at most two --arm");
  if (options.live) return watch_lines(options);
  or_fail(kBadUsage, "kansetsu bench ik-lines", [&] {
    check_written(io::write_recording(two_arms(arm_of(options, 0), arm_of(options, 1), options.lines), options.record));
  });
  return kOk;
}

/// MODEL:FRAME; the base is fixed.
std::vector<MethodRow> compare(const std::string& text, int targets, unsigned seed) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw Failure(kBadUsage, fmt::format("kansetsu bench ik-methods: '{}' has no frame; write MODEL:FRAME", text));
  const Model model = model_or_fail({.name = text.substr(0, colon), .base = Base::kFixed});
  return or_fail(kBadUsage, "kansetsu bench ik-methods", [&] {
    return compare_methods(model.name(), model, ik::frame_on(model, text.substr(colon + 1)), targets, seed);
  });
}

Exit run_methods(const BenchArguments& options) {
  constexpr unsigned kSeed = 1;
  std::vector<std::string> frames = options.frames;
  if (frames.empty()) frames = {"human28_ball:gripL"};
  std::vector<MethodRow> rows;
  const auto add = [&](std::vector<MethodRow> more) { rows.insert(rows.end(), more.begin(), more.end()); };
  for (const std::string& frame : frames) add(compare(frame, options.targets, kSeed));
  const Model arm = five_ball_arm();
  add(compare_methods(arm.name(), arm, ik::frame_on(arm, "tip"), options.targets, kSeed));
  print(options.json ? methods_json(rows, kSeed) : methods_table(rows));
  write_file(options.svg, methods_plot(rows));
  return kOk;
}

/// The computed example of [NY00] §5: the figure of 28 degrees of freedom walks by torques, with contacts. It follows a captured walk
/// there; without a clip it walks by itself.
WalkSimulation walk_of_2000(const BenchArguments& options) {
  WalkSetup setup{.self_collision = SelfCollision::kNone};
  setup.walk.distance = 3;  // [m]
  if (options.clip.file.empty()) return {human28(), setup};
  const FigureClip source = figure_clip_or_fail(options.clip, {.name = "human28", .base = Base::kFree});
  return {source.model, source.clip, setup};
}

Exit time_walk(const BenchArguments& options) {
  constexpr double kPrinted = 30;  // [ms] for each sample, on an Alpha 21264 of 500 MHz
  try {
    WalkSimulation walk = walk_of_2000(options);
    int samples = 0;
    const auto start = std::chrono::steady_clock::now();
    while (walk.step()) ++samples;
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    const WalkReport report = walk.report();
    const double ms = wall.count() / std::max(samples, 1);
    if (options.json) {
      JsonWriter json;
      json.begin_object().entry("printed_ms", kPrinted).entry("ms", ms).entry("samples", samples);
      json.entry("seconds", report.seconds).entry("walked", report.walked).entry("fallen", report.fallen);
      print(json.end_object().take() + "\n");
      return kOk;
    }
    print(fmt::format(
        "ms of computation for each sample, contacts and control included\n"
        "  as printed, Alpha 21264 of 500 MHz   {:.0f}\n"
        "  here, samples of 1 ms                {:.3f}\n"
        "{:.2f} m in {:.2f} s, {}\n",
        kPrinted, ms, report.walked, report.seconds, report.fallen ? "fell: " + report.cause : "on its feet"));
    return kOk;
  } catch (const Error& error) {
    throw Failure(kBadFile, fmt::format("kansetsu bench walk-seed: {}", error.what()));
  }
}

Exit bench(const BenchArguments& options) {
  if (options.subject == "ik-seed") return run_experiment(options);
  if (options.subject == "ik-methods") return run_methods(options);
  if (options.subject == "ik-lines") return draw_lines(options);
  if (options.subject == "walk-seed") return time_walk(options);
  throw Failure(kBadUsage,
                unknown_name("subject", options.subject, {"ik-seed", "ik-methods", "ik-lines", "walk-seed"}));
}

}  // namespace

Runner declare_bench(Arguments& args) {
  auto options = std::make_shared<BenchArguments>();
  args.add("SUBJECT ik-seed|ik-methods|ik-lines|walk-seed", options->subject,
           "ik-seed: the experiment of the log-quaternion article; ik-methods: tangents, log quaternions and Euler "
           "angles side by side; ik-lines: two arms draw random lines; walk-seed: the computed example of the article "
           "on "
           "contacts")
      .required();
  args.add("--frame MODEL:FRAME", options->frames, "ik-methods: frame to move to targets; may be repeated").take_all();
  args.add("--targets N", options->targets, "ik-methods: random targets").between(1, 1'000'000).show_default();
  args.add("--trials N", options->trials, "ik-seed: trials of each of three runs").between(1, 100).show_default();
  args.add("--lines N", options->lines, "ik-lines: how many").between(1, 1000).show_default();
  args.add("--arm MODEL", options->arms, "ik-lines: arm of ball joints with a frame named tip; may be given twice")
      .take_all();
  args.add("--record FILE", options->record, "ik-lines: write the motion: .mcap, .csv, .npz or .glb");
  args.add("--clip FILE", options->clip.file, "walk-seed: a captured walk to follow; none: human28 walks by itself");
  args.add_flag("--json", options->json, "print results as JSON");
  args.add("--svg FILE", options->svg, "plot the results");
  add_path_option(args);
  args.add_flag("--live", options->live, "ik-lines: draw in the browser, line after line");
  args.add_flag("--no-browser", options->no_browser, "ik-lines --live: print the address only");
  return [options] { return bench(*options); };
}

}  // namespace kansetsu::cli
