#pragma once

#include "sim/figure.h"

namespace kansetsu {

/// Lengths, velocities and moment arms of tendons and actuators where the mechanics are.
void place_actuators(FigureData& figure);
/// Adds what actuators and tendons do in a step of length h: torques, and inertia for their implicit part.
void add_actuators(FigureData& figure, double h);
/// After a solution: whether a force came out beyond its range. In the next one it is at the end of the range.
bool actuators_saturate(FigureData& figure);
/// Keeps what report_actuators() needs; activations advance by h.
void finish_actuators(FigureData& figure, double h);

/// ẋ of all activations.
void activation_rates(const ActuatorsData& actuators, Eigen::VectorXd& out);
/// What is stored in the springs of tendons, where they are placed [J].
double tendon_energy(const FigureData& figure);
/// All that acts along a tendon where it is placed, positive if it lengthens it: spring, damper, actuators, friction, limits [N].
double tendon_force(FigureData& figure, int tendon);
/// Makes the reports of the last step, if they are due.
void report_actuators(FigureData& figure);
/// Whether any actuator or tendon may do something in the next step.
bool is_active(const ActuatorsData& actuators);

}  // namespace kansetsu
