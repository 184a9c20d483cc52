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

namespace {

/// Numbers must be finite: a step would find out too late to name the controller. The same ones may not be negative as in a file.
void check_numbers(const ControllerDescription& description) {
  const auto refuse = [&](const JointControl& j, const char* what, double x) {
    throw Error("controller '" + description.name + "', joint '" + j.dof.joint + "': " + what + " is " +
                std::to_string(x));
  };
  for (const JointControl& j : description.joints) {
    const std::pair<const char*, double> numbers[] = {{"the value", j.value},
                                                      {"the amplitude", j.amplitude},
                                                      {"the frequency", j.frequency},
                                                      {"the phase", j.phase},
                                                      {"the deviation", j.deviation},
                                                      {"kp", j.kp},
                                                      {"kd", j.kd}};
    for (const auto& [what, x] : numbers) {
      if (!std::isfinite(x)) refuse(j, what, x);
    }
    const std::pair<const char*, double> not_negative[] = {
        {"the deviation", j.deviation}, {"kp", j.kp}, {"kd", j.kd}, {"the effort", j.effort}};
    for (const auto& [what, x] : not_negative) {
      if (!(x >= 0)) refuse(j, what, x);
    }
  }
}

}  // namespace

Controller make_controller(const ControllerDescription& description, int figure, const FigureData& data,
                           std::uint64_t seed) {
  check_numbers(description);
  Controller out;
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
  describe(out, description, data);
  out.saturated.assign(description.joints.size(), false);
  out.state.active = description.active;
  out.state.rng.seed(description.seed.value_or(seed_for(seed, description.name)));
  out.state.noise.assign(description.joints.size(), 0.0);
  return out;
}

void describe(Controller& out, const ControllerDescription& description, const FigureData& data) {
  out.description = description;
  out.joints.clear();
  out.draws = out.limited = false;
  for (size_t i = 0; i < description.joints.size(); ++i) {
    const JointControl& c = description.joints[i];
    const DriveCoordinate& drive = data.drives[size_t(out.drives[i])];
    JointSignal s{c.value, c.amplitude, c.frequency, c.phase, c.deviation, c.kp, c.kd, c.effort};
    if (data.options.switches.effort_limits) s.limit = std::min(c.effort, drive.dof.effort);
    if (drive.terms.size() == 1 && drive.positions.size() == 1) {
      s.column = drive.terms[0].first, s.position = drive.positions[0].first;
      s.ratio = drive.terms[0].second, s.offset = drive.offset;
    }
    out.draws = out.draws || c.deviation > 0;
    out.limited = out.limited || s.limit < kInfinity;
    out.joints.push_back(s);
  }
  const long n = long(out.joints.size());
  out.first_column = -1;
  out.kp.resize(n), out.kd.resize(n), out.value.resize(n);
  bool row = n > 0 && !out.limited && !out.draws;
  for (long i = 0; i < n; ++i) {
    const JointSignal &s = out.joints[size_t(i)], &first = out.joints[0];
    out.kp[i] = s.kp, out.kd[i] = s.kd, out.value[i] = s.value;
    row = row && s.column == first.column + i && s.position == first.position + i && s.column >= 0 && s.ratio == 1 &&
          s.offset == 0 && s.amplitude == 0;
  }
  if (row) out.first_column = out.joints[0].column, out.first_position = out.joints[0].position;
}

Signal signal(const Controller& controller, size_t joint, double time) {
  const JointSignal& c = controller.joints[joint];
  if (c.amplitude == 0) return {c.value + controller.state.noise[joint], 0, 0};
  const double w = 2 * std::numbers::pi * c.frequency, angle = w * time + c.phase;
  const double s = c.amplitude * std::sin(angle);
  return {c.value + s + controller.state.noise[joint], c.amplitude * w * std::cos(angle), -w * w * s};
}

void draw(Controller& controller, double time) {
  ControllerState& state = controller.state;
  if (!state.active || time < state.next_draw) return;
  std::normal_distribution<double> normal;
  for (size_t i = 0; controller.draws && i < state.noise.size(); ++i) {
    const double deviation = controller.joints[i].deviation;
    if (deviation > 0) state.noise[i] = deviation * normal(state.rng);
  }
  state.next_draw = controller.description.period > 0 ? state.next_draw + controller.description.period : time;
}

