#pragma once

#include "actuation/muscle.h"

/// Hill muscles whose tendon does not stretch: forces over the length of muscle and tendon together. docs/guide/actuators.md.
namespace kansetsu {

/// Force per unit of activation along the tendon, negative: muscles pull. Zero where the fibres have no length.
MuscleValue hill_gain(double length, double velocity, const HillMuscle& muscle);
/// Passive force along the tendon.
MuscleValue hill_bias(double length, const HillMuscle& muscle);

/// The curves of fibres, in shares of the largest force: over the length in optimal ones, over the velocity in the fastest.
struct CurveValue {
  double value = 0, slope = 0;
};
CurveValue active_over_length(double length, const HillMuscle& muscle);
CurveValue active_over_velocity(double velocity, const HillMuscle& muscle);
CurveValue passive_over_length(double length, const HillMuscle& muscle);

}  // namespace kansetsu
