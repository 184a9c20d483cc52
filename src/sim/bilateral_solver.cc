#include "sim/bilateral_solver.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "sim/actuators.h"
#include "sim/energy.h"

namespace kansetsu {

double BilateralSolver::largest_gap(IslandWork& w, double t) {
  double worst = 0;
  size_t row = 0;
  const auto add = [&](double gap) {
    worst = std::max(worst, std::abs(gap - (row < w.leave.size() ? w.leave[row] : 0.0)));
    ++row;
  };
  for (FigureData& f : w.members) {
    f.mechanics.set_pose(f.q.data());
    if (f.actuators.actuation.tendon_count() > 0) place_actuators(f);
  }
  for (const int k : w.connections) {
    ConnectionData& c = world_.connections[size_t(k)];
    place_connection(world_.figures, t, c);
    for_each_direction(c, [&](int i, int bit) { c.soft >> bit & 1 ? void(++row) : add(c.phi[i]); });
  }
  row += size_t(rows_.count_held(w));
  for (const CouplingData& c : world_.couplings) {
    if (w.holds(c.figure)) add(c.value(world_.figure(c.figure)).gap);
  }
  return worst;
}

/// Moves the figures of an island so that the gaps of its rows close, along the shortest way in the metric of the factorised M.
/// @param share     of the gaps
/// @param furthest  that a coordinate may move [rad, m]: close to a singular posture small gaps ask for long ways
/// @param again     with the rows and the factor of the last call, if they are worth keeping
void BilateralSolver::move(IslandWork& w, const StepPart& part, double share, double furthest, bool again) {
  again = again && w.island.is_sparse();
  if (!again) {
    w.island.begin(w.mechanics, rows_.count_bilateral(w), 0);
    rows_.fill_bilateral(w, Springs::kRest, part.h);
  }
  rows_.set_targets(w, Target::kPosition, part);
  for (int k = 0; k < w.island.rows(); ++k) {
    const double leave = k < int(w.leave.size()) ? w.leave[size_t(k)] : 0.0;
    w.island.target()[k] = leave + (1 - share) * (w.island.u()[k] - leave);
  }
  if (!again) w.island.assemble();
  w.island.hold_velocities();
  w.island.complete(nullptr, 0);
  double far = 0;
  for (size_t k = 0; k < w.members.size(); ++k) {
    FigureData& f = w.members[k];
    f.work_step.setZero();
    w.island.respond(int(k), f.work_step.data());
    if (f.work_step.size() > 0) far = std::max(far, f.work_step.cwiseAbs().maxCoeff());
  }
  for (FigureData& f : w.members) {
    if (far > furthest) f.work_step *= furthest / far;
    integrate(f.model, f.q, f.work_step, f.q);
  }
}

/// The factor of the first correction serves the others if it has made the gaps far smaller.
void BilateralSolver::close_gaps(IslandWork& w, const StepPart& after) {
  using namespace threshold;
  if (w.connections.empty() && world_.couplings.empty()) return;
  double first = 0;
  for (int pass = 0; pass < kMostClosings; ++pass) {
    const double worst = largest_gap(w, after.begin);
    if (pass == 0) first = worst;
    if (worst < kTinyGap || rows_.count_bilateral(w) == 0 || (w.leave.empty() && worst > kLargeGap)) break;
    if (pass == 0) EnergyGuard::begin_correction(w);
    move(w, after, 1, kFurthestClosing, pass > 0 && worst < kSameFactor * first);
  }
}

void BilateralSolver::approach(IslandWork& w, const StepPart& part) {
  if (rows_.count_bilateral(w) == 0) return;
  for (FigureData& f : w.members) {
    f.mechanics.set_motion(f.v.data());
    f.mechanics.factorise(nullptr, f.torque.data());
  }
  move(w, part, std::min(1.0, threshold::kLongestClosing / largest_gap(w, part.begin)), kInfinity, false);
}

/// Writes and solves the rows; `drive` as in Island::complete().
void BilateralSolver::solve(IslandWork& w, const StepPart& part, Target target, double drive) {
  const int rows = rows_.count_bilateral(w);
  w.island.begin(w.mechanics, rows, 0);
  rows_.fill_bilateral(w, Springs::kRest, part.h);
  rows_.set_targets(w, target, part);
  w.island.assemble();
  const double left = drive == 0 ? w.island.hold_velocities() : w.island.hold_accelerations();
  w.account.inconsistency = std::max(w.account.inconsistency, left);
  w.account.rank_deficiency = rows - w.island.rank();
  w.island.complete(nullptr, drive);
}

void BilateralSolver::solve_velocities(IslandWork& w, const StepPart& part) {
  if (rows_.count_bilateral(w) == 0) return;
  solve(w, part, Target::kVelocity, 0);
  for (size_t k = 0; k < w.members.size(); ++k) w.island.respond(int(k), w.members[k].get().v.data());
}

void BilateralSolver::solve_accelerations(IslandWork& w, const StepPart& part) {
  w.power = 0;
  for (FigureData& f : w.members) f.vdot.setZero();
  if (rows_.count_bilateral(w) == 0) {
    for (FigureData& f : w.members) f.mechanics.free_acceleration(f.vdot.data());
    return;
  }
  solve(w, part, Target::kAcceleration, 1);
  for (size_t k = 0; k < w.members.size(); ++k) w.island.respond(int(k), w.members[k].get().vdot.data());
  for (int k = 0; k < w.island.rows(); ++k) w.power += w.island.force()[k] * w.island.u()[k];
  int row = 0;
  for (const int i : w.connections) {
    ConnectionData& c = world_.connections[size_t(i)];
    const double* rate = w.island.u() + row;
    double force[6] = {};
    std::copy_n(w.island.force() + row, c.rows, force);
    soft_forces(c, rate, force);
    c.wrench = connection_wrench(c, force);
    int next = 0;
    for_each_direction(c, [&](int k, int bit) {  // without what its springs store
      if (c.soft >> bit & 1) w.power += force[next] * rate[next] + c.push[k] * (rate[next] - c.velocity[k]);
      ++next;
    });
    row += c.rows;
  }
}

}  // namespace kansetsu
