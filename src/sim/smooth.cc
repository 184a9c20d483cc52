#include "sim/smooth.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "sim/actuators.h"
#include "sim/meeting.h"

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

/// Whether bilateral constraints are all there is: nothing touches that does not separate, no limit is near, no dry friction.
bool SmoothIntegrator::is_smooth(double h) {
  const WorldOptions& o = world_.options;
  world_.contacts.find(world_.figures, world_.time, o.contact_margin, o.contact.tol_gap, look_ahead(o, h));
  if (!all_separate(world_.contacts, o)) return false;
  forces_.place_actuators();
  IslandWork probe;
  for (size_t i = 0; i < world_.figures.size(); ++i) rows_.add_bounded(probe, int(i), h, 0);
  return probe.bounded.empty();
}

void SmoothIntegrator::evaluate(double t, double h) {
  for (const std::unique_ptr<FigureData>& f : world_.figures) f->set_mechanics();
  forces_.update_springs();
  forces_.update_medium();
  for (ConnectionData& c : world_.connections) {
    if (c.active) place_connection(world_.figures, t, c);
  }
  forces_.add_soft_connections();
  forces_.place_actuators();
  forces_.prepare(t, 0);
  for (IslandWork& w : islands_) {
    for (FigureData& f : w.members) f.mechanics.factorise(nullptr, f.tau.data());
    bilateral_.solve_accelerations(w, {t, h});
  }
}

/// One step of length h from the present state by the classical or the embedded method. Works are integrals of the powers at the
/// stages, by the weights of the method.
/// @return error estimate
double SmoothIntegrator::integrate(const StepPart& part, double h, bool embedded) {
  static constexpr double kHalf[4] = {0, 0.5, 0.5, 1};
  const int stages = embedded ? kStages : 4;
  const double* node = embedded ? kNode : kHalf;
  const double* weights = embedded ? kWeight[kStages - 1] : kClassical;
  for (const std::unique_ptr<FigureData>& f : world_.figures) f->begin_stages(stages), f->work_done = 0;
  for (IslandWork& w : islands_) w.account.work = {0, 0};
  for (int s = 0; s < stages; ++s) {
    for (const std::unique_ptr<FigureData>& f : world_.figures) {
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
    evaluate(part.begin + node[s] * h, part.h);
    for (const std::unique_ptr<FigureData>& f : world_.figures) {
      position_rate(f->model, f->q, f->v, f->rate_q[size_t(s)]);
      f->rate_v[size_t(s)] = f->vdot;
      activation_rates(f->actuators, f->actuators.rates[size_t(s)]);
      f->work_done += h * weights[s] * (f->tau - f->stored).dot(f->v);
    }
    for (IslandWork& w : islands_) w.account.work.bilateral += h * weights[s] * w.power;
  }
  double worst = 0;
  for (const std::unique_ptr<FigureData>& f : world_.figures) {
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

/// Gap of the vertex that is deepest at the present positions.
double SmoothIntegrator::smallest_gap(double t) {
  for (const std::unique_ptr<FigureData>& f : world_.figures) f->mechanics.set_pose(f->q.data());
  return world_.contacts.smallest_gap(world_.figures, t, world_.options.contact_margin);
}

void SmoothIntegrator::back_to_start() {
  for (const std::unique_ptr<FigureData>& f : world_.figures)
    f->q = f->q0, f->v = f->v0, f->actuators.activation = f->actuators.start;
}

/// Shortens the step so that it ends where the first contact begins, from outside.
double SmoothIntegrator::locate_touch(const StepPart& part, double h) {
  double free = 0, late = h;
  constexpr int kMost = 60;
  for (int i = 0; i < kMost && late - free > 1e-14 * (1 + part.begin); ++i) {
    const double middle = 0.5 * (free + late);
    back_to_start();
    integrate(part, middle, true);
    (smallest_gap(part.begin + middle) < 0 ? late : free) = middle;
  }
  back_to_start();
  integrate(part, late, true);
  return late;
}

/// Velocities along the new directions of the rows.
void SmoothIntegrator::correct_velocities(const StepPart& end) {
  for (IslandWork& w : islands_) {
    if (bilateral_.count(w) == 0) continue;
    for (FigureData& f : w.members) f.set_mechanics();
    for (const int k : w.connections) place_connection(world_.figures, end.begin, world_.connections[size_t(k)]);
    bilateral_.solve_velocities(w, end);
  }
}

std::optional<double> SmoothIntegrator::step(const StepPart& part) {
  for (const std::unique_ptr<FigureData>& f : world_.figures) f->set_mechanics();
  if (!is_smooth(part.h)) return std::nullopt;
  const bool adaptive = world_.options.integrator == Integrator::kAdaptive;
  const double meeting = time_to_touch(world_.contacts, world_.options.contact.tol_gap);
  if (!adaptive && meeting < part.h) return std::nullopt;
  const auto is_impulsive = [](const ConnectionData& c) { return c.active && c.is_new; };
  if (std::ranges::any_of(world_.connections, is_impulsive)) return std::nullopt;
  islands_.find(world_.figures, world_.connections, world_.contacts);

  double h = adaptive ? std::min(part.h, meeting) : part.h;
  if (adaptive) h = std::min(h, next_step > 0 ? next_step : h);
  constexpr double kSafety = 0.9, kShrink = 0.2, kGrow = 5;
  for (;;) {
    const double error = integrate(part, h, adaptive);
    if (!adaptive) break;
    const double factor =
        std::clamp(kSafety * std::pow(std::max(error / world_.options.tolerance, 1e-10), -0.2), kShrink, kGrow);
    next_step = h * factor;
    if (error <= world_.options.tolerance || h < 1e-9) break;
    back_to_start();
    h = next_step;
  }
  if (adaptive && smallest_gap(part.begin + h) < 0) h = locate_touch(part, h);
  for (const std::unique_ptr<FigureData>& f : world_.figures) f->effort = f->tau;
  forces_.finish(0);
  correct_velocities({part.begin + h, part.h});
  return h;
}

}  // namespace kansetsu
