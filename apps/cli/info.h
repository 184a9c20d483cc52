#pragma once

#include <string>
#include <vector>

#include "kansetsu/model/model.h"
#include "kansetsu/scene/scene.h"

namespace kansetsu::cli {

std::string info_text(const Model& model);
std::string info_json(const Model& model);
/// The same for scenes: settings, what is in them, and their figures.
std::string scene_text(const SceneDescription& scene);
std::string scene_json(const SceneDescription& scene);

/// The tree of links, a line for each, like the program `tree`.
std::vector<std::string> draw_tree(const Model& model);

/// A coordinate of a joint by name, e.g. "knee" or "hip.wx".
std::string coordinate_name(const JointDescription& joint, int index);

/// Joints that move together because gears couple them: names of coordinates, group by group.
std::vector<std::vector<std::string>> coupling_groups(const Model& model);

}  // namespace kansetsu::cli
