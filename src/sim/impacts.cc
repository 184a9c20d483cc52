#include "sim/impacts.h"

#include <algorithm>
#include <cmath>

namespace kansetsu {

bool ImpactSolver::approaches(IslandWork& w, double h) const {
  const double* u = w.island.u() + w.island.bilateral();
  const ContactOptions& o = world_.options.contact;
  const double rest = o.end_of_step ? o.rest_speed(norm(world_.options.gravity), h) : 0;
  const double slow = std::max(rest, o.v_impact);
  const bool automatic = o.end_of_step && o.v_rest < 0;  // a v_rest that is set decides alone
  const double soft = automatic ? std::max(slow, threshold::kSoftLanding * norm(world_.options.gravity) * h) : slow;
  for (size_t i = 0; i < w.patches.size(); ++i) {
    const ContactPatch& p = w.patches[i];
    if (!world_.contacts.touches()[size_t(w.touches[i])].is_new) continue;
    const double* s = u + p.row;
    const double fastest = p.restitution > 0 ? slow : soft;
    for (int k = 0; k < p.vertex_count; ++k) {
      const ContactVertex& x = p.vertices[size_t(k)];
      const double turn = p.row_count == 6 ? s[3] * x.y - s[4] * x.x : 0;
      if (x.gap <= o.tol_gap && s[2] + turn < -fastest) return true;
    }
  }
  return false;
}

/// A new contact is met after half of the step's acceleration, so that a ball rebounds with the energy that it came with.
void ImpactSolver::add_approach(IslandWork& w, double after) {
  double *u = w.island.u() + w.island.bilateral(), *a = w.island.a() + w.island.bilateral();
  for (size_t i = 0; i < w.patches.size(); ++i) {
    if (!world_.contacts.touches()[size_t(w.touches[i])].is_new) continue;
    for (int r = w.patches[i].row; r < w.patches[i].row + w.patches[i].row_count; ++r) u[r] += after * a[r];
  }
}

/// Change of energy by the impulses of an impact. Forces of the first half of the step have acted on all rows by then, also on
/// those that were held before, whose velocities do not show it.
double ImpactSolver::impact_change(IslandWork& w, double after) {
  double sum = w.island.impulse_energy();
  const int held = w.island.bilateral();
  const double *a = w.island.a(), *force = w.island.force();
  for (int r = 0; r < held; ++r) sum += after * force[r] * (a[r] - w.island.drift(r));
  for (const BoundedRow& b : w.bounded) sum += after * force[held + b.row] * a[held + b.row];
  for (size_t i = 0; i < w.patches.size(); ++i) {
    if (world_.contacts.touches()[size_t(w.touches[i])].is_new) continue;  // add_approach() counts it
    for (int r = w.patches[i].row; r < w.patches[i].row + w.patches[i].row_count; ++r)
      sum += after * force[held + r] * a[held + r];
  }
  return sum;
}

/// Impulses of an impact in which connections rebound with this share of their restitutions.
/// @return energy that it gives, without the work of prescribed motions
double ImpactSolver::rebound(IslandWork& w, double h, double share) {
  w.rebound_share = share;
  rows_.set_targets(w, Target::kImpact, {world_.time, h});
  w.account.inconsistency = std::max(w.account.inconsistency, w.island.hold_velocities());
  w.solver.solve_impact(w.contact_problem(h, norm(world_.options.gravity)), w.result);
  w.island.complete(w.result.force.data(), 0);
  double energy = w.island.impulse_energy();
  const double* force = w.island.force();
  for (const int i : w.connections) {
    const ConnectionData& c = world_.connections[size_t(i)];
    for_each_direction(c, [&](int k, int) { energy -= *force++ * c.velocity[k]; });
  }
  return energy;
}

/// Coupled directions that rebound each with its own restitution may gain energy ([NY00] (15), erratum B6): then all of them
/// rebound less. With E the energy at no restitution, E + s²·(…) is that at a share s of it.
void ImpactSolver::resolve(IslandWork& w, double h, double after) {
  add_approach(w, after);
  const auto may_rebound = [&](int i) {
    const ConnectionData& c = world_.connections[size_t(i)];
    return c.is_new && c.options.restitution != PerDirection{};
  };
  const double gained = rebound(w, h, 1);
  if (gained > 0 && std::ranges::any_of(w.connections, may_rebound)) {
    const double rounding = threshold::kReboundRounding;
    const double lost = rebound(w, h, 0);
    double share = 1, now = gained;
    for (int pass = 0; now > -rounding * lost && pass < threshold::kMostRebounds && lost < 0; ++pass) {
      share *= std::sqrt(lost / (lost - now));
      now = rebound(w, h, share);
    }
    if (now > -rounding * lost) rebound(w, h, 0);
  }
  add_impulses(w, h, after);
  w.account.impact = true;
  w.account.impact_energy += impact_change(w, after);
  int row = 0;
  for (const int i : w.connections) {
    ConnectionData& c = world_.connections[size_t(i)];
    c.impulse = c.struck = connection_wrench(c, w.island.force() + row);
    if (may_rebound(i) && w.rebound_share > 0) {
      double speed[6];
      int next = 0;
      for_each_direction(c, [&](int k, int) { speed[next] = w.island.u()[row + next] - c.velocity[k], ++next; });
      let_rebound(c, speed, world_.options.contact.rest_speed(norm(world_.options.gravity), h));
    }
    c.is_new = false;
    row += c.rows;
  }
  reports_.write_impulses(w, world_.contacts);
  for (const int i : w.touches) world_.contacts.touches()[size_t(i)].is_new = false;
}

/// Velocities after an impact, which takes energy; half of the step's acceleration counts as if bodies had come faster. Close to a
/// posture in which rows depend on each other impulses may be so large that digits are lost: then all velocities are cut by one
/// factor. If no digits are left, contacts get no impulse, and the forces of the step stop what they would have stopped;
/// connections alone are a projection.
void ImpactSolver::add_impulses(IslandWork& w, double h, double after) {
  const double before = w.kinetic_energy();
  for (FigureData& f : w.members) {
    f.begin_impact(after);
    f.work_step = f.v;
  }
  const auto respond = [&] {
    for (size_t i = 0; i < w.figures.size(); ++i) {
      FigureData& f = w.members[i];
      f.v = f.work_step;
      w.island.respond(int(i), f.v.data());
    }
  };
  respond();
  Island::Work given = prescribed_work(w);
  const double now = w.kinetic_energy();
  const double allowed =
      now <= before ? now : half_way_energy(w, before) + std::max(given.bilateral + given.others, 0.0);
  if (!(now <= threshold::kLostImpact * allowed)) {
    std::ranges::fill(w.result.force, 0.0);
    for (PatchReport& p : w.result.patches) p = {};
    w.island.complete(w.result.force.data(), 0);
    respond();
    given = prescribed_work(w);
  } else if (now > allowed) {
    for (FigureData& f : w.members) f.v *= std::sqrt(allowed / now);
  }
  w.account.impact_given.bilateral += given.bilateral, w.account.impact_given.others += given.others;
  for (FigureData& f : w.members) f.finish_impact(h, f.work_step);
}

/// The larger of the kinetic energy before an impact and what half of the step makes of it by all forces.
/// @param before  kinetic energy; velocities before are in work_step
double ImpactSolver::half_way_energy(IslandWork& w, double before) {
  double half_way = 0;
  for (FigureData& f : w.members) {
    f.effort = f.work_step + f.first_kick;
    half_way += f.energy_of(f.q, f.effort).kinetic;
  }
  return std::max(before, half_way);
}

/// Work of the impulses of an impact along prescribed motions of connections and surfaces: a bat, a platform.
Island::Work ImpactSolver::prescribed_work(const IslandWork& w) const {
  Island::Work sum{0, 0};
  const double* force = w.island.force();
  for (const int i : w.connections) {
    const ConnectionData& c = world_.connections[size_t(i)];
    for_each_direction(c, [&](int k, int) { sum.bilateral += *force++ * c.velocity[k]; });
  }
  for (size_t k = 0; k < w.touches.size(); ++k) {
    const Touch& t = world_.contacts.touches()[size_t(w.touches[k])];
    sum.others += surface_power(t, contact_wrench(t, w.result.patches[k].wrench));
  }
  return sum;
}

}  // namespace kansetsu
