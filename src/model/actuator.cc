#include "kansetsu/model/actuator.h"

namespace kansetsu {

void make_position_servo(ActuatorDescription& a, double kp, double kd) {
  a.gain = GainLaw::kFixed, a.bias = BiasLaw::kAffine;
  a.gain_numbers = {kp};
  a.bias_numbers = {0, -kp, -kd};
}

void make_velocity_servo(ActuatorDescription& a, double kd) {
  a.gain = GainLaw::kFixed, a.bias = BiasLaw::kAffine;
  a.gain_numbers = {kd};
  a.bias_numbers = {0, 0, -kd};
}

std::vector<ActuatorDescription> all_actuators(const ModelDescription& model, const ActuationDescription& actuation) {
  std::vector<ActuatorDescription> out;
  for (const Actuator& motor : model.actuators)
    out.push_back({.name = motor.name, .dof = motor.dof, .gear = motor.gear, .effort = motor.effort});
  out.insert(out.end(), actuation.actuators.begin(), actuation.actuators.end());
  return out;
}

}  // namespace kansetsu
