#include "cli/load_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "cli/allowed_paths.h"
#include "cli/command.h"
#include "cli/load_model.h"
#include "kansetsu/geometry/geometry.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/kinematics/kinematics.h"

namespace kansetsu::cli {
namespace {

/// Lowest point of a model's shapes; zero without shapes.
double lowest_point(const Model& model, const Eigen::VectorXd& q) {
  const LinkPoses poses = fk(model, q);
  double lowest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < model.link_count(); ++i) {
    for (const LinkShape& s : model.link(LinkId(i)).collisions) {
      if (std::holds_alternative<Mesh>(s.shape)) continue;
      lowest = std::min(lowest, bounds(Geometry(s.shape), poses[LinkId(i)] * to_transform(s.origin)).lower.z);
    }
  }
  return std::isfinite(lowest) ? lowest : 0;
}

/// Prints the first warning and the number of the others.
void tell_first(const std::vector<Diagnostic>& warnings) {
  if (!warnings.empty()) fmt::print(stderr, "{}", to_string(warnings.front()));
  if (warnings.size() > 1) fmt::print(stderr, "  and {} more like it\n", warnings.size() - 1);
}

/// A model alone, in its neutral posture; on a floor if its base is free.
StagedScene stage(const ModelSource& source) {
  Loaded<ModelDescription> model = load_description(source);
  if (!model) return {.scene = {std::nullopt, std::move(model.diagnostics)}};
  SceneDescription scene;
  scene.name = source.name;
  if (source.text.empty() && std::filesystem::exists(source.name))
    scene.file = source.name;  // built-in figures have none
  FigureDescription figure;
  figure.model = *std::move(model.value);
  figure.name = figure.model.name.empty() ? "figure" : figure.model.name;
  scene.figures.push_back(std::move(figure));
  std::vector<Diagnostic> of_meshes = io::load_meshes(scene);
  FigureDescription& only = scene.figures.front();
  if (only.model.base == Base::kFree) {
    const Model built = value_or_throw(Model::build(only.model));
    only.initial.base.p.z = -lowest_point(built, State(built).q);
    scene.environment.push_back({.shape = {.name = "floor", .shape = Plane{}}});
  }
  return {.scene = {std::move(scene), std::move(model.diagnostics)}, .of_meshes = std::move(of_meshes)};
}

}  // namespace

StagedScene load_stage(const ModelSource& source) {
  // A model; a built-in figure, or the message that there is none.
  if (!names_scene(source)) return stage(source);
  StagedScene out{.scene = load_scene(source)};
  if (out.scene) out.of_meshes = io::load_meshes(*out.scene.value);
  return out;
}

SceneDescription scene_or_fail(const std::string& name, std::optional<Base> base, PartialModel partial) {
  StagedScene staged = load_stage({.name = name, .base = base});
  if (!staged.scene) throw bad_file(staged.scene.diagnostics);
  if (staged.scene.partial() && partial == PartialModel::kRefuse) {
    throw Failure(
        kPartial,
        fmt::format("{0}: {1}\n  help: 'kansetsu check {0}' shows all; --allow-partial continues with what was read",
                    name, partial_summary(staged.scene.diagnostics)));
  }
  tell_count(staged.scene.diagnostics, name);
  tell_first(staged.of_meshes);
  return *std::move(staged.scene.value);
}

bool add_missing_floor(SceneDescription& scene) {
  const auto is_free = [](const FigureDescription& f) { return f.model.base == Base::kFree; };
  if (!scene.environment.empty() || std::none_of(scene.figures.begin(), scene.figures.end(), is_free)) return false;
  double lowest = 0;
  const World world = world_or_fail(scene, 1);
  for (int i = 0; i < world.figure_count(); ++i) {
    const FigureId figure(i);
    lowest = std::min(lowest, lowest_point(world.model(figure), world.q(figure)));
  }
  scene.environment.push_back({.shape = {.name = "floor", .origin = {.p = {0, 0, lowest}}, .shape = Plane{}}});
  return true;
}

BuiltWorld build_or_fail(const SceneDescription& scene, int threads) {
  Loaded<World> world = World::build(scene, threads);
  if (!world) throw bad_file(world.diagnostics);
  const bool corrects = std::ranges::any_of(world.diagnostics, [](const Diagnostic& d) {
    return d.code == "WORLD004" || d.code == "SCENE126";  // overlapping shapes, exceeded limits
  });
  // Warnings of the scene itself were printed when it was read.
  std::erase_if(world.diagnostics, [](const Diagnostic& d) { return !d.code.starts_with("WORLD"); });
  tell_first(world.diagnostics);
  return {*std::move(world.value), corrects};
}

World world_or_fail(const SceneDescription& scene, int threads) { return build_or_fail(scene, threads).world; }

}  // namespace kansetsu::cli
