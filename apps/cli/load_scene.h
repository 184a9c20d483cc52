#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/load_model.h"
#include "kansetsu/scene/scene.h"
#include "kansetsu/sim/world.h"

/// SCENE arguments: scene files, and models, which stand on a floor.
namespace kansetsu::cli {

/// A scene with its meshes read, and what there is to say about either.
struct StagedScene {
  Loaded<SceneDescription> scene;
  std::vector<Diagnostic> of_meshes{};
};
/// Of a file, a built-in figure or a text.
StagedScene load_stage(const ModelSource& source);

/// What to do with a model that is not whole: say it, or refuse it as well.
enum class PartialModel { kTell, kRefuse };
/// The scene; warnings are counted on standard error. Throws Failure with all lines if there is none.
SceneDescription scene_or_fail(const std::string& name, std::optional<Base> base = {},
                               PartialModel partial = PartialModel::kTell);
/// Puts a floor under the figures of a scene that has a free one and no environment: below them all, at z = 0 or lower. Whether it did.
bool add_missing_floor(SceneDescription& scene);
/// The world of a scene, likewise.
World world_or_fail(const SceneDescription& scene, int threads);

}  // namespace kansetsu::cli
