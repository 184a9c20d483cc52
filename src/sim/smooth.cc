#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"
#include "sim/actuators.h"
#include "sim/impl.h"

/// Integrators of high order for what is smooth: no contact, no limit, only bilateral constraints. Where something touches,
/// the step is that of step.cc. Positions are integrated as stored numbers (quaternions included) and
/// normalised, which keeps the order of the method.
namespace kansetsu {
namespace {

/// Dormand and Prince, order 5 with an error estimate of order 4.
constexpr int kStages = 7;
constexpr double kNode[kStages] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
constexpr double kWeight[kStages][kStages] = {{},
                                              {1.0 / 5},
                                              {3.0 / 40, 9.0 / 40},
                                              {44.0 / 45, -56.0 / 15, 32.0 / 9},
                                              {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                                              {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                                              {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
constexpr double kClassical[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
constexpr double kError[kStages] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                    -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

}  // namespace

/// Whether bilateral constraints are all there is: nothing touches but what separates, no limit is near, no dry friction.
bool World::Impl::is_smooth() {
  contacts.find(figures, time, options.contact_margin, options.contact.tol_gap, ahead(step_length));
  for (const Touch& t : contacts.touches()) {
    const FrameMotion6 motion = frame_motion(*t.parent_end, *t.real_end, t.E, t.origin);
    for (int k = 0; k < t.patch.vertex_count; ++k) {
      const ContactVertex& x = t.patch.vertices[size_t(k)];
      const double closing = motion.u[2] + motion.u[3] * x.y - motion.u[4] * x.x;
      if (x.gap <= options.contact.tol_gap && closing <= 0) return false;
      if (x.gap <= 0 && closing <= std::max(2 * norm(options.gravity) * options.time_step, 1e-3)) return false;
    }
  }
  place_actuators();
  IslandWork probe;
  for (size_t i = 0; i < figures.size(); ++i) add_bounded(probe, int(i), 0);
  return probe.bounded.empty();
}

/// v̇ of all figures at their present q and v, time t; bilateral rows at acceleration level.
void World::Impl::evaluate(double t) {
  const double now = time;
  time = t;
  for (const std::unique_ptr<FigureData>& f : figures) {
    f->mechanics.set_pose(f->q.data());
    f->mechanics.set_motion(f->v.data());
  }
  for (const std::unique_ptr<FigureData>& f : figures) f->spring_torque.setZero();
  add_spring_forces();
  add_medium_forces();
  for (ConnectionData& c : connections) {
    if (c.active) place_connection(figures, t, c);
  }
  add_soft_forces();
  place_actuators();
  prepare_torques(0);
  for (int i = 0; i < island_count; ++i) {
    IslandWork& w = *works[size_t(i)];
    for (const int k : w.figures) {
      FigureData& f = *figures[size_t(k)];
      f.mechanics.factorise(nullptr, f.tau.data());
    }
    solve_bilateral(w, false);
  }
  time = now;
}

/// Bilateral rows alone: accelerations for the given motion of the rows, or velocities corrected to it.
void World::Impl::solve_bilateral(IslandWork& w, bool velocities) {
  const int rows = count_bilateral(w);
  w.power = 0;
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    if (velocities) continue;
    f.vdot.setZero();
    if (rows == 0) f.mechanics.free_acceleration(f.vdot.data());
  }
  if (rows == 0) return;
  w.island.begin(w.mechanics, rows, 0);
  fill_bilateral(w, Springs::kRest);
  set_targets(w, velocities ? Target::kVelocity : Target::kAcceleration);
  w.island.assemble();
  const double left = velocities ? w.island.hold_velocities() : w.island.hold_accelerations();
  w.inconsistency = std::max(w.inconsistency, left);
  w.rank_deficiency = rows - w.island.rank();
  w.island.complete(nullptr, velocities ? 0 : 1);
  for (size_t k = 0; k < w.figures.size(); ++k) {
    FigureData& f = *figures[size_t(w.figures[k])];
    w.island.respond(int(k), velocities ? f.v.data() : f.vdot.data());
  }
  if (velocities) return;
  for (int k = 0; k < rows; ++k) w.power += w.island.force()[k] * w.island.u()[k];
  int row = 0;
  for (const int i : w.connections) {
    ConnectionData& c = connections[size_t(i)];
    const double* rate = w.island.u() + row;
    double force[6] = {};
    std::copy_n(w.island.force() + row, c.rows, force);
    soft_forces(c, rate, force);
    c.wrench = connection_wrench(c, force);
    int next = 0;
    for_each_direction(c, [&](int k, int bit) {  // less what its springs store
      if (c.soft >> bit & 1) w.power += force[next] * rate[next] + c.push[k] * (rate[next] - c.velocity[k]);
      ++next;
    });
    row += c.rows;
  }
}

/// One step of length h from the present state by the classical or the embedded method; returns its error estimate. Works
/// are integrals of the powers at the stages, by the weights of the method.
double World::Impl::runge_kutta(double h, bool embedded) {
  static constexpr double kHalf[4] = {0, 0.5, 0.5, 1};
  const int stages = embedded ? kStages : 4;
  const double* node = embedded ? kNode : kHalf;
  const double* weights = embedded ? kWeight[kStages - 1] : kClassical;
  for (const std::unique_ptr<FigureData>& f : figures) f->begin_stages(stages), f->work_done = 0;
  for (int i = 0; i < island_count; ++i) works[size_t(i)]->work = {0, 0};
  for (int s = 0; s < stages; ++s) {
    for (const std::unique_ptr<FigureData>& f : figures) {
      ActuatorsData& a = f->actuators;
      f->q = f->q0, f->v = f->v0, a.activation = a.start;
      for (int j = 0; j < s; ++j) {
        const double weight = embedded ? kWeight[s][j] : (j == s - 1 ? kHalf[s] : 0);
        if (weight == 0) continue;
        f->q += h * weight * f->rate_q[size_t(j)], f->v += h * weight * f->rate_v[size_t(j)];
        a.activation += h * weight * a.rates[size_t(j)];
      }
      normalise(f->model, f->q);
    }
    evaluate(time + node[s] * h);
    for (const std::unique_ptr<FigureData>& f : figures) {
      position_rate(f->model, f->q, f->v, f->rate_q[size_t(s)]);
      f->rate_v[size_t(s)] = f->vdot;
      activation_rates(f->actuators, f->actuators.rates[size_t(s)]);
      f->work_done += h * weights[s] * (f->tau - f->stored).dot(f->v);
    }
    for (int i = 0; i < island_count; ++i) works[size_t(i)]->work.bilateral += h * weights[s] * works[size_t(i)]->power;
  }
  double worst = 0;
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (embedded) {  // the last stage is the result
      f->work_step.setZero();
      for (int s = 0; s < stages; ++s) f->work_step += h * kError[s] * f->rate_v[size_t(s)];
      const double scale = 1 + f->v.cwiseAbs().maxCoeff();
      if (f->work_step.size() > 0) worst = std::max(worst, f->work_step.cwiseAbs().maxCoeff() / scale);
      continue;
    }
    f->q = f->q0, f->v = f->v0, f->actuators.activation = f->actuators.start;
    for (size_t s = 0; s < 4; ++s) {
      f->q += h * kClassical[s] * f->rate_q[s], f->v += h * kClassical[s] * f->rate_v[s];
      f->actuators.activation += h * kClassical[s] * f->actuators.rates[s];
    }
    normalise(f->model, f->q);
  }
  return worst;
}

/// Gap of the vertex that is deepest at the present positions; used to find when a contact begins.
double World::Impl::smallest_gap(double t) {
  for (const std::unique_ptr<FigureData>& f : figures) f->mechanics.set_pose(f->q.data());
  return contacts.smallest_gap(figures, t, options.contact_margin);
}

void World::Impl::smooth_step() {
  for (const std::unique_ptr<FigureData>& f : figures) f->set_mechanics();
  if (!is_smooth()) return contact_step();
  const bool adaptive = options.integrator == Integrator::kAdaptive;
  const double meeting = time_to_touch();
  if (!adaptive && meeting < step_length) return contact_step();
  find_islands();
  begin_reports();
  bool impulsive = false;
  for (const ConnectionData& c : connections) impulsive |= c.active && c.is_new;
  if (impulsive) return contact_step();

  double h = adaptive ? std::min(step_length, meeting) : step_length;
  if (adaptive) h = std::min(h, next_step > 0 ? next_step : h);
  constexpr double kSafety = 0.9, kShrink = 0.2, kGrow = 5;
  for (;;) {
    const double error = runge_kutta(h, adaptive);
    if (!adaptive) break;
    const double factor =
        std::clamp(kSafety * std::pow(std::max(error / options.tolerance, 1e-10), -0.2), kShrink, kGrow);
    next_step = h * factor;
    if (error <= options.tolerance || h < 1e-9) break;
    back_to_start();
    h = next_step;
  }
  if (adaptive && smallest_gap(time + h) < 0) h = locate_touch(h);
  step_taken = h;
  for (const std::unique_ptr<FigureData>& f : figures) {
    f->effort = f->tau;
    if (f->actuators.any()) finish_actuators(*f, 0);
  }
  const double begin = time;
  time += h;
  for (int i = 0; i < island_count; ++i) {  // velocities along the new directions of the rows
    IslandWork& w = *works[size_t(i)];
    if (count_bilateral(w) == 0) continue;
    for (const int k : w.figures) {
      FigureData& f = *figures[size_t(k)];
      f.mechanics.set_pose(f.q.data());
      f.mechanics.set_motion(f.v.data());
    }
    for (const int k : w.connections) place_connection(figures, time, connections[size_t(k)]);
    solve_bilateral(w, true);
  }
  time = begin;
}

void World::Impl::back_to_start() {
  for (const std::unique_ptr<FigureData>& f : figures)
    f->q = f->q0, f->v = f->v0, f->actuators.activation = f->actuators.start;
}

/// Shortens the step so that it ends where the first contact begins, from outside.
double World::Impl::locate_touch(double h) {
  double free = 0, late = h;
  constexpr int kMost = 60;
  for (int i = 0; i < kMost && late - free > 1e-14 * (1 + time); ++i) {
    const double middle = 0.5 * (free + late);
    back_to_start();
    runge_kutta(middle, true);
    (smallest_gap(time + middle) < 0 ? late : free) = middle;
  }
  back_to_start();
  runge_kutta(late, true);
  return late;
}

World::AssemblyReport World::assemble(double tolerance, int max_iterations) {
  if (!(tolerance >= 0) || max_iterations < 0) {
    throw Error(fmt::format("World::assemble: the tolerance is {} and max_iterations {}, expected 0 or more", tolerance,
                            max_iterations));
  }
  Impl& w = *impl_;
  w.ledger.reset();
  w.wake_all();
  AssemblyReport out;
  const auto place = [&] {
    out.gap = out.angle = 0;
    for (int i = 0; i < w.island_count; ++i) w.largest_gap(*w.works[size_t(i)], w.time);
    for (const ConnectionData& c : w.connections) {
      if (!c.active) continue;
      out.gap = std::max(out.gap, c.position_gap);
      out.angle = std::max(out.angle, c.angle_gap);
    }
    for (const CouplingData& c : w.couplings)
      out.gap = std::max(out.gap, std::abs(c.value(*w.figures[size_t(c.figure)]).gap));
  };
  w.contacts.touches().clear();
  w.find_islands();
  place();
  const double size = w.mechanism_size();
  const auto closed = [&] { return std::max(out.gap / size, out.angle) <= std::max(tolerance, threshold::kClosedGap); };
  const auto iterate = [&] {
    for (; out.iterations < max_iterations && std::max(out.gap, out.angle) > tolerance; ++out.iterations) {
      for (int i = 0; i < w.island_count; ++i) w.newton_step(*w.works[size_t(i)]);
      const double before = std::max(out.gap, out.angle);
      place();
      if (out.iterations > 5 && std::max(out.gap, out.angle) > 0.99 * before && before < 1e-9) break;
    }
  };
  const bool inside = w.within_limits();
  const auto positions = [&] {
    std::vector<Eigen::VectorXd> q;
    for (const std::unique_ptr<FigureData>& f : w.figures) q.push_back(f->q);
    return q;
  };
  const auto go_to = [&](const std::vector<Eigen::VectorXd>& q) {
    for (size_t k = 0; k < q.size(); ++k) w.figures[k]->q = q[k];
    place();
  };
  const std::vector<Eigen::VectorXd> start = positions();
  iterate();
  if (!closed() || (inside && !w.within_limits())) {
    const std::vector<Eigen::VectorXd> reached = positions();
    const bool was_closed = closed();
    go_to(start);
    if (w.find_assembly())
      place();
    else if (was_closed)
      go_to(reached);  // beyond a limit, but closed
  }
  out.ok = closed();
  for (int i = 0; i < w.island_count; ++i) {
    IslandWork& work = *w.works[size_t(i)];
    if (w.count_bilateral(work) == 0) continue;
    for (const int k : work.figures) {
      FigureData& f = *w.figures[size_t(k)];
      f.mechanics.set_motion(f.v.data());
      f.mechanics.factorise(nullptr, f.torque.data());
    }
    for (int pass = 0; pass < 2; ++pass) {
      for (const int k : work.figures) w.figures[size_t(k)]->mechanics.set_motion(w.figures[size_t(k)]->v.data());
      w.solve_bilateral(work, true);
    }
    for (const int k : work.figures) w.figures[size_t(k)]->mechanics.set_motion(w.figures[size_t(k)]->v.data());
    out.rank_deficiency += work.rank_deficiency;
    out.velocity = std::max(out.velocity, work.inconsistency);
    for (const int k : work.connections) {
      ConnectionData& c = w.connections[size_t(k)];
      c.is_new = c.is_new && c.options.restitution != PerDirection{};  // what may rebound has not met yet
    }
  }
  return out;
}

/// A step towards closed gaps with M of the present posture; long ones in parts.
void World::Impl::newton_step(IslandWork& w) {
  if (count_bilateral(w) == 0) return;
  for (const int k : w.figures) {
    FigureData& f = *figures[size_t(k)];
    f.mechanics.set_motion(f.v.data());
    f.mechanics.factorise(nullptr, f.torque.data());
  }
  close_gaps(w, std::min(1.0, threshold::kLongestClosing / largest_gap(w, time)), kInfinity, false);
}

}  // namespace kansetsu
