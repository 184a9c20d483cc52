#include "cli/clip.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "cli/measured.h"
#include "kansetsu/io/clip.h"
#include "kansetsu/io/measured.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::cli {
namespace {

/// The model that a recording carries, if it is the only one.
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

/// What `kansetsu fit` recorded.
bool is_of_markers(const std::string& file) {
  if (std::filesystem::path(file).extension() != ".mcap") return false;
  const Loaded<io::Recording> recording = io::read_recording(file);
  if (!recording) return false;
  const auto program = recording.value->header.notes.find("program");
  return program != recording.value->header.notes.end() && program->second == "kansetsu fit";
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
    Clip clip = clip_of(mapped, motion);
    if (mapped.model().base() != Base::kFree) return {mapped.model(), std::move(clip), {}, {}, true};
    const Ground ground =
        find_ground(mapped.model(), clip, find_feet(mapped.model()), RetargetOptions{}.largest_tilt, belt_of(source));
    clip = on_ground(mapped.model(), clip, ground);
    return {mapped.model(), std::move(clip), {}, ground.belt, true};
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
  return {model, value_or_fail(io::read_clip(model, source.file)), {}, {}, is_of_markers(source.file)};
}

}  // namespace kansetsu::cli
