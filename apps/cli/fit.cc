/// kansetsu fit MARKERS: the motion of a model from recorded markers, and the sizes of its segments.

#include "cli/fit.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/capture.h"
#include "cli/clip.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/table.h"
#include "kansetsu/base/error.h"
#include "kansetsu/io/urdf.h"

namespace kansetsu::cli {
namespace {

MarkerFigure marker_figure_or_fail(const std::string& name) {
  if (io::names_osim(name)) {
    const MappedModel mapped = osim_or_fail(name).mapped;
    return {mapped.model(), mapped.map(), {}};
  }
  return {model_or_fail({.name = name}), std::nullopt, {}};
}

/// Markers in world axes, without jumps; jumps are reported.
Markers markers_or_fail(const std::string& file, std::optional<UpAxis> up, Mat3<>& axes) {
  const Measurement measured = measurement_or_fail(file);
  axes = axes_with_up(up.value_or(guess_up(measured)));
  CleanMarkers clean = clean_markers(measured.markers, axes);
  // One line for each marker, regardless of the number of jumps.
  for (auto jump = clean.jumps.begin(); jump != clean.jumps.end();) {
    const auto next = std::find_if(jump, clean.jumps.end(), [&](const auto& j) { return j.marker != jump->marker; });
    const auto more = next - jump - 1;
    fmt::print(stderr, "{}: marker {} jumps by more than 20 m/s in frames {} to {}{}; ignored there\n", file,
               measured.markers.names[std::size_t(jump->marker)], jump->first, jump->last,
               more > 0 ? fmt::format(" and {} times more", more) : "");
    jump = next;
  }
  return std::move(clean.markers);
}

std::vector<std::string> place_or_fail(MarkerFigure& figure, const Markers& seen, const std::string& file) {
  const std::vector<std::string> unknown = place_markers(figure, seen.names);
  if (figure.markers.size() < 3) {
    std::vector<std::string> known;
    for (int i = 0; i < figure.model.frame_count() && i < 40; ++i) known.push_back(figure.model.frame(FrameId(i)).name);
    throw Failure(
        kBadFile,
        fmt::format("{}: {} of its markers are frames of '{}', three are needed\n  seen: {}\n  frames: {}", file,
                    figure.markers.size(), figure.model.name(), fmt::join(seen.names, ", "), fmt::join(known, ", ")));
  }
  return unknown;
}

void tell_exchanged(const std::optional<ExchangedSides>& sides, const std::string& file) {
  if (!sides) return;
  fmt::print(
      stderr,
      "{}: left and right of {} markers are exchanged ({}): the model is {:.0f} mm from them, {:.0f} mm with their "
      "names exchanged\n  help: correct the names; motion and sizes fitted to them as they are mean nothing\n",
      file, sides->markers.size(), fmt::join(sides->markers, ", "), 1000 * sides->rms, 1000 * sides->rms_exchanged);
}

}  // namespace

FittedMotion fitted_or_fail(const FitArguments& options) {
  if (options.figure.empty()) throw Failure(kBadUsage, "markers need a model with markers: --figure MODEL");
  Mat3<> axes{};
  const Markers seen = markers_or_fail(options.markers, options.up, axes);
  FittedMotion out{.figure = marker_figure_or_fail(options.figure), .sizes = {}, .motion = {}, .axes = axes};
  try {
    place_or_fail(out.figure, seen, options.markers);
    const std::optional<ExchangedSides> sides = find_exchanged_sides(out.figure, seen);
    if (!options.keep_size) {
      Mat3<> other{};
      const Markers still = options.still.empty() ? seen : markers_or_fail(options.still, options.up, other);
      // Sizes are determined from the markers that both trials have.
      place_or_fail(out.figure, still, options.still.empty() ? options.markers : options.still);
      out.sizes = fit_figure(out.figure, still, options.mass.value_or(0));
      out.figure = out.sizes->figure;
    }
    const std::vector<std::string> unknown = place_or_fail(out.figure, seen, options.markers);
    if (!unknown.empty())
      fmt::print(stderr, "{}: markers that the model does not have: {}\n", options.markers, fmt::join(unknown, ", "));
    tell_exchanged(sides, options.markers);
    out.motion = fit_motion(out.figure, seen);
    out.motion.clip.name = std::filesystem::path(options.markers).stem().string();
    out.motion.coordinates.name = out.motion.clip.name;
  } catch (const Error& error) {
    throw Failure(kNumerical, fmt::format("kansetsu fit: {}", error.what()));
  }
  for (const MarkerError& e : out.motion.markers)
    if (const int gaps = seen.frames() - e.frames; gaps > 0)
      fmt::print(stderr,
                 "{}: marker {} is missing in {} of {} frames; the posture there follows from the other markers\n",
                 options.markers, e.name, gaps, seen.frames());
  return out;
}

namespace {

struct FitCommand {
  FitArguments fit;
  bool json = false;
  std::string mot, model;
  std::vector<std::string> records;
};

/// Angles in degrees, as in the tables of OpenSim.
TimeTable in_degrees(const FittedMotion& fitted) {
  TimeTable out = fitted.motion.coordinates;
  out.degrees = true;
  for (std::size_t i = 0; i < fitted.figure.map->coordinates.size(); ++i)
    if (fitted.figure.map->coordinates[i].rotational) out.values.row(long(i)) *= 180 / M_PI;
  return out;
}

std::string fit_text(const FittedMotion& fitted) {
  const MarkerMotion& m = fitted.motion;
  std::vector<std::vector<std::string>> rows{
      {"figure", fmt::format("{}, {:.4g} kg", fitted.figure.model.name(), fitted.figure.model.mass())},
      {"frames", fmt::format("{}, {:.4g} s", m.clip.frames(), m.clip.duration())},
      {"markers", fmt::format("{}, rms {:.1f} mm", m.markers.size(), 1000 * m.rms)}};
  std::string text = table(rows);
  if (fitted.sizes) {
    rows = {{"segment", "scale"}};
    for (const SegmentScale& s : fitted.sizes->scales) rows.push_back({s.link, fmt::format("{:.3f}", s.scale)});
    text += "\nSizes\n" + table(rows);
  }
  rows = {{"marker", "rms [mm]", "largest [mm]", "in frame"}};
  if (fitted.sizes) rows[0].push_back("moved [mm]");
  for (const MarkerError& e : m.markers) {
    rows.push_back({e.name, fmt::format("{:.1f}", 1000 * e.rms), fmt::format("{:.1f}", 1000 * e.largest),
                    std::to_string(e.worst_frame)});
    for (std::size_t i = 0; fitted.sizes && i < fitted.sizes->moved.size(); ++i)
      if (fitted.sizes->figure.markers[i].name == e.name)
        rows.back().push_back(fmt::format("{:.1f}", 1000 * norm(fitted.sizes->moved[i])));
  }
  return text + "\nMarkers\n" + table(rows);
}

std::string fit_json(const FittedMotion& fitted) {
  const MarkerMotion& m = fitted.motion;
  JsonWriter json;
  json.begin_object().entry("figure", fitted.figure.model.name()).entry("mass", fitted.figure.model.mass());
  json.entry("frames", m.clip.frames()).entry("rms", m.rms).key("markers").begin_object();
  for (const MarkerError& e : m.markers)
    json.line()
        .key(e.name)
        .begin_object()
        .entry("rms", e.rms)
        .entry("largest", e.largest)
        .entry("worst_frame", e.worst_frame)
        .entry("frames", e.frames)
        .end_object();
  json.end_object().key("scales").begin_object();
  if (fitted.sizes)
    for (const SegmentScale& s : fitted.sizes->scales) json.entry(s.link, s.scale);
  json.end_object().key("moved").begin_object();
  for (std::size_t i = 0; fitted.sizes && i < fitted.sizes->moved.size(); ++i)
    json.entry(fitted.sizes->figure.markers[i].name, fitted.sizes->moved[i]);
  json.end_object().end_object();
  return json.take() + "\n";
}

Exit run_fit(const FitCommand& options) {
  const FittedMotion fitted = fitted_or_fail(options.fit);
  std::vector<Diagnostic> problems;
  if (!options.mot.empty()) {
    if (!fitted.figure.map)
      throw Failure(kBadUsage, "--mot: tables of coordinates are those of OpenSim models (.osim)");
    problems = io::write_sto(in_degrees(fitted), options.mot);
  }
  if (!options.model.empty())
    for (Diagnostic& d : io::write_urdf(fitted.figure.model.description(), options.model))
      problems.push_back(std::move(d));
  for (const std::string& file : options.records)
    for (Diagnostic& d :
         io::write_recording(to_recording(fitted.figure.model, fitted.motion.clip, "kansetsu fit"), file))
      problems.push_back(std::move(d));
  check_written(problems);
  print(options.json ? fit_json(fitted) : fit_text(fitted));
  return kOk;
}

}  // namespace

Runner declare_fit(Arguments& args) {
  auto options = std::make_shared<FitCommand>();
  args.add("MARKERS", options->fit.markers, "marker trajectories (.c3d, .trc)").required();
  args.add("--figure MODEL", options->fit.figure, "model with markers (.osim) or frames of the same names").required();
  args.add("--static FILE", options->fit.still, "trial for fitting sizes; default: the same trial");
  args.add("--mass KG", options->fit.mass, "body mass [kg]; default: that of the model").positive();
  args.add_flag("--keep-size", options->fit.keep_size, "keep the model's segment sizes and marker positions");
  static const std::map<std::string, UpAxis> kAxes{{"x", UpAxis::kX}, {"y", UpAxis::kY}, {"z", UpAxis::kZ}};
  args.add_word(
          "--up", [options](const std::string& axis) { options->fit.up = kAxes.at(axis); },
          "vertical axis of the file; default: estimated")
      .one_of({"x", "y", "z"});
  args.add("--mot FILE", options->mot, "write the coordinates of an OpenSim model (.mot, .sto)");
  args.add("--model FILE", options->model, "write the fitted model (.urdf)");
  args.add("--record FILE", options->records, "write the motion: .mcap, .csv, .npz or .glb; may be repeated")
      .take_all();
  args.add_flag("--json", options->json, "print as JSON");
  return [options] { return run_fit(*options); };
}

}  // namespace kansetsu::cli
