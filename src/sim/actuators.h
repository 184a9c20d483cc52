#pragma once

#include "sim/figure.h"

namespace kansetsu {

/// ẋ of all activations.
void activation_rates(const ActuatorsData& actuators, Eigen::VectorXd& out);
/// What is stored in the springs of tendons, where they are placed [J].
double tendon_energy(const FigureData& figure);
/// All that acts along a tendon where it is placed, positive if it lengthens it: spring, damper, actuators, friction, limits [N].
double tendon_force(const FigureData& figure, int tendon);
/// Whether any actuator or tendon may do something in the next step.
bool act(const ActuatorsData& actuators);

}  // namespace kansetsu
