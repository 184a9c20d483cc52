#include "sim/control.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"

namespace kansetsu {

std::uint64_t seed_for(std::uint64_t seed, const std::string& name) {
  std::uint64_t hash = 14695981039346656037ull ^ seed;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

Controller make_controller(const ControllerDescription& description, int figure, const FigureData& data,
                           std::uint64_t seed) {
  Controller out;
  out.description = description;
  out.figure = figure;
  for (const JointControl& control : description.joints) {
    const JointId joint = data.model.joint_id(control.dof.joint);
    const auto found = std::find_if(data.drives.begin(), data.drives.end(), [&](const DriveCoordinate& d) {
      return d.joint == joint && d.index == control.dof.index;
    });
    if (found == data.drives.end()) {
      throw Error("controller '" + description.name + "': joint '" + control.dof.joint + "' has no coordinate " +
                  std::to_string(control.dof.index));
    }
    if (description.kind != ControlKind::kTorque && found->positions.empty() && !found->terms.empty()) {
      throw Error("controller '" + description.name + "': joint '" + control.dof.joint +
                  "' is a ball; only torques can be given to its coordinates");
    }
    out.drives.push_back(int(found - data.drives.begin()));
  }
  out.saturated.assign(description.joints.size(), false);
  out.state.active = description.active;
  out.state.rng.seed(description.seed.value_or(seed_for(seed, description.name)));
  out.state.noise.assign(description.joints.size(), 0.0);
  return out;
}

Signal signal(const Controller& controller, size_t joint, double time) {
  const JointControl& c = controller.description.joints[joint];
  if (c.amplitude == 0) return {c.value + controller.state.noise[joint], 0, 0};
  const double w = 2 * std::numbers::pi * c.frequency, angle = w * time + c.phase;
  const double s = c.amplitude * std::sin(angle);
  return {c.value + s + controller.state.noise[joint], c.amplitude * w * std::cos(angle), -w * w * s};
}

void draw(Controller& controller, double time) {
  ControllerState& state = controller.state;
  if (!state.active || time < state.next_draw) return;
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < state.noise.size(); ++i) {
    const double deviation = controller.description.joints[i].deviation;
    if (deviation > 0) state.noise[i] = deviation * normal(state.rng);
  }
  state.next_draw = controller.description.period > 0 ? state.next_draw + controller.description.period : time;
}

namespace {

double effort_limit(const Controller& controller, size_t joint, const FigureData& figure) {
  const double own = controller.description.joints[joint].effort;
  if (!figure.options.switches.effort_limits) return own;
  return std::min(own, figure.drives[size_t(controller.drives[joint])].dof.effort);
}

}  // namespace

void add_control(Controller& controller, FigureData& figure, double time, double h) {
  if (!controller.state.active || controller.description.kind == ControlKind::kMotion) return;
  for (size_t i = 0; i < controller.drives.size(); ++i) {
    const JointControl& c = controller.description.joints[i];
    const DriveCoordinate& drive = figure.drives[size_t(controller.drives[i])];
    const double limit = effort_limit(controller, i, figure);
    double torque = 0;
    if (controller.description.kind == ControlKind::kTorque) {
      torque = std::clamp(signal(controller, i, time).value, -limit, limit);
    } else {
      const Signal s = signal(controller, i, time + h);
      const double q = drive.position(figure.q), v = drive.velocity(figure.v);
      torque = c.kp * (s.value - q - h * v) + c.kd * (s.rate - v);
      if (controller.saturated[i]) {
        torque = torque > 0 ? limit : -limit;
      } else {
        for (const auto& [column, ratio] : drive.terms)
          figure.extra[column] += ratio * ratio * (h * c.kd + h * h * c.kp);
        figure.has_extra = true;
      }
    }
    for (const auto& [column, ratio] : drive.terms) figure.tau[column] += ratio * torque;
  }
}

bool saturates(Controller& controller, const FigureData& figure, double time, double h) {
  if (!controller.state.active || controller.description.kind != ControlKind::kPd) return false;
  bool any = false;
  for (size_t i = 0; i < controller.drives.size(); ++i) {
    const double limit = effort_limit(controller, i, figure);
    if (controller.saturated[i] || limit == kInfinity) continue;
    const JointControl& c = controller.description.joints[i];
    const DriveCoordinate& drive = figure.drives[size_t(controller.drives[i])];
    const Signal s = signal(controller, i, time + h);
    const double v = drive.velocity(figure.v) + h * drive.velocity(figure.vdot);
    const double torque = c.kp * (s.value - drive.position(figure.q) - h * v) + c.kd * (s.rate - v);
    if (std::abs(torque) <= limit * (1 + 1e-9)) continue;
    controller.saturated[i] = true;
    any = true;
  }
  return any;
}

}  // namespace kansetsu
