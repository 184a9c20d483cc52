#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/load_model.h"
#include "kansetsu/scene/scene.h"
#include "kansetsu/sim/world.h"

/// SCENE arguments: scene files, and models, which are put on a floor.
namespace kansetsu::cli {

/// A scene with its meshes loaded, and the diagnostics of both.
struct StagedScene {
  Loaded<SceneDescription> scene;
  std::vector<Diagnostic> of_meshes{};
};
/// From a file, a built-in figure or a text.
StagedScene load_stage(const ModelSource& source);

/// What to do with a partial model: report it, or also refuse it.
enum class PartialModel { kTell, kRefuse };
/// The scene; the number of warnings goes to standard error. Throws Failure with all diagnostics if there is none.
SceneDescription scene_or_fail(const std::string& name, std::optional<Base> base = {},
                               PartialModel partial = PartialModel::kTell);
/// Adds a floor to a scene with a free figure and no environment: below all figures, at z = 0 or lower. Returns whether it did.
bool add_missing_floor(SceneDescription& scene);
struct BuiltWorld {
  World world;
  bool corrects_start = false;  ///< shapes overlap or joints are outside their limits: the first steps move them apart
};
/// The world of a scene; the first warning of its start goes to standard error. Throws Failure with all diagnostics if there is none.
BuiltWorld build_or_fail(const SceneDescription& scene, int threads);
World world_or_fail(const SceneDescription& scene, int threads);

}  // namespace kansetsu::cli
