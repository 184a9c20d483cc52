/// kansetsu analyze CLIP: what a motion takes: forces of the ground, joint torques and powers, and what is left over.

#include <fmt/format.h>

#include "cli/analysis_report.h"
#include "cli/arguments.h"
#include "cli/clip.h"
#include "cli/output.h"
#include "kansetsu/base/error.h"

namespace kansetsu::cli {
namespace {

/// Captures are noise from frame to frame; what walks and jumps is below this [Hz].
constexpr double kCaptureCutoff = 6;

struct AnalyzeArguments {
  ClipSource clip;
  ModelSource figure;
  std::optional<double> filter;
  double friction = 0.8;
  bool json = false;
  std::string csv, svg;
  std::vector<std::string> records;
};

void write_file(const std::string& file, const std::string& text) {
  Output out{std::filesystem::path(file)};
  out.write(text);
  out.commit();
}

Analysis analyze_or_fail(const FigureClip& motion, const std::vector<SupportHistory>& supports, double cutoff) {
  try {
    return analyze(motion.model, motion.clip, supports, {.cutoff = cutoff});
  } catch (const Error& error) {
    throw Failure(kNumerical, fmt::format("kansetsu analyze: {}", error.what()));
  }
}

Exit run_analyze(const AnalyzeArguments& options) {
  const FigureClip motion = figure_clip_or_fail(options.clip, options.figure);
  const bool captured = io::names_capture(options.clip.file);
  const double cutoff = options.filter.value_or(captured ? kCaptureCutoff : 0);
  std::vector<SupportHistory> supports;
  if (motion.model.base() == Base::kFree) {
    const SupportOptions wish{.friction = options.friction};
    supports = motion.feet.empty() ? find_supports(motion.model, motion.clip, wish)
                                   : find_supports(motion.model, motion.clip, motion.feet, wish);
  }
  if (motion.model.base() == Base::kFree && supports.empty()) {
    fmt::print(stderr, "kansetsu analyze: '{}' has no feet or hands that are known by name; all forces are residual\n",
               motion.model.name());
  }
  const Analysis analysis = analyze_or_fail(motion, supports, cutoff);
  if (!options.csv.empty()) write_file(options.csv, analysis_csv(motion.model, analysis));
  if (!options.svg.empty()) write_file(options.svg, analysis_svg(motion.model, analysis, supports));
  for (const std::string& file : options.records) {
    const std::vector<Diagnostic> problems =
        io::write_recording(analysis_recording(motion.model, analysis, supports), file);
    if (has_errors(problems)) throw Failure(kBadFile, to_string(problems));
    fmt::print(stderr, "{}", to_string(problems));
  }
  print(options.json ? analysis_json(motion.model, analysis) : analysis_text(motion.model, analysis));
  return kOk;
}

}  // namespace

Runner declare_analyze(Arguments& args) {
  auto options = std::make_shared<AnalyzeArguments>();
  args.add("CLIP", options->clip.file,
           "a capture (.bvh, .amc), which the figure follows, or a recording (.mcap, .csv, .npz)")
      .required()
      .type_name("");
  args.add("--figure", options->figure.name, "the model; human28, or the recording's own, by default")
      .type_name("MODEL");
  args.add("--filter", options->filter, "cut-off of the low-pass filter; 6 for captures, 0 (none) for recordings")
      .not_negative()
      .type_name("HZ");
  args.add("--friction", options->friction, "of soles on the ground; 0.8 by default").not_negative().type_name("MU");
  args.add("--csv", options->csv, "write everything as a table, one line per frame").type_name("FILE");
  args.add("--svg", options->svg, "write plots").type_name("FILE");
  args.add("--record", options->records, "write the motion with its forces: .mcap, .csv, .npz or .glb; may be repeated")
      .type_name("FILE")
      .take_all();
  args.add_flag("--json", options->json, "print the summary as JSON");
  add_base_option(args, options->figure.base);
  add_clip_options(args, options->clip);
  add_retarget_options(args, options->clip);
  return [options] { return run_analyze(*options); };
}

}  // namespace kansetsu::cli
