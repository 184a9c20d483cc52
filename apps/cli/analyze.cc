/// kansetsu analyze CLIP: ground forces, joint torques and powers of a motion, and the residuals.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/analysis_report.h"
#include "cli/analyze_measured.h"
#include "cli/arguments.h"
#include "cli/clip.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "kansetsu/io/subject.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/human.h"

namespace kansetsu::cli {
namespace {

/// Cut-offs against the noise of captures: motions on the ground stay below the first, running and jumping below the second [Hz].
constexpr double kCaptureCutoff = 6, kFlightCutoff = 12;
/// Forces of walking are periodic with the steps: the cut-off passes two harmonics and half of the third. Its minimum [Hz] keeps
/// faster motions of slow walkers.
constexpr double kHarmonics = 2.7, kSlowestCutoff = 4.5;
/// Largest cut-off as a share of the frame rate; low_pass() accepts up to 0.4.
constexpr double kOfTheFrames = 0.35;
/// Residual force as a share of the weight, root mean square, above which there is a warning.
constexpr double kLargeResidual = 0.1;
/// Share of the weight by which horizontal forces of a captured motion are off: masses are of tables, markers on skin. Under measured
/// forces the walk of gait2392 leaves 0.026 at its root.
constexpr double kCaptureDoubt = 0.02;

bool leaves_the_ground(const std::vector<SupportHistory>& supports, int frames) {
  int flying = 0;
  for (int k = 0; k < frames; ++k)
    flying += std::none_of(supports.begin(), supports.end(), [&](const SupportHistory& s) { return s.down(k); });
  return flying > frames / 50;
}

/// Foot strikes per second; 0 if there are fewer than three.
double step_rate(const std::vector<SupportHistory>& supports, const Clip& clip) {
  std::vector<double> landings;
  for (const SupportHistory& s : supports)
    for (int k = 1; k < clip.frames(); ++k)
      if ((s.name == "left" || s.name == "right") && s.down(k) && !s.down(k - 1))
        landings.push_back(clip.times[std::size_t(k)]);
  if (landings.size() < 3) return 0;
  const auto [first, last] = std::minmax_element(landings.begin(), landings.end());
  return *last > *first ? double(landings.size() - 1) / (*last - *first) : 0;
}

/// The default cut-off of a capture.
double capture_cutoff(const std::vector<SupportHistory>& supports, const Clip& clip) {
  const double most = clip.duration() > 0 ? kOfTheFrames * (clip.frames() - 1) / clip.duration() : kFlightCutoff;
  if (leaves_the_ground(supports, clip.frames())) return std::min(kFlightCutoff, most);
  const double rate = step_rate(supports, clip);
  return std::min(rate > 0 ? std::clamp(kHarmonics * rate, kSlowestCutoff, kCaptureCutoff) : kCaptureCutoff, most);
}

struct AnalyzeArguments {
  ClipSource clip;
  ModelSource figure;
  std::optional<double> filter, mass, height, doubt;
  std::optional<Sex> sex;
  double friction = 0.8;
  bool json = false, reduce = false, muscles = false;
  std::string csv, svg, sto, loads, report, trial;
  std::vector<std::string> records;
};

/// With a height or a sex, the figure is that of published tables.
ModelSource figure_of(const AnalyzeArguments& options) {
  ModelSource out = options.figure;
  if (!options.height && !options.sex) return out;
  if (!out.name.empty() && out.name != "human")
    throw Failure(
        kBadUsage,
        fmt::format("--height and --sex select the figure 'human'; they cannot be combined with '{}'", out.name));
  out.name = human_name({options.mass.value_or(0), options.height.value_or(0), options.sex.value_or(Sex::kMale)});
  return out;
}

/// The nearest common frame rate of cameras [Hz].
double usual_rate(double rate) {
  constexpr double kRates[] = {24, 25, 30, 50, 60, 100, 120, 150, 200, 240};
  return *std::min_element(std::begin(kRates), std::end(kRates), [&](double a, double b) {
    return std::abs(std::log(a / rate)) < std::abs(std::log(b / rate));
  });
}

/// Remarks that a reader of the numbers needs.
std::vector<std::string> remarks_of(const Analysis& a) {
  std::vector<std::string> out;
  if (a.summary.fall >= kOtherRate) {
    const double faster = std::sqrt(a.summary.fall), rate = (a.frames() - 1) / a.clip.duration();
    out.push_back(
        fmt::format("the body accelerates at {:.1f} g in flight, as if the clip were played {:.1f} times too "
                    "fast; the frame rate may be wrong: try --frame-rate {:g}",
                    a.summary.fall, faster, usual_rate(rate / faster)));
  }
  for (const SupportGap& gap : a.gaps)
    out.push_back(fmt::format("frames {} to {}: supports provide {:.0f} N, the motion requires {:.0f} N", gap.first,
                              gap.last, gap.found, gap.needed));
  if (a.summary.residual_force > kLargeResidual * a.summary.weight)
    out.push_back(
        fmt::format("the residual force is {:.0f} % of the weight (rms): forces are inaccurate in the frames listed "
                    "above and where "
                    "markers jump",
                    100 * a.summary.residual_force / a.summary.weight));
  return out;
}

Exit run_analyze(const AnalyzeArguments& options) {
  const bool measured = !options.loads.empty() || io::names_subject(options.clip.file) ||
                        std::filesystem::path(options.clip.file).extension() == ".xml";
  for (const auto& [asked, name] : {std::pair{options.reduce, "--reduce-residuals"}, {options.muscles, "--muscles"}})
    if (asked && !measured)
      throw Failure(kBadUsage, fmt::format("{} needs measured forces: --loads FILE, a setup file or a subject", name));
  if (!options.trial.empty() && !measured) throw Failure(kBadUsage, "--trial needs a subject (.b3d)");
  if (measured && (!options.svg.empty() || !options.records.empty()))
    throw Failure(kBadUsage, "--svg and --record are for motions without measured forces; --report draws these");
  if (measured)
    return analyze_measured({.motion = options.clip.file,
                             .trial = options.trial,
                             .figure = options.figure.name,
                             .loads = options.loads,
                             .sto = options.sto,
                             .csv = options.csv,
                             .report = options.report,
                             .filter = options.filter,
                             .json = options.json,
                             .reduce = options.reduce,
                             .muscles = options.muscles});
  FigureClip motion = figure_clip_or_fail(options.clip, figure_of(options));
  if (options.mass) motion.model = scale(motion.model, 1, *options.mass / motion.model.mass());
  if (norm(motion.belt) > 0)
    fmt::print(stderr, "{}: treadmill belt at {:.3f} m/s; forces are in the belt's frame\n", options.clip.file,
               norm(motion.belt));
  std::vector<SupportHistory> supports;
  if (motion.model.base() == Base::kFree) {
    const SupportOptions wish{.friction = options.friction};
    supports = motion.contacts ? find_supports(motion.model, *motion.contacts, wish)
                               : find_supports(motion.model, motion.clip, wish);
  }
  if (motion.model.base() == Base::kFree && supports.empty()) {
    fmt::print(stderr, "kansetsu analyze: '{}' has no known frames of feet or hands; all forces are residual\n",
               motion.model.name());
  }
  const double cutoff = options.filter.value_or(motion.captured ? capture_cutoff(supports, motion.clip) : 0);
  const double doubt = options.doubt.value_or(motion.captured ? kCaptureDoubt : 0);
  const Analysis analysis = or_fail(kNumerical, "kansetsu analyze", [&] {
    return analyze(motion.model, motion.clip, supports, {.cutoff = cutoff, .doubt = doubt});
  });
  const std::vector<std::string> remarks = remarks_of(analysis);
  for (const std::string& remark : remarks) fmt::print(stderr, "{}: {}\n", options.clip.file, remark);
  if (!options.report.empty())
    write_whole(options.report,
                analysis_page(motion.model, analysis, supports,
                              {options.clip.file, cutoff, options.friction, norm(motion.belt), remarks}));
  if (!options.sto.empty()) check_written(io::write_sto(analysis_moments(motion.model, analysis), options.sto));
  if (!options.csv.empty()) write_whole(options.csv, analysis_csv(motion.model, analysis));
  if (!options.svg.empty()) write_whole(options.svg, analysis_svg(motion.model, analysis, supports));
  for (const std::string& file : options.records)
    check_written(io::write_recording(analysis_recording(motion.model, analysis, supports), file));
  for (const std::string& file : {options.csv, options.svg}) tell_written(file);
  for (const std::string& file : options.records) tell_written(file);
  print(options.json ? analysis_json(motion.model, analysis) : analysis_text(motion.model, analysis));
  return kOk;
}

}  // namespace

Runner declare_analyze(Arguments& args) {
  auto options = std::make_shared<AnalyzeArguments>();
  options->clip.limits = false;  // measured postures exceed those of the figure
  args.add("CLIP", options->clip.file,
           "a capture (.bvh, .amc, .npz of AMASS), which the figure follows; a recording (.mcap, .csv, .npz); "
           "coordinates of an OpenSim model (.mot, .sto); a setup file of inverse dynamics (.xml); a subject of "
           "AddBiomechanics (.b3d)")
      .required();
  args.add("--figure MODEL", options->figure.name, "model; default: that of the recording, or human28");
  args.add("--filter HZ", options->filter,
           "cut-off frequency of the low-pass filter [Hz]; default: for captures 4.5 to 6, from the step rate, or 12 "
           "with flight phases; 0 (none) for recordings, except those of kansetsu fit")
      .not_negative();
  args.add("--doubt SHARE", options->doubt,
           "assumed error of horizontal forces, as a share of the weight; default: 0.02 for captures and fitted "
           "markers, 0 for recordings")
      .not_negative();
  args.add("--mass KG", options->mass, "body mass [kg]; all masses of the figure are scaled to it").positive();
  args.add("--height M", options->height, "body height [m]; selects the figure 'human' from published tables")
      .positive();
  args.add_word(
          "--sex", [options](const std::string& name) { options->sex = find_sex(name); },
          "sex; selects the figure 'human'")
      .one_of({"female", "male"});
  args.add("--friction MU", options->friction, "friction coefficient of the soles; default: 0.8").not_negative();
  args.add("--csv FILE", options->csv, "write all results as a table, one line per frame");
  args.add("--loads FILE", options->loads,
           "external loads (.xml) of an OpenSim model: joint moments from measured forces");
  args.add_flag("--reduce-residuals", options->reduce,
                "with measured forces: shift the body (at most 20 mm rms) and the trunk's centre of mass (at most 50 "
                "mm) to reduce the residual to 2 %");
  args.add_flag("--muscles", options->muscles,
                "with measured forces: muscle activations and forces by static optimization, and joint contact forces");
  args.add("--trial TRIAL", options->trial, "trial of a subject (.b3d): its name or number; default: the first");
  args.add("--sto FILE", options->sto, "write joint moments as an OpenSim table");
  args.add("--report FILE", options->report,
           "write a report (.html) with events, strides, forces, moments over the gait cycle, residuals");
  args.add("--svg FILE", options->svg, "write plots");
  args.add("--record FILE", options->records,
           "write the motion with its forces: .mcap, .csv, .npz or .glb; may be repeated")
      .take_all();
  args.add_flag("--json", options->json, "print the summary as JSON");
  add_base_option(args, options->figure.base);
  add_path_option(args);
  add_clip_options(args, options->clip);
  add_retarget_options(args, options->clip);
  return [options] { return run_analyze(*options); };
}

}  // namespace kansetsu::cli
