#pragma once

#include <functional>
#include <vector>

#include "kansetsu/io/recording.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {

/// Numbers of a recording that belong together: their names, and how they are read from a world.
struct NumberGroup {
  std::vector<io::NumberChannel> channels;
  std::function<void(const World&, std::vector<double>&)> append;
};

/// Every force and what goes with it: accelerations, generalised forces and power of each figure, the energy balance, contacts,
/// connections, sensors. To be made when the balance begins.
std::vector<NumberGroup> usual_numbers(const World& world, const SceneDescription& scene);
/// What a [[record]] of a scene asks for.
std::vector<NumberGroup> chosen_numbers(const World& world, const SceneDescription& scene,
                                        const std::vector<Recorded>& what);

}  // namespace kansetsu::cli
