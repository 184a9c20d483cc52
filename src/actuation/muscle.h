#pragma once

#include "kansetsu/model/actuator.h"

/// Muscles: force over length and velocity, and how their activation follows the control. docs/guide/actuators.md.
namespace kansetsu {

/// A value and its derivatives by length and velocity.
struct MuscleValue {
  double value = 0, d_length = 0, d_velocity = 0;
};
/// Force per unit of activation, negative: muscles pull.
MuscleValue muscle_gain(double length, double velocity, const Interval& range, const LawNumbers& n);
/// Passive force.
MuscleValue muscle_bias(double length, const Interval& range, const LawNumbers& n);
/// @param t  time constants of rising and falling, and over which difference they blend
double muscle_activation_rate(double control, double activation, const std::array<double, 3>& t);

}  // namespace kansetsu
