#pragma once

#include <random>
#include <string>
#include <vector>

#include "kansetsu/scene/scene.h"
#include "sim/figure.h"

namespace kansetsu {

/// What a controller carries from step to step.
struct ControllerState {
  bool active = true;
  std::mt19937_64 rng;
  double next_draw = 0;
  std::vector<double> noise;
};

/// What a step needs of a joint control, side by side in memory.
struct JointSignal {
  double value, amplitude, frequency, phase, deviation, kp, kd;
  double limit;                    ///< of |τ|, the joint's own included
  int column = -1, position = -1;  ///< of a coordinate that is one entry of v and q, without gears; −1: see the drive
  double ratio = 1, offset = 0;
};

/// Signals to joints, from a ControllerDescription.
struct Controller {
  ControllerDescription description;
  int figure = 0;
  std::vector<int> drives;  ///< per joint control: index in FigureData::drives
  std::vector<JointSignal> joints;
  bool draws = false, limited = false;  ///< some joint has noise; a limit of its torque
  /// Where all joints follow one another in v and q, are not geared, wanted at rest and without limits: the first of them.
  int first_column = -1, first_position = -1;
  Eigen::ArrayXd kp, kd, value;
  std::vector<char> saturated;
  ControllerState state;
};

Controller make_controller(const ControllerDescription& description, int figure, const FigureData& data,
                           std::uint64_t seed);
/// Takes another description of the same joints; the state stays.
void describe(Controller& controller, const ControllerDescription& description, const FigureData& data);
struct Signal {
  double value, rate, acceleration;
};
Signal signal(const Controller& controller, size_t joint, double time);
/// Draws the random numbers that are due.
void draw(Controller& controller, double time);
/// Adds torques; of PD control the implicit part as inertia. Held motions are rows and not added here.
void add_control(Controller& controller, FigureData& figure, double time, double h);
/// After a solve: whether a PD torque came out above its limit; it is cut in the next solve.
bool saturates(Controller& controller, const FigureData& figure, double time, double h);

/// Seeds of parts of a scene: from the scene's own and a name, the same on every machine.
std::uint64_t seed_for(std::uint64_t seed, const std::string& name);

}  // namespace kansetsu
