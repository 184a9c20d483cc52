#include "cli/load_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/allowed_paths.h"
#include "cli/command.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/osim.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/io/sdf.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::cli {
namespace {

/// Also true if the system cannot tell: opening the file then gives the reason.
bool is_file(const std::string& name) {
  std::error_code ignored;
  const auto status = std::filesystem::status(name, ignored);
  return status.type() != std::filesystem::file_type::not_found && !std::filesystem::is_directory(status);
}

Model edited(Model model, const ModelSource& source) {
  if (source.base && *source.base != model.base()) model = with_base(model, *source.base);
  if (source.fixed_links == FixedLinks::kMerge) model = merge_fixed_links(model);
  return model;
}

/// The message for a missing file, which may be a misspelt figure.
void add_figures(std::vector<Diagnostic>& diagnostics, const ModelSource& source) {
  std::error_code ignored;
  if (diagnostics.size() != 1 || !source.text.empty() || std::filesystem::exists(source.name, ignored)) return;
  diagnostics[0].hint = fmt::format("name a URDF, MJCF, SDF, OpenSim or scene file, or a built-in figure: {}",
                                    fmt::join(figure_names(), ", "));
}

/// A built-in figure, if the source names one.
std::optional<Model> figure(const ModelSource& source) {
  if (!source.text.empty() || is_file(source.name)) return std::nullopt;
  std::optional<Model> found = find_figure(source.name);
  if (found) found = edited(*std::move(found), source);
  return found;
}

io::UrdfOptions options_of(const ModelSource& source) {
  return {.base = source.base,
          .merge_fixed = source.fixed_links == FixedLinks::kMerge,
          .package_paths = package_paths(),
          .allowed_paths = allowed_paths()};
}

/// Splits FILE#FIGURE, which selects one of several figures of a scene.
struct SceneName {
  std::string file, figure;
};
SceneName split(const std::string& name) {
  const std::size_t at = name.rfind('#');
  if (at == std::string::npos || is_file(name)) return {name, {}};
  return {name.substr(0, at), name.substr(at + 1)};
}

bool is_scene(const ModelSource& source) {
  if (!source.text.empty()) return io::find_format_of(source.text) != io::FileFormat::kUrdf;
  const std::string file = split(source.name).file;
  return is_file(file) && io::find_format(file) != io::FileFormat::kUrdf;
}

bool is_osim(const ModelSource& source) { return source.text.empty() && io::names_osim(source.name); }

/// From a file or a text.
Loaded<ModelDescription> read_urdf(const ModelSource& source) {
  Loaded<ModelDescription> read = source.text.empty() ? io::read_urdf(source.name, options_of(source))
                                                      : io::parse_urdf(source.text, source.name, options_of(source));
  add_figures(read.diagnostics, source);
  return read;
}

/// From a file, or from the text of a file.
Loaded<SceneDescription> read_scene(const ModelSource& source, const std::string& file) {
  if (source.text.empty()) return io::read_scene(file, references());
  switch (io::find_format_of(source.text)) {
    case io::FileFormat::kMjcf:
      return io::parse_mjcf(source.text, file, references());
    case io::FileFormat::kSdf:
      return io::parse_sdf(source.text, file, references());
    default:
      return io::parse_scene(source.text, file, references());
  }
}

/// The selected figure of a scene, with the diagnostics of the scene.
Loaded<FigureDescription> figure_of_scene(const ModelSource& source) {
  const SceneName name = source.text.empty() ? split(source.name) : SceneName{source.name, {}};
  Loaded<SceneDescription> scene = read_scene(source, name.file);
  if (!scene) return {std::nullopt, std::move(scene.diagnostics)};
  std::vector<std::string> known;
  for (FigureDescription& figure : scene.value->figures) {
    if (figure.name == name.figure || (name.figure.empty() && scene.value->figures.size() == 1)) {
      return {std::move(figure), std::move(scene.diagnostics)};
    }
    known.push_back(figure.name);
  }
  throw Failure(kBadUsage, fmt::format("{}: the scene has {} figures; name one as {}#FIGURE\n  known: {}", source.name,
                                       known.size(), name.file, fmt::join(known, ", ")));
}

/// The value; prints the number of warnings.
template <class T>
T counted_or_fail(Loaded<T>&& loaded, const std::string& name) {
  if (!loaded) throw bad_file(loaded.diagnostics);
  tell_count(loaded.diagnostics, name);
  return *std::move(loaded.value);
}

}  // namespace

