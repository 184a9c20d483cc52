#pragma once

#include <random>
#include <string>
#include <vector>

#include "kansetsu/scene/scene.h"
#include "sim/figure.h"

namespace kansetsu {

/// State of a controller.
struct ControllerState {
  bool active = true;
  std::mt19937_64 rng;
  double next_draw = 0;
  std::vector<double> noise;
};

/// Numbers of a joint control that a step needs.
struct JointSignal {
  double value, amplitude, frequency, phase, deviation, kp, kd;
  double limit;  ///< of |τ|: its own or the joint's
  int column = -1,
      position = -1;  ///< of a coordinate that is one entry of v and of q, without gears; −1: use the drive
  double ratio = 1, offset = 0;
};

/// Signals to joints, from a ControllerDescription.
struct Controller {
  ControllerDescription description;
  int figure = 0;
  std::vector<int> drives;  ///< per joint control: index in FigureData::drives
  std::vector<JointSignal> joints;
  bool draws = false, limited = false;  ///< some joint has noise; a limit of its torque
  /// If all joints are consecutive in v and q, without gears, limits and amplitudes: the first of them; else −1.
  int first_column = -1, first_position = -1;
  Eigen::ArrayXd kp, kd, value;
  std::vector<char> saturated;
  ControllerState state;
};

Controller make_controller(const ControllerDescription& description, int figure, const FigureData& data,
                           std::uint64_t seed);
/// Replaces the description, of the same joints; the state stays.
void describe(Controller& controller, const ControllerDescription& description, const FigureData& data);
struct Signal {
  double value, rate, acceleration;
};
Signal signal(const Controller& controller, size_t joint, double time);
/// Draws random numbers if their period is over.
void draw(Controller& controller, double time);
/// Adds torques, and inertia for the implicit part of PD control. Held motions are rows instead.
void add_control(Controller& controller, FigureData& figure, double time, double h);
/// After a solution: whether a PD torque came out above its limit. In the next one it is cut there.
bool saturates(Controller& controller, const FigureData& figure, double time, double h);

/// Seed of a part of a scene, from the scene's seed and a name: the same on every machine.
std::uint64_t seed_for(std::uint64_t seed, const std::string& name);

}  // namespace kansetsu
