#include "kansetsu/actuation/actuation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "actuation/hill.h"
#include "actuation/muscle.h"
#include "actuation/plan.h"
#include "constraint/mechanics.h"
#include "kansetsu/base/error.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {

struct Actuation::Impl {
  Impl(const Model& m, ActuationDescription d, EffortLimits limits)
      : model(m),
        description{std::move(d.tendons), all_actuators(m.description(), d)},
        plan(compile_actuation(model, description, limits)) {}

  Model model;
  ActuationDescription description;
  ActuationPlan plan;
  std::unique_ptr<Mechanics> own;  ///< of place(state)

  void place(const Mechanics& m, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

 private:
  void place_path(const Mechanics& m, const Eigen::VectorXd& q, PathTendon& t);
  void place_stretches(const Mechanics& m, PathTendon& t);
  void place_actuator(const Mechanics& m, const Eigen::VectorXd& q, size_t i);
  void place_frames(const Mechanics& m, size_t i);
  void move_parts(const Eigen::VectorXd& q, PathTendon& t) const;
  void add_moved(const Eigen::VectorXd& q, const PathTendon& t);
  void clear(const Range& row) { std::fill_n(plan.values.begin() + row.begin, row.count, 0.0); }
  /// Adds the moment arms of a wrench on a body, times `sign`.
  void add_wrench(const Mechanics& m, const Range& levers, const Force<>& F, double sign) {
    for (int i = levers.begin; i < levers.end(); ++i) {
      const Lever& lever = plan.levers[size_t(i)];
      const double* S = m.column_motion(lever.coordinate);
      const double arm = S[0] * F.t.x + S[1] * F.t.y + S[2] * F.t.z + S[4] * F.f.x + S[5] * F.f.y + S[6] * F.f.z;
      plan.values[size_t(lever.entry)] += sign * lever.ratio * arm;
    }
  }
  void add_pull(const Mechanics& m, const Range& levers, const Pull& pull) {
    add_wrench(m, levers, {pull.t + cross(pull.p - m.origin(), pull.f), pull.f}, 1);
  }
  Transform<> pose(int body, const Transform<>& X) const { return body < 0 ? X : plan.X_WB[size_t(body)] * X; }
};

/// Updates moving and conditional points.
void Actuation::Impl::move_parts(const Eigen::VectorXd& q, PathTendon& t) const {
  for (size_t i = 0; i < t.at_rest.size(); ++i) t.path[i].X_BP.p = t.at_rest[i], t.path[i].absent = false;
  for (const MovingPart& m : t.moving) {
    PathPart& part = t.path[size_t(m.part)];
    const double at = plan.length_of(m.sum, q);
    part.absent = part.absent || at < m.range.lower || at > m.range.upper;
    if (!m.terms.empty()) part.X_BP.p += m.function(at) * m.direction;
  }
}

/// Adds ∂l/∂q of moving points.
void Actuation::Impl::add_moved(const Eigen::VectorXd& q, const PathTendon& t) {
  const Range& row = plan.tendon_rows[size_t(t.tendon)];
  for (const MovingPart& m : t.moving) {
    if (m.terms.empty()) continue;
    const int body = t.path[size_t(m.part)].body;
    const Vec3<> direction = body < 0 ? m.direction : plan.X_WB[size_t(body)].R * m.direction;
    double slope = 0;
    for (const Pull& pull : t.trace.pulls) slope += pull.part == m.part ? dot(pull.f, direction) : 0;
    slope *= m.function.derivative(plan.length_of(m.sum, q));
    for (const auto& [column, ratio] : m.terms) {
      for (int k = row.begin; k < row.end(); ++k)
        if (plan.columns[size_t(k)] == column) plan.values[size_t(k)] += ratio * slope;
    }
  }
}

void Actuation::Impl::place_path(const Mechanics& m, const Eigen::VectorXd& q, PathTendon& t) {
  if (!t.moving.empty()) move_parts(q, t);
  trace_path(t.path, plan.X_WB, t.trace);
  clear(plan.tendon_rows[size_t(t.tendon)]);
  for (const Pull& pull : t.trace.pulls) {
    if (const int slot = t.slot_of[size_t(pull.part)]; slot >= 0) add_pull(m, t.linkage.levers[size_t(slot)], pull);
  }
  if (!t.moving.empty()) add_moved(q, t);
}

namespace {

/// A point of a body relative to the origin of the mechanics, in world axes.
Vec3<> place_point(const Mechanics& m, const PathPart& part) {
  const Vec3<>& p = part.X_BP.p;
  if (part.body < 0) return p - m.origin();
  const double* X = m.body_axes(part.body);
  return {X[0] * p.x + X[4] * p.y + X[8] * p.z + X[12], X[1] * p.x + X[5] * p.y + X[9] * p.z + X[13],
          X[2] * p.x + X[6] * p.y + X[10] * p.z + X[14]};
}

}  // namespace

/// The wrenches at both ends of a stretch are opposite, so one is computed.
void Actuation::Impl::place_stretches(const Mechanics& m, PathTendon& t) {
  for (size_t i = 0; i < t.path.size(); ++i) {
    if (t.path[i].kind == TendonPartKind::kPoint) t.points[i] = place_point(m, t.path[i]);
  }
  clear(plan.tendon_rows[size_t(t.tendon)]);
  t.trace.length = 0;
  for (const Stretch& s : t.stretches) {
    const Vec3<>& end = t.points[size_t(s.to)];
    const Vec3<> line = end - t.points[size_t(s.from)];
    const double length = norm(line);
    t.trace.length += s.share * length;
    if (length < kNoDirection) continue;
    const Vec3<> f = (s.share / length) * line;
    const Force<> W{cross(end, f), f};
    const int from = t.slot_of[size_t(s.from)], to = t.slot_of[size_t(s.to)];
    if (from >= 0) add_wrench(m, t.linkage.levers[size_t(from)], W, -1);
    if (to >= 0) add_wrench(m, t.linkage.levers[size_t(to)], W, 1);
  }
}

namespace {

/// Points and pulls of a path of stretches at the last state.
void trace_stretches(const ActuationPlan& plan, PathTendon& t) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  t.trace.pulls.clear(), t.trace.points.clear();
  for (size_t i = 0; i < t.path.size(); ++i) {
    const bool gap = t.path[i].kind == TendonPartKind::kPulley;
    if (gap && t.trace.points.empty()) continue;
    t.trace.points.push_back(gap ? Vec3<>{kNone, kNone, kNone} : plan.origin + t.points[i]);
  }
  for (const Stretch& s : t.stretches) {
    const PathPart &from = t.path[size_t(s.from)], &to = t.path[size_t(s.to)];
    add_pulls(from, plan.origin + t.points[size_t(s.from)], to, plan.origin + t.points[size_t(s.to)], s.share, t.trace);
  }
}

}  // namespace

