#include "sim/actuators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "actuation/plan.h"
#include "kansetsu/base/error.h"
#include "sim/step_thresholds.h"

/// Actuators and tendons in a step. A force that depends on length or velocity is that at the end of the step, as for PD control:
/// l⁺ = l + h/2·l̇⁺ from the middle of the step, l̇⁺ = l̇ + h·l̈, so f⁺ = f − kp·h/2·l̇ − h·(kd + kp·h/2)·l̈. The last term becomes
/// inertia on the diagonal. Springs of tendons act at the mean of beginning and end, as those of joints do. If a row has several
/// entries, its matrix rᵀ·r is replaced by the diagonal |r|·Σ|r|, which is no smaller and acts alike on coordinates that move alike.
namespace kansetsu {
namespace {

/// Adds a force along a row, and `gain` of its implicit part.
inline void add_along(const ActuationPlan& plan, const Range& row, double force, double gain, double* tau,
                      double* extra) {
  const int* columns = plan.columns.data();
  const double* values = plan.values.data();
  if (row.count == 1) {  // as most have
    const double arm = values[row.begin];
    tau[columns[row.begin]] += arm * force;
    if (gain != 0) extra[columns[row.begin]] += gain * std::abs(arm) * std::abs(arm);
    return;
  }
  for (int k = row.begin; k < row.end(); ++k) tau[columns[k]] += values[k] * force;
  if (gain == 0) return;
  double sum = 0;
  for (int k = row.begin; k < row.end(); ++k) sum += std::abs(values[k]);
  for (int k = row.begin; k < row.end(); ++k) extra[columns[k]] += gain * std::abs(values[k]) * sum;
}

/// How far a tendon is beyond the lengths at which its spring is slack; negative: shorter.
double stretch(const TendonDescription& t, double length) {
  return length > t.rest_upper ? length - t.rest_upper : length < t.rest_lower ? length - t.rest_lower : 0;
}

}  // namespace

ActuatorsData::ActuatorsData(const Model& model, const FigureOptions& options)
    : actuation(model, options.actuation,
                options.switches.effort_limits ? EffortLimits::kKept : EffortLimits::kIgnored) {
  const auto n = size_t(actuation.actuator_count());
  forces.resize(n), acting.resize(n), reports.resize(n);
  for (Eigen::VectorXd* x : {&control, &activation, &input, &start, &reported_control})
    *x = Eigen::VectorXd::Zero(long(n));
  tau = extra = reported_vdot = Eigen::VectorXd::Zero(model.nv());
  for (size_t i = 0; i < n; ++i) reports[i].name = actuation.actuator(int(i)).name;
}

void activation_rates(const ActuatorsData& a, Eigen::VectorXd& out) {
  for (long i = 0; i < out.size(); ++i) out[i] = a.actuation.activation_rate(int(i), a.control[i], a.activation[i]);
}

double tendon_energy(const FigureData& f) {
  const Actuation& all = f.actuators.actuation;
  double sum = 0;
  for (const int i : all.plan().sprung) {
    const TendonDescription& t = all.tendon(i);
    const double x = stretch(t, all.tendon_length(i));
    if (f.options.switches.springs) sum += 0.5 * t.stiffness * x * x;
  }
  return sum;
}

double tendon_force(FigureData& f, int i) {
  report_actuators(f);
  const Actuation& all = f.actuators.actuation;
  const TendonDescription& t = all.tendon(i);
  const JointSwitches& on = f.options.switches;
  double sum = on.springs ? -t.stiffness * stretch(t, all.tendon_length(i)) : 0;
  if (on.damping) sum -= t.damping * all.tendon_velocity(i);
  for (size_t k = 0; k < f.actuators.reports.size(); ++k) {
    const ActuatorDescription& a = all.actuator(int(k));
    if (a.transmission == Transmission::kTendon && a.target == t.name) sum += a.gear * f.actuators.reports[k].force;
  }
  const double* bound = f.bound_force.data() + FigureData::kBoundKinds * (long(f.drives.size()) + i);
  return sum + bound[FigureData::kLower] - bound[FigureData::kUpper] + bound[FigureData::kFriction];
}

bool is_active(const ActuatorsData& a) {
  if (a.actuation.tendon_count() > 0) return true;
  for (size_t i = 0; i < a.forces.size(); ++i) {
    if (!a.actuation.is_idle(int(i), a.control[long(i)], a.activation[long(i)])) return true;
  }
  return false;
}

void place_actuators(FigureData& f) {
  report_actuators(f);
  f.actuators.actuation.place(f.mechanics, f.q, f.v);
}

namespace {

/// Springs and dampers of tendons.
void add_tendon_forces(FigureData& f, double h) {
  const Actuation& all = f.actuators.actuation;
  const ActuationPlan& plan = all.plan();
  const JointSwitches& on = f.options.switches;
  for (const int i : plan.sprung) {
    const TendonDescription& t = all.tendon(i);
    const double x = stretch(t, plan.tendon_length[size_t(i)]), rate = plan.tendon_velocity[size_t(i)];
    const double k = on.springs && x != 0 ? t.stiffness : 0, d = on.damping ? t.damping : 0;
    if (k == 0 && d == 0) continue;
    const Range& row = plan.tendon_rows[size_t(i)];
    const double spring = -k * x, implicit = 0.25 * h * h * k;
    add_along(plan, row, spring - d * rate, h * d + implicit, f.tau.data(), f.extra.data());
    add_along(plan, row, spring, implicit, f.stored.data(), f.stored_inertia.data());
    f.has_extra = true;
  }
}

}  // namespace

void add_actuators(FigureData& f, double h) {
  add_tendon_forces(f, h);
  ActuatorsData& a = f.actuators;
  if (a.forces.empty() || !f.options.switches.actuators) return;
  const ActuationPlan& plan = a.actuation.plan();
  a.input = a.activation;
  for (const int i : plan.early) a.input[i] = a.actuation.next_activation(i, a.control[i], a.activation[i], h);
  a.actuation.forces(a.control, a.input, a.forces);
  // Limits of joints cut the sum of their actuators.
  if (plan.limits_shared) a.tau.setZero(), a.extra.setZero();
  double* tau = plan.limits_shared ? a.tau.data() : f.tau.data();
  double* extra = plan.limits_shared ? a.extra.data() : f.extra.data();
  for (size_t i = 0; i < a.forces.size(); ++i) {
    ActuatorsData::Acting& acts = a.acting[i];
    if (!acts.saturated) {
      const ActuatorForce& now = a.forces[i];
      acts.force = now.force, acts.gain = 0;
      if (!plan.laws[i].constant) {
        const double kp = std::max(-now.d_length, 0.0), kd = std::max(-now.d_velocity, 0.0);
        acts.force -= 0.5 * h * kp * plan.velocity[i];
        acts.gain = h * (kd + 0.5 * h * kp);
      }
      const double within = plan.laws[i].acting.clamp(now.force);
      if (within != now.force) acts = {within, 0, true};
    }
    add_along(plan, plan.rows[i], acts.force, acts.gain, tau, extra);
    f.has_extra |= acts.gain != 0;
  }
  if (!plan.limits_shared) return;
  for (const Actuation::EffortLimit& l : plan.limits) {
    if (!l.shared || std::abs(a.tau[l.column]) <= l.effort) continue;
    a.tau[l.column] = std::clamp(a.tau[l.column], -l.effort, l.effort), a.extra[l.column] = 0;
  }
  f.tau += a.tau;
  f.extra += a.extra;
}

bool actuators_saturate(FigureData& f) {
  ActuatorsData& a = f.actuators;
  const ActuationPlan& plan = a.actuation.plan();
  bool any = false;
  for (const int i : plan.bounded) {
    ActuatorsData::Acting& acts = a.acting[size_t(i)];
    if (acts.saturated) continue;
    const double force = acts.force - acts.gain * plan.along(plan.rows[size_t(i)], f.vdot);
    const double within = plan.laws[size_t(i)].acting.clamp(force);
    if (std::abs(force - within) <= 1e-9 * std::abs(within)) continue;
    acts = {within, 0, true};
    any = true;
  }
  return any;
}

void finish_actuators(FigureData& f, double h) {
  ActuatorsData& a = f.actuators;
  a.report_due = true, a.reported_step = h;
  a.reported_control = a.control, a.reported_vdot = f.vdot;
  for (const int i : a.actuation.plan().activated) {
    if (h > 0) a.activation[i] = a.actuation.next_activation(i, a.control[i], a.activation[i], h);
  }
}

void report_actuators(FigureData& f) {
  ActuatorsData& a = f.actuators;
  if (!std::exchange(a.report_due, false)) return;
  const ActuationPlan& plan = a.actuation.plan();
  const double on = f.options.switches.actuators ? 1 : 0;
  for (size_t i = 0; i < a.acting.size(); ++i) {
    const ActuatorsData::Acting& acts = a.acting[i];
    const double rate = plan.velocity[i], more = plan.along(plan.rows[i], a.reported_vdot);
    ActuatorReport& r = a.reports[i];
    r.control = plan.laws[i].control.clamp(a.reported_control[long(i)]);
    r.activation = a.input[long(i)];
    r.length = plan.length[i], r.velocity = rate;
    r.force = on * (acts.force - acts.gain * more);
    r.power = r.force * (rate + 0.5 * a.reported_step * more);
    r.clamped = acts.saturated || a.forces[i].clamped;
  }
}

}  // namespace kansetsu
