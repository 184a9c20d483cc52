#include "cli/clip.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "cli/measured.h"
#include "kansetsu/io/clip.h"
#include "kansetsu/io/measured.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::cli {
namespace {

/// The model in a recording, if there is exactly one.
Model recorded_model(const std::string& file) {
  Loaded<io::Recording> recording = io::read_recording(file);
  if (!recording) throw bad_file(recording.diagnostics);
  const std::vector<io::RecordedFigure>& figures = recording.value->header.figures;
  if (figures.size() != 1) {
    std::vector<std::string> names;
    for (const io::RecordedFigure& f : figures) names.push_back(f.model.name());
    throw Failure(kBadUsage, fmt::format("{} has {} figures ({}); select one with --figure", file, figures.size(),
                                         fmt::join(names, ", ")));
  }
  return figures.front().model;
}

/// A recording of `kansetsu fit`.
bool is_of_markers(const std::string& file) {
  if (std::filesystem::path(file).extension() != ".mcap") return false;
  const Loaded<io::Recording> recording = io::read_recording(file);
  if (!recording) return false;
  const auto program = recording.value->header.notes.find("program");
  return program != recording.value->header.notes.end() && program->second == "kansetsu fit";
}

/// A measured motion relative to its floor, and to the belt if that moves.
FigureClip on_its_ground(const Model& model, const Clip& clip, const ClipSource& source, double largest_tilt) {
  if (model.base() != Base::kFree) return {model, clip, {}, {}, true};
  const Ground ground = find_ground(model, clip, find_feet(model), largest_tilt, belt_of(source));
  return {model, on_ground(model, clip, ground), {}, ground.belt, true};
}

}  // namespace

FigureClip figure_clip_or_fail(const ClipSource& source, const ModelSource& figure) {
  if (io::names_capture(source.file)) {
    const Capture capture = capture_or_fail(source);
    ModelSource model_source = figure;
    if (model_source.name.empty()) model_source.name = "human28";
    const Model model = model_or_fail(model_source);
    Retargeted motion = retarget_or_fail(model, capture, source);
    return {model, std::move(motion.clip), Contacts{std::move(motion.feet), std::move(motion.others)}, motion.belt,
            true};
  }
  if (io::names_table(source.file)) {
    const MappedModel mapped = osim_or_fail(figure.name).mapped;
    const CoordinateMotion motion = motion_or_fail(mapped, table_or_fail(source.file), 0);
    return on_its_ground(mapped.model(), clip_of(mapped, motion), source, RetargetOptions{}.largest_tilt);
  }
  if (io::names_measurement(source.file)) {
    throw Failure(
        kBadUsage,
        fmt::format("{}: markers are not a motion of a figure\n  help: kansetsu fit {} --figure MODEL --record "
                    "clip.mcap moves a model with these markers; give clip.mcap then",
                    source.file, source.file));
  }
  if (!io::names_clip(source.file)) {
    throw Failure(
        kBadUsage,
        fmt::format("{}: unknown format for a clip\n  known: .bvh, .amc, recordings .mcap, .csv, .npz, and .mot, "
                    ".sto of an OpenSim model",
                    source.file));
  }
  const bool own = figure.name.empty() && std::filesystem::path(source.file).extension() == ".mcap";
  ModelSource model_source = figure;
  if (model_source.name.empty()) model_source.name = "human28";
  const Model model = own ? recorded_model(source.file) : model_or_fail(model_source);
  Clip clip = value_or_fail(io::read_clip(model, source.file));
  // The vertical of a laboratory is known; the height of its floor under the soles depends on the fitted sizes.
  if (is_of_markers(source.file)) return on_its_ground(model, clip, source, 0);
  return {model, std::move(clip), {}, {}, false};
}

}  // namespace kansetsu::cli