namespace {

double position_of(const JointSignal& c, const DriveCoordinate& drive, const Eigen::VectorXd& q) {
  return c.position >= 0 ? c.offset + c.ratio * q[c.position] : drive.position(q);
}
double velocity_of(const JointSignal& c, const DriveCoordinate& drive, const Eigen::VectorXd& v) {
  return c.column >= 0 ? c.ratio * v[c.column] : drive.velocity(v);
}
/// visit(column, ratio) of all that the joint's torque acts on.
template <class Visit>
void for_each_term(const JointSignal& c, const DriveCoordinate& drive, Visit&& visit) {
  if (c.column >= 0) return visit(c.column, c.ratio);
  for (const auto& [column, ratio] : drive.terms) visit(column, ratio);
}

}  // namespace

void add_control(Controller& controller, FigureData& figure, double time, double h) {
  if (!controller.state.active || controller.description.kind == ControlKind::kMotion) return;
  const bool given = controller.description.kind == ControlKind::kTorque;
  if (!given && controller.first_column >= 0) {  // the common case of a posture: all joints at once
    const int column = controller.first_column;
    kernel::figures().control(int(controller.kp.size()), h, controller.kp.data(), controller.kd.data(),
                              controller.value.data(), figure.q.data() + controller.first_position,
                              figure.v.data() + column, figure.tau.data() + column, figure.extra.data() + column);
    figure.has_extra = true;
    return;
  }
  const double half = 0.5 * h, *q = figure.q.data(), *v = figure.v.data(), *noise = controller.state.noise.data();
  double *tau = figure.tau.data(), *extra = figure.extra.data();
  for (size_t i = 0; i < controller.joints.size(); ++i) {
    const JointSignal& c = controller.joints[i];
    if (!given && c.column >= 0 && c.amplitude == 0 && !controller.saturated[i]) {  // the common case of a joint
      const double rate = c.ratio * v[c.column], left = c.value + noise[i] - (c.offset + c.ratio * q[c.position]);
      tau[c.column] += c.ratio * (c.kp * (left - half * rate) - c.kd * rate);
      extra[c.column] += c.ratio * c.ratio * h * (c.kd + half * c.kp);
      figure.has_extra = true;
      continue;
    }
    const DriveCoordinate& drive = figure.drives[size_t(controller.drives[i])];
    double torque = 0;
    if (given) {
      torque = std::clamp(signal(controller, i, time).value, -c.limit, c.limit);
    } else {
      const Signal s = signal(controller, i, time + h);
      const double at = position_of(c, drive, figure.q), rate = velocity_of(c, drive, figure.v);
      torque = c.kp * (s.value - at - half * rate) + c.kd * (s.rate - rate);
      if (controller.saturated[i]) {
        torque = torque > 0 ? c.limit : -c.limit;
      } else {
        const double gain = h * (c.kd + half * c.kp);
        for_each_term(c, drive, [&](int column, double ratio) { figure.extra[column] += ratio * ratio * gain; });
        figure.has_extra = true;
      }
    }
    for_each_term(c, drive, [&](int column, double ratio) { figure.tau[column] += ratio * torque; });
  }
}

bool saturates(Controller& controller, const FigureData& figure, double time, double h) {
  if (!controller.limited || !controller.state.active || controller.description.kind != ControlKind::kPd) return false;
  bool any = false;
  for (size_t i = 0; i < controller.joints.size(); ++i) {
    const JointSignal& c = controller.joints[i];
    if (controller.saturated[i] || c.limit == kInfinity) continue;
    const DriveCoordinate& drive = figure.drives[size_t(controller.drives[i])];
    const Signal s = signal(controller, i, time + h);
    const double v = velocity_of(c, drive, figure.v) + h * velocity_of(c, drive, figure.vdot);
    const double torque = c.kp * (s.value - position_of(c, drive, figure.q) - 0.5 * h * v) + c.kd * (s.rate - v);
    if (std::abs(torque) <= c.limit * (1 + 1e-9)) continue;
    controller.saturated[i] = true;
    any = true;
  }
  return any;
}

}  // namespace kansetsu
