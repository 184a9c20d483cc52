#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kansetsu/sim/world.h"

namespace kansetsu::test {

struct LoopEnds {
  const char *a, *b;  ///< links that coincide, or joints whose children do
};

/// A mechanism with closed loops and what drives it.
struct LoopRobot {
  const char* name;  ///< "four_bar" is built in, others are folders of robots/closed_loop
  std::vector<LoopEnds> loops;
  std::vector<const char*> motors;
  double torque;   ///< standard deviation [N·m]
  double damping;  ///< of each motor where it is to run for long: else energy grows without end [N·m·s]
};
const std::vector<LoopRobot>& loop_robots();

/// The link of that name, or the child of the joint of that name.
LinkId loop_end(const Model& model, const char* name);

/// The linkage of scenario 14, its loop open: ground, crank, coupler, rocker.
Model four_bar_linkage(const Vec3<>& gravity);

/// Assembled, away from equilibrium, its motors pushing at random (a draw every 50 ms). Throws Error if it does not close.
/// @param data  the folder of recorded files
World loop_world(const LoopRobot& robot, const std::filesystem::path& data, bool damped);

/// What the ledger of a world says: energy now, less that of the start, less all works.
double unexplained_energy(const World& world, double start);

}  // namespace kansetsu::test
