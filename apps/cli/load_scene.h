#pragma once

#include <string>

#include "kansetsu/model/scene.h"
#include "kansetsu/sim/world.h"

/// SCENE arguments: scene files, and models, which stand on a floor.
namespace kansetsu::cli {

/// The scene; warnings are counted on standard error. Throws Failure with all lines if there is none.
SceneDescription scene_or_fail(const std::string& name);
/// The world of a scene, likewise.
World world_or_fail(const SceneDescription& scene, int threads);

}  // namespace kansetsu::cli
