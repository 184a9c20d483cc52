#include "cli/load_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "cli/command.h"
#include "cli/load_model.h"
#include "kansetsu/geometry/geometry.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/kinematics/kinematics.h"

namespace kansetsu::cli {
namespace {

void tell(const std::vector<Diagnostic>& diagnostics, const std::string& name) {
  if (has_errors(diagnostics)) throw Failure(kBadFile, to_string(diagnostics));
  if (diagnostics.empty()) return;
  fmt::print(stderr, "{}: {} warning{}; 'kansetsu check' lists them\n", name, diagnostics.size(),
             diagnostics.size() == 1 ? "" : "s");
}

/// Lowest point of a model's shapes in its neutral posture; zero without shapes.
double lowest_point(const Model& model) {
  const LinkPoses poses = fk(model, State(model).q);
  double lowest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < model.link_count(); ++i) {
    for (const LinkShape& s : model.link(LinkId(i)).collisions) {
      if (std::holds_alternative<Mesh>(s.shape)) continue;
      lowest = std::min(lowest, bounds(Geometry(s.shape), poses[LinkId(i)] * to_transform(s.origin)).lower.z);
    }
  }
  return std::isfinite(lowest) ? lowest : 0;
}

/// A model alone: on a floor, with its own posture.
SceneDescription stage(const std::string& name, std::optional<Base> base) {
  SceneDescription scene;
  scene.name = name;
  FigureDescription figure;
  figure.model = description_or_fail({.name = name, .base = base});
  figure.name = figure.model.name.empty() ? "figure" : figure.model.name;
  const Model model = model_or_fail({.name = name, .base = base});
  if (figure.model.base == Base::kFree) {
    figure.initial.base.p.z = -lowest_point(model);
    scene.environment.push_back({.shape = {.name = "floor", .shape = Plane{}}});
  }
  figure.self_collision = SelfCollision::kNone;
  scene.figures.push_back(std::move(figure));
  return scene;
}

}  // namespace

SceneDescription scene_or_fail(const std::string& name, std::optional<Base> base) {
  if (!std::filesystem::exists(name)) return stage(name, base);  // a built-in figure, or the message that there is none
  if (io::find_format(name) == io::FileFormat::kUrdf) return stage(name, base);
  Loaded<SceneDescription> scene = io::read_scene(name);
  tell(scene.diagnostics, name);
  return *std::move(scene.value);
}

World world_or_fail(const SceneDescription& scene, int threads) {
  Loaded<World> world = World::build(scene, threads);
  if (has_errors(world.diagnostics)) throw Failure(kBadFile, to_string(world.diagnostics));
  // Those of the scene itself have been told when it was read.
  std::erase_if(world.diagnostics, [](const Diagnostic& d) { return !d.code.starts_with("WORLD"); });
  if (!world.diagnostics.empty()) fmt::print(stderr, "{}", to_string(world.diagnostics.front()));
  if (world.diagnostics.size() > 1) fmt::print(stderr, "  and {} more like it\n", world.diagnostics.size() - 1);
  return *std::move(world.value);
}

}  // namespace kansetsu::cli
