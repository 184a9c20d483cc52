#include "sim/actuators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "sim/impl.h"

/// Actuators and tendons in a step. Forces that grow with length or velocity are taken at the end of the step, as PD control is:
/// l⁺ = l + h/2·l̇⁺ from the middle of the step, l̇⁺ = l̇ + h·l̈, so f⁺ = f − kp·h/2·l̇ − h·(kd + kp·h/2)·l̈. The last term becomes
/// inertia on the diagonal. Springs of tendons act at the mean of beginning and end, as those of joints do. Where a row has several entries, its matrix
/// rᵀ·r is replaced by the diagonal |r|·Σ|r|, which is no smaller and does the same to coordinates that move alike.
namespace kansetsu {
namespace {

/// Adds a force along a row, and `gain` of its implicit part.
void add_along(const MomentRow& row, double force, double gain, double* tau, double* extra) {
  double sum = 0;
  for (const double x : row.values) sum += std::abs(x);
  for (size_t k = 0; k < row.columns.size(); ++k) {
    const double x = row.values[k];
    tau[row.columns[k]] += x * force;
    extra[row.columns[k]] += gain * std::abs(x) * sum;
  }
}

double along(const MomentRow& row, const Eigen::VectorXd& x) {
  double sum = 0;
  for (size_t k = 0; k < row.columns.size(); ++k) sum += row.values[k] * x[row.columns[k]];
  return sum;
}

/// How far a tendon is beyond the lengths at which its spring is slack; negative: shorter.
double stretch(const TendonDescription& t, double length) {
  return length > t.rest_upper ? length - t.rest_upper : length < t.rest_lower ? length - t.rest_lower : 0;
}

}  // namespace

ActuatorsData::ActuatorsData(const Model& model, const FigureOptions& options)
    : actuation(model, options.actuation, options.switches.effort_limits) {
  const auto n = size_t(actuation.actuator_count());
  forces.resize(n), acting.resize(n), reports.resize(n);
  for (Eigen::VectorXd* x : {&control, &activation, &input, &start}) *x = Eigen::VectorXd::Zero(long(n));
  tau = extra = Eigen::VectorXd::Zero(model.nv());
  for (size_t i = 0; i < n; ++i) reports[i].name = actuation.actuator(int(i)).name;
}

void activation_rates(const ActuatorsData& a, Eigen::VectorXd& out) {
  for (long i = 0; i < out.size(); ++i) out[i] = a.actuation.activation_rate(int(i), a.control[i], a.activation[i]);
}

double tendon_energy(const FigureData& f) {
  double sum = 0;
  for (int i = 0; f.options.switches.springs && i < f.actuators.actuation.tendon_count(); ++i) {
    const TendonDescription& t = f.actuators.actuation.tendon(i);
    const double x = stretch(t, f.actuators.actuation.tendon_length(i));
    sum += 0.5 * t.stiffness * x * x;
  }
  return sum;
}

double tendon_force(const FigureData& f, int i) {
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

bool act(const ActuatorsData& a) {
  if (a.actuation.tendon_count() > 0) return true;
  for (size_t i = 0; i < a.forces.size(); ++i) {
    if (!a.actuation.is_idle(int(i), a.control[long(i)], a.activation[long(i)])) return true;
  }
  return false;
}

void World::Impl::place_actuators(FigureData& f) { f.actuators.actuation.place(f.mechanics, f.q, f.v); }
void World::Impl::place_actuators() {
  for_each(int(figures.size()), [&](int i) {
    if (figures[size_t(i)]->actuators.any()) place_actuators(*figures[size_t(i)]);
  });
}

void World::Impl::add_actuators(FigureData& f, double h) {
  ActuatorsData& a = f.actuators;
  const JointSwitches& on = f.options.switches;
  for (int i = 0; i < a.actuation.tendon_count(); ++i) {
    const TendonDescription& t = a.actuation.tendon(i);
    const double l = a.actuation.tendon_length(i), rate = a.actuation.tendon_velocity(i);
    const double x = stretch(t, l), k = on.springs && x != 0 ? t.stiffness : 0, d = on.damping ? t.damping : 0;
    if (k == 0 && d == 0) continue;
    const MomentRow row = a.actuation.tendon_moment(i);
    const double spring = -k * x, implicit = 0.25 * h * h * k;
    add_along(row, spring - d * rate, h * d + implicit, f.tau.data(), f.extra.data());
    add_along(row, spring, implicit, f.stored.data(), f.stored_inertia.data());
    f.has_extra = true;
  }
  if (a.forces.empty() || !on.actuators) return;
  for (long i = 0; i < a.input.size(); ++i) {
    const bool early = a.actuation.actuator(int(i)).early;
    a.input[i] = early ? a.actuation.next_activation(int(i), a.control[i], a.activation[i], h) : a.activation[i];
  }
  a.actuation.forces(a.control, a.input, a.forces);
  a.tau.setZero(), a.extra.setZero();
  for (size_t i = 0; i < a.forces.size(); ++i) {
    ActuatorsData::Acting& acts = a.acting[i];
    if (!acts.saturated) {
      const ActuatorForce& now = a.forces[i];
      const double kp = std::max(-now.d_length, 0.0), kd = std::max(-now.d_velocity, 0.0);
      acts.force = now.force - 0.5 * h * kp * a.actuation.actuator_velocity(int(i));
      acts.gain = h * (kd + 0.5 * h * kp);
      const double within = a.actuation.acting_range(int(i)).clamp(now.force);
      if (within != now.force) acts = {within, 0, true};
    }
    if (acts.force == 0 && acts.gain == 0) continue;
    add_along(a.actuation.actuator_moment(int(i)), acts.force, acts.gain, a.tau.data(), a.extra.data());
  }
  for (const Actuation::EffortLimit& l : a.actuation.effort_limits()) {
    if (!l.shared || std::abs(a.tau[l.column]) <= l.effort) continue;
    a.tau[l.column] = std::clamp(a.tau[l.column], -l.effort, l.effort), a.extra[l.column] = 0;
  }
  f.tau += a.tau;
  f.extra += a.extra;
  f.has_extra = true;
}

/// The force is shared evenly by the contacts of the link; each pulls both bodies together along its normal.
void World::Impl::add_adhesion(int figure) {
  const FigureData& f = *figures[size_t(figure)];
  for (size_t i = 0; f.options.switches.actuators && i < f.actuators.acting.size(); ++i) {
    const ActuatorDescription& a = f.actuators.actuation.actuator(int(i));
    const double force = f.actuators.acting[i].force;
    if (a.transmission != Transmission::kBody || force == 0) continue;
    const LinkId link = f.model.link_id(a.target);
    const auto touches = [&](const Touch& t) {
      const auto is = [&](int shape) {
        const WorldShape& s = contacts.shapes()[size_t(shape)];
        return s.owner == figure && s.link == link;
      };
      double gap = kInfinity;
      for (int k = 0; k < t.patch.vertex_count; ++k) gap = std::min(gap, t.patch.vertices[size_t(k)].gap);
      return gap <= options.contact.tol_gap && (is(t.parent) || is(t.real));
    };
    const auto count = std::ranges::count_if(contacts.touches(), touches);
    for (const Touch& t : contacts.touches()) {
      if (!touches(t)) continue;
      const Vec3<> pull = (force / double(count)) * t.E.column_z();
      for (const bool real : {true, false}) {
        const WorldShape& s = contacts.shapes()[size_t(real ? t.real : t.parent)];
        if (s.body < 0) continue;
        FigureData& g = *figures[size_t(s.figure)];
        const Vec3<> on = real ? -pull : pull;
        g.mechanics.add_generalised(s.body, {cross(t.origin - g.mechanics.origin(), on), on}, g.tau.data());
      }
    }
  }
}

/// After a solve: whether a force came out beyond its range; it is at its end in the next solve.
bool World::Impl::actuators_saturate(FigureData& f) {
  ActuatorsData& a = f.actuators;
  bool any = false;
  for (size_t i = 0; i < a.acting.size(); ++i) {
    ActuatorsData::Acting& acts = a.acting[i];
    const Interval& range = a.actuation.acting_range(int(i));
    if (acts.saturated || !range.is_bounded()) continue;
    const double force = acts.force - acts.gain * along(a.actuation.actuator_moment(int(i)), f.vdot);
    const double within = range.clamp(force);
    if (std::abs(force - within) <= 1e-9 * std::abs(within)) continue;
    acts = {within, 0, true};
    any = true;
  }
  return any;
}

void World::Impl::finish_actuators(FigureData& f, double h) {
  ActuatorsData& a = f.actuators;
  for (size_t i = 0; i < a.acting.size(); ++i) {
    const MomentRow row = a.actuation.actuator_moment(int(i));
    const ActuatorsData::Acting& acts = a.acting[i];
    const double rate = a.actuation.actuator_velocity(int(i)), more = along(row, f.vdot);
    ActuatorReport& r = a.reports[i];
    const Interval& range = a.actuation.actuator(int(i)).control_range;
    r.control = range.clamp(a.control[long(i)]);
    r.activation = a.input[long(i)];
    r.length = a.actuation.actuator_length(int(i)), r.velocity = rate;
    r.force = f.options.switches.actuators ? acts.force - acts.gain * more : 0;
    r.power = r.force * (rate + 0.5 * h * more);
    r.clamped = acts.saturated || a.forces[i].clamped;
    if (h > 0)
      a.activation[long(i)] = a.actuation.next_activation(int(i), a.control[long(i)], a.activation[long(i)], h);
  }
}

/// Limits of lengths that may be reached within the step, and dry friction along tendons.
void World::Impl::add_tendon_bounds(IslandWork& w, int figure) {
  constexpr double kNear = 1e-3;  // as of joints
  const FigureData& f = *figures[size_t(figure)];
  const JointSwitches& on = f.options.switches;
  const Actuation& all = f.actuators.actuation;
  for (int i = 0; i < all.tendon_count(); ++i) {
    const TendonDescription& t = all.tendon(i);
    const double l = all.tendon_length(i), reach = kNear + 2 * step_length * std::abs(all.tendon_velocity(i));
    const int memory = FigureData::kBoundKinds * (int(f.drives.size()) + i);
    const auto add = [&](BoundedRow row, double sign, int kind) {
      row.last_force = f.bound_force[memory + kind];
      w.bounded.push_back(row);
      w.bounded_origin.push_back({.figure = figure, .sign = sign, .tendon = i, .memory = memory + kind});
    };
    if (on.limits && l - t.limit.lower < reach) add(BoundedRow::limit(0, l - t.limit.lower), 1, FigureData::kLower);
    if (on.limits && t.limit.upper - l < reach) add(BoundedRow::limit(0, t.limit.upper - l), -1, FigureData::kUpper);
    if (on.friction && t.friction > 0) add(BoundedRow::friction(0, t.friction), 1, FigureData::kFriction);
  }
}

// --- What users say and ask

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
  impl_->wake(id.value());
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
  impl_->wake(id.value());
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
  impl_->wake(id.value());
  f.actuators.activation = activation;
}
std::span<const ActuatorReport> World::actuators(FigureId id) const {
  return impl_->data(id, "World::actuators").actuators.reports;
}

}  // namespace kansetsu
