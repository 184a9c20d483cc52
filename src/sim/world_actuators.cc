#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actuation/plan.h"
#include "kansetsu/base/error.h"
#include "sim/impl.h"

/// Controls, activations and reports of actuators.
namespace kansetsu {

namespace {

void check_control(const FigureData& f, const char* function, const Eigen::Ref<const Eigen::VectorXd>& u) {
  for (long i = 0; i < u.size(); ++i) {
    if (!std::isfinite(u[i]))
      throw Error(fmt::format("{}: figure '{}', actuator '{}': {}", function, f.options.name,
                              f.actuators.actuation.actuator(int(i)).name, u[i]));
  }
}

}  // namespace

void World::set_control(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& u) {
  FigureData& f = impl_->data(id, "World::set_control");
  check_size("World::set_control", "u", u.size(), f.actuators.control.size());
  check_control(f, "World::set_control", u);
  if (f.actuators.control == u) return;
  impl_->changed();
  impl_->sleeping.wake(id.value());
  f.actuators.control = u;
}
void World::set_control(FigureId id, std::string_view actuator, double u) {
  FigureData& f = impl_->data(id, "World::set_control");
  const int i = f.actuators.actuation.find_actuator(actuator);
  if (i < 0) {
    std::string known;
    for (const ActuatorReport& a : f.actuators.reports) known += (known.empty() ? "" : ", ") + std::string(a.name);
    throw Error(fmt::format("World::set_control: figure '{}' has no actuator '{}'; known: {}", f.options.name, actuator,
                            known.empty() ? "none" : known));
  }
  if (!std::isfinite(u)) throw Error(fmt::format("World::set_control: actuator '{}': {}", actuator, u));
  impl_->changed();
  impl_->sleeping.wake(id.value());
  f.actuators.control[i] = u;
}
const Eigen::VectorXd& World::control(FigureId id) const { return impl_->data(id, "World::control").actuators.control; }
const Eigen::VectorXd& World::activation(FigureId id) const {
  return impl_->data(id, "World::activation").actuators.activation;
}
void World::set_activation(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& activation) {
  FigureData& f = impl_->data(id, "World::set_activation");
  check_size("World::set_activation", "activation", activation.size(), f.actuators.activation.size());
  check_control(f, "World::set_activation", activation);
  impl_->changed();
  impl_->sleeping.wake(id.value());
  f.actuators.activation.setZero();  // of those that have none
  for (const int i : f.actuators.actuation.plan().activated) f.actuators.activation[i] = activation[i];
}
std::span<const ActuatorReport> World::actuators(FigureId id) const {
  return impl_->data(id, "World::actuators").actuators.reports;
}

}  // namespace kansetsu
