#pragma once

#include <functional>
#include <vector>

#include "kansetsu/io/recording.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {

/// A group of recorded numbers: their names, and the function that reads them from a world.
struct NumberGroup {
  std::vector<io::NumberChannel> channels;
  std::function<void(const World&, std::vector<double>&)> append;
};

/// The default: accelerations, generalised forces and power of each figure, the energy balance, contacts, connections,
/// sensors. Call it when the balance begins.
std::vector<NumberGroup> usual_numbers(const World& world, const SceneDescription& scene);
/// The numbers that a [[record]] of a scene selects.
std::vector<NumberGroup> chosen_numbers(const World& world, const SceneDescription& scene,
                                        const std::vector<Recorded>& what);

}  // namespace kansetsu::cli