void Actuation::Impl::place(const Mechanics& m, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  plan.origin = m.origin();
  for (const int body : plan.bodies) plan.X_WB[size_t(body)] = m.body_pose(body);
  for (size_t i = 0; i < plan.path_of.size(); ++i) {
    if (const int path = plan.path_of[i]; path >= 0) {
      PathTendon& t = plan.path_tendons[size_t(path)];
      t.stretches.empty() ? place_path(m, q, t) : place_stretches(m, t);
      plan.tendon_length[i] = t.trace.length;
    } else {
      plan.tendon_length[i] = plan.length_of(plan.sums[i], q);
    }
    plan.tendon_velocity[i] = plan.along(plan.tendon_rows[i], v);
  }
  for (const CoordinateActuator& a : plan.by_coordinate) {
    plan.length[size_t(a.actuator)] = a.ratio * q[a.q] + a.offset;
    plan.velocity[size_t(a.actuator)] = a.arm * v[a.column];
  }
  for (const int placed : plan.placed) {
    const size_t i = size_t(placed);
    const ActuatorPath& a = plan.paths[i];
    if (a.kind == ActuatorKind::kSum) {
      plan.length[i] = plan.length_of(a.sum, q);
    } else if (a.kind == ActuatorKind::kTendon) {
      plan.length[i] = a.gear * plan.tendon_length[size_t(a.tendon)];
      plan.velocity[i] = a.gear * plan.tendon_velocity[size_t(a.tendon)];
      if (!a.follows_path) continue;
      const Range &t = plan.tendon_rows[size_t(a.tendon)], &row = plan.rows[i];
      for (int k = 0; k < row.count; ++k)
        plan.values[size_t(row.begin + k)] = a.gear * plan.values[size_t(t.begin + k)];
      continue;
    } else {
      place_actuator(m, q, i);
    }
    plan.velocity[i] = plan.along(plan.rows[i], v);
  }
}