Failure bad_file(const std::vector<Diagnostic>& diagnostics) {
  std::string text = to_string(diagnostics);
  if (text.ends_with('\n')) text.pop_back();
  return {kBadFile, text};
}

void tell_count(const std::vector<Diagnostic>& warnings, const std::string& name) {
  if (warnings.empty()) return;
  fmt::print(stderr, "{0}: {1} warning{2}; 'kansetsu check {0}' shows {3}\n", name, warnings.size(),
             warnings.size() == 1 ? "" : "s", warnings.size() == 1 ? "it" : "them");
  if (std::ranges::any_of(warnings, &Diagnostic::partial))
    fmt::print(stderr, "{}: {}\n", name, partial_summary(warnings));
}

void tell(const std::vector<Diagnostic>& warnings) { fmt::print(stderr, "{}", to_string(warnings)); }

void check_written(const std::vector<Diagnostic>& problems) {
  if (has_errors(problems)) throw bad_file(problems);
  tell(problems);
}

Loaded<ModelDescription> load_description(const ModelSource& source) {
  if (const auto model = figure(source)) return {model->description(), validate(model->description())};
  if (is_scene(source) || is_osim(source)) {
    Loaded<Model> model = load_model(source);
    if (!model) return {std::nullopt, std::move(model.diagnostics)};
    return {model.value->description(), std::move(model.diagnostics)};
  }
  return read_urdf(source);
}

std::vector<LoopClosure> loops_of(const ModelSource& source) {
  if (figure(source) || !is_scene(source)) return {};
  Loaded<FigureDescription> read = figure_of_scene(source);
  return read ? std::move(read.value->loops) : std::vector<LoopClosure>{};
}

ActuationDescription actuation_of(const ModelSource& source) {
  if (figure(source) || !is_scene(source)) return {};
  Loaded<FigureDescription> read = figure_of_scene(source);
  return read ? std::move(read.value->actuation) : ActuationDescription{};
}

Loaded<Model> load_model(const ModelSource& source) {
  if (const auto model = figure(source)) return {model, validate(model->description())};
  const auto build = [&](auto read) -> Loaded<Model> {  // of a figure, or of an OpenSim model
    if (!read) return {std::nullopt, std::move(read.diagnostics)};
    Loaded<Model> built = Model::build(std::move(read.value->model));
    if (built) built.value = edited(*std::move(built.value), source);
    return {std::move(built.value), std::move(read.diagnostics)};
  };
  if (is_scene(source)) return build(figure_of_scene(source));
  if (is_osim(source)) return build(io::read_osim(source.name));
  if (!source.text.empty()) {
    Loaded<ModelDescription> text = read_urdf(source);
    if (!text) return {std::nullopt, std::move(text.diagnostics)};
    Loaded<Model> built = Model::build(*std::move(text.value));
    return {std::move(built.value), std::move(text.diagnostics)};
  }
  Loaded<Model> read = io::load_urdf(source.name, options_of(source));
  add_figures(read.diagnostics, source);
  return read;
}

bool names_scene(const ModelSource& source) {
  return is_scene(source) && (!source.text.empty() || split(source.name).figure.empty());
}

Loaded<SceneDescription> load_scene(const ModelSource& source) {
  if (names_scene(source)) return read_scene(source, source.name);
  Loaded<ModelDescription> model = load_description(source);
  if (!model) return {std::nullopt, std::move(model.diagnostics)};
  SceneDescription scene;
  scene.name = model.value->name;
  scene.gravity = model.value->gravity;
  FigureDescription figure;
  figure.name = model.value->name;
  figure.source = source.name;
  figure.initial.base = model.value->base_pose;
  figure.model = *std::move(model.value);
  scene.figures.push_back(std::move(figure));
  return {std::move(scene), std::move(model.diagnostics)};
}

SceneDescription scene_or_fail(const ModelSource& source) { return counted_or_fail(load_scene(source), source.name); }

Model model_or_fail(const ModelSource& source) { return counted_or_fail(load_model(source), source.name); }

ModelDescription description_or_fail(const ModelSource& source) {
  return counted_or_fail(load_description(source), source.name);
}

}  // namespace kansetsu::cli
