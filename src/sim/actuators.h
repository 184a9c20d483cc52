#pragma once

#include "sim/figure.h"

namespace kansetsu {

/// ẋ of all activations.
void activation_rates(const ActuatorsData& actuators, Eigen::VectorXd& out);
/// What is stored in the springs of tendons, where they are placed [J].
double tendon_energy(const FigureData& figure);
/// All that acts along a tendon where it is placed, positive if it lengthens it: spring, damper, actuators, friction, limits [N].
double tendon_force(FigureData& figure, int tendon);
/// Makes the reports of the last step, if they are due.
void report_actuators(FigureData& figure);
/// Whether any actuator or tendon may do something in the next step.
bool act(const ActuatorsData& actuators);

}  // namespace kansetsu