/// Ball joints, free bases and sites.
void Actuation::Impl::place_actuator(const Mechanics& m, const Eigen::VectorXd& q, size_t i) {
  const ActuatorPath& a = plan.paths[i];
  const Vec3<>&f = plan.force_of[i], &t = plan.moment_of[i];
  const auto put = [&](int k, const Vec3<>& x) {
    double* out = plan.values.data() + plan.rows[i].begin + k;
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
  };
  if (a.kind == ActuatorKind::kBall) {
    const Mat3<> R = to_mat3(Quaternion<>{q[a.q], q[a.q + 1], q[a.q + 2], q[a.q + 3]});
    plan.length[i] = dot(log_rotation(R), t);
    put(0, a.in_parent ? transpose_times(R, t) : t);
  } else if (a.kind == ActuatorKind::kBase) {
    const Mat3<> R = to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]});
    put(0, a.in_parent ? transpose_times(R, t) : t);
    put(3, transpose_times(R, f));
  } else if (a.linkage >= 0) {
    place_frames(m, i);
  }
}

void Actuation::Impl::place_frames(const Mechanics& m, size_t i) {
  const ActuatorPath& a = plan.paths[i];
  const FrameLinkage& frames = plan.frames[size_t(a.linkage)];
  const Transform<> X = pose(a.a, frames.X_A), Y = pose(a.b, frames.X_B);
  plan.pulls.clear();
  if (a.kind == ActuatorKind::kFrame) {
    plan.pulls.push_back({.body = a.a, .p = X.p, .f = X.R * plan.force_of[i], .t = X.R * plan.moment_of[i]});
  } else if (a.kind == ActuatorKind::kFramePair) {
    const Vec3<> f = Y.R * plan.force_of[i], t = Y.R * plan.moment_of[i];
    plan.length[i] = dot(X.p - Y.p, f) + dot(log_rotation(transpose(Y.R) * X.R), plan.moment_of[i]);
    plan.pulls.push_back({.body = a.a, .p = X.p, .f = f, .t = t});
    plan.pulls.push_back({.body = a.b, .p = Y.p, .f = -f, .t = -t});
  } else {
    plan.length[i] = a.gear * trace_slider_crank(Y, a.b, X.p, a.a, a.crank, plan.pulls);
    for (Pull& p : plan.pulls) p.f = a.gear * p.f, p.t = a.gear * p.t;
  }
  clear(plan.rows[i]);
  const Linkage& linkage = frames.linkage;
  for (const Pull& pull : plan.pulls) {
    for (size_t s = 0; s < linkage.bodies.size(); ++s)
      if (linkage.bodies[s] == pull.body) add_pull(m, linkage.levers[s], pull);
  }
}

Actuation::Actuation(const Model& model, ActuationDescription description, EffortLimits limits)
    : impl_(std::make_unique<Impl>(model, std::move(description), limits)) {}

int Actuation::tendon_count() const { return int(impl_->plan.path_of.size()); }
int Actuation::actuator_count() const { return int(impl_->plan.paths.size()); }
const ActuatorDescription& Actuation::actuator(int i) const { return impl_->description.actuators.at(size_t(i)); }
const TendonDescription& Actuation::tendon(int i) const { return impl_->description.tendons.at(size_t(i)); }
int Actuation::find_actuator(std::string_view name) const {
  const auto& all = impl_->description.actuators;
  const auto found = std::ranges::find(all, name, &ActuatorDescription::name);
  return found == all.end() ? -1 : int(found - all.begin());
}
int Actuation::find_tendon(std::string_view name) const {
  const auto& all = impl_->description.tendons;
  const auto found = std::ranges::find(all, name, &TendonDescription::name);
  return found == all.end() ? -1 : int(found - all.begin());
}

