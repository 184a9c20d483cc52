#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kansetsu::test {

/// Bound of StressReport::gain / scale.
inline constexpr double kMostGain = 0.05;

/// What happened to a world that was thrown about.
struct StressReport {
  std::string world;                                               ///< what there was in it
  std::string failure;                                             ///< empty: none
  std::uint64_t steps = 0, contacts = 0, grabs = 0, unsolved = 0;  ///< contacts whose solution was not accepted
  double gain = 0;                                                 ///< largest energy beyond what motors gave [J]
  double scale = 0;        ///< energy in play: that of the start, of the motors, of a fall to the floor [J]
  double penetration = 0;  ///< deepest [m]
  double gap = 0;          ///< of connections, largest at the end of a step [m]
};

/// A world made of the seed: one to three figures (humans with hinges and with balls, MuJoCo's humanoid and ant, boxes, linkages
/// with closed loops, ropes, random trees with gears) are thrown on a floor in random poses at random speeds, driven by random
/// torques, grabbed and let go; steps of 0.5 to 10 ms, with and without self-collision. Stops at the first failure: a world that
/// stops, a number that is not finite.
/// @param data  the folder of recorded files; none: without the models in it
StressReport stress(std::uint64_t seed, double seconds, const std::optional<std::filesystem::path>& data);

}  // namespace kansetsu::test
