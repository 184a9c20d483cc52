#pragma once

#include <optional>
#include <string>

#include "kansetsu/model/scene.h"
#include "kansetsu/sim/world.h"

/// SCENE arguments: scene files, and models, which stand on a floor.
namespace kansetsu::cli {

/// The scene; warnings are counted on standard error. Throws Failure with all lines if there is none.
/// @param base  of a model; none: as the file says
SceneDescription scene_or_fail(const std::string& name, std::optional<Base> base = {});
/// The world of a scene, likewise.
World world_or_fail(const SceneDescription& scene, int threads);

}  // namespace kansetsu::cli