void Actuation::place(const State& state) {
  check_size("Actuation::place", "q", state.q.size(), impl_->model.nq());
  check_size("Actuation::place", "v", state.v.size(), impl_->model.nv());
  if (!impl_->own) impl_->own = std::make_unique<Mechanics>(impl_->model);
  impl_->own->set_pose(state.q.data());
  impl_->own->set_motion(state.v.data());
  impl_->place(*impl_->own, state.q, state.v);
}
void Actuation::place(const Mechanics& mechanics, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  impl_->place(mechanics, q, v);
}

double Actuation::tendon_length(int i) const { return impl_->plan.tendon_length.at(size_t(i)); }
double Actuation::tendon_velocity(int i) const { return impl_->plan.tendon_velocity.at(size_t(i)); }
MomentRow Actuation::tendon_moment(int i) const { return impl_->plan.row(impl_->plan.tendon_rows.at(size_t(i))); }
std::span<const Vec3<>> Actuation::tendon_points(int i) const {
  const int path = impl_->plan.path_of.at(size_t(i));
  if (path < 0) return {};
  PathTendon& t = impl_->plan.path_tendons[size_t(path)];
  if (t.stretches.empty())
    trace_points(t.path, impl_->plan.X_WB, t.trace);
  else
    trace_stretches(impl_->plan, t);
  return t.trace.points;
}
std::span<const Pull> Actuation::tendon_pulls(int i) const {
  const int path = impl_->plan.path_of.at(size_t(i));
  if (path < 0) return {};
  PathTendon& t = impl_->plan.path_tendons[size_t(path)];
  if (!t.stretches.empty()) trace_stretches(impl_->plan, t);
  return t.trace.pulls;
}
double Actuation::actuator_length(int i) const { return impl_->plan.length.at(size_t(i)); }
double Actuation::actuator_velocity(int i) const { return impl_->plan.velocity.at(size_t(i)); }
MomentRow Actuation::actuator_moment(int i) const { return impl_->plan.row(impl_->plan.rows.at(size_t(i))); }
const ActuationPlan& Actuation::plan() const { return impl_->plan; }

namespace {

/// The force laws of a muscle.
void add_muscle(const ActuatorDescription& d, double length, double velocity, double input, ActuatorForce& out) {
  const LawNumbers &g = d.gain_numbers, &b = d.bias_numbers;
  const auto add = [&](const MuscleValue& m, double share) {
    out.force += share * m.value, out.d_length += share * m.d_length, out.d_velocity += share * m.d_velocity;
  };
  if (d.gain == GainLaw::kMuscle) add(muscle_gain(length, velocity, d.length_range, g), input);
  if (d.gain == GainLaw::kHill) add(hill_gain(length, velocity, d.hill), input);
  if (d.bias == BiasLaw::kMuscle) add(muscle_bias(length, d.length_range, b), 1);
  if (d.bias == BiasLaw::kHill) add(hill_bias(length, d.hill), 1);
}

/// @param d  used for muscles only
inline ActuatorForce force_of(const ForceLaw& law, const ActuatorDescription& d, double l, double rate, double u,
                              double x) {
  const double control = law.control.clamp(u), input = law.activated ? x : control;
  ActuatorForce out;
  out.d_length = law.gain[1] * input + law.bias[1], out.d_velocity = law.gain[2] * input + law.bias[2];
  out.force =
      (law.gain[0] + law.gain[1] * l + law.gain[2] * rate) * input + law.bias[0] + law.bias[1] * l + law.bias[2] * rate;
  if (law.muscle) add_muscle(d, l, rate, input, out);
  out.clamped = control != u;
  const double force = law.force.clamp(out.force);
  if (force != out.force) out = {force, 0, 0, true};
  return out;
}

}  // namespace

ActuatorForce Actuation::force(int i, double u, double x) const {
  const Impl& w = *impl_;
  const size_t k = size_t(i);
  return force_of(w.plan.laws[k], w.description.actuators[k], w.plan.length[k], w.plan.velocity[k], u, x);
}

bool Actuation::is_idle(int i, double u, double x) const {
  const ActuatorDescription& d = impl_->description.actuators[size_t(i)];
  return d.bias == BiasLaw::kNone && u == 0 && x == 0 && d.control_range.clamp(0) == 0;
}

double Actuation::activation_rate(int i, double u, double x) const {
  const ActuatorDescription& d = impl_->description.actuators[size_t(i)];
  const double control = d.control_range.clamp(u);
  switch (d.activation) {
    case ActivationLaw::kNone:
      return 0;
    case ActivationLaw::kIntegrator:
      return control;
    case ActivationLaw::kFilter:
      return (control - x) / std::max(d.activation_numbers[0], 1e-15);
    case ActivationLaw::kMuscle:
      return muscle_activation_rate(control, x, d.activation_numbers);
  }
  return 0;
}

double Actuation::next_activation(int i, double u, double x, double h) const {
  const ActuatorDescription& d = impl_->description.actuators[size_t(i)];
  if (d.activation == ActivationLaw::kNone) return 0;
  if (d.activation == ActivationLaw::kFilter) {  // exact, however short its time constant
    const double control = d.control_range.clamp(u), tau = std::max(d.activation_numbers[0], 1e-15);
    return d.activation_range.clamp(control + (x - control) * std::exp(-h / tau));
  }
  return d.activation_range.clamp(x + h * activation_rate(i, u, x));
}

void Actuation::forces(const Eigen::Ref<const Eigen::VectorXd>& u, const Eigen::Ref<const Eigen::VectorXd>& x,
                       std::span<ActuatorForce> out) const {
  const Impl& w = *impl_;
  const ActuationPlan& plan = w.plan;
  for (size_t i = 0; i < out.size(); ++i) {
    const ForceLaw& law = plan.laws[i];
    const double now = u[long(i)], activation = x[long(i)];
    if (!law.constant) {
      out[i] = force_of(law, w.description.actuators[i], plan.length[i], plan.velocity[i], now, activation);
      continue;
    }
    const double control = law.control.clamp(now), force = law.gain[0] * (law.activated ? activation : control);
    const double within = law.force.clamp(force);
    out[i] = {within, 0, 0, control != now || within != force};
  }
  for (const TendonSet& set : plan.cut) {  // the limit applies to the sum of the actuators on a tendon
    double sum = 0;
    for (const int i : set.actuators) sum += out[size_t(i)].force;
    const double allowed = set.effort.clamp(sum);
    if (allowed == sum) continue;
    for (const int i : set.actuators) out[size_t(i)] = {out[size_t(i)].force * allowed / sum, 0, 0, true};
  }
}

void Actuation::add_torques(std::span<const ActuatorForce> forces, double* tau) const {
  const ActuationPlan& plan = impl_->plan;
  for (size_t i = 0; i < forces.size(); ++i) {
    const Range& r = plan.rows[i];
    for (int k = r.begin; k < r.end(); ++k) tau[plan.columns[size_t(k)]] += plan.values[size_t(k)] * forces[i].force;
  }
}
std::span<const Actuation::EffortLimit> Actuation::effort_limits() const { return impl_->plan.limits; }

Eigen::VectorXd Actuation::torques(const Eigen::Ref<const Eigen::VectorXd>& u,
                                   const Eigen::Ref<const Eigen::VectorXd>& x) const {
  check_size("Actuation::torques", "u", u.size(), actuator_count());
  check_size("Actuation::torques", "x", x.size(), actuator_count());
  std::vector<ActuatorForce> all(impl_->plan.paths.size());
  forces(u, x, all);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(impl_->model.nv());
  add_torques(all, tau.data());
  for (const EffortLimit& l : effort_limits()) tau[l.column] = std::clamp(tau[l.column], -l.effort, l.effort);
  return tau;
}

}  // namespace kansetsu
