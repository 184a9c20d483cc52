#include "sim/island_solver.h"

#include <algorithm>

namespace kansetsu {

void IslandSolver::settle(IslandWork& w, const StepPart& part) {
  const bool held = rows_.count_bilateral(w) > 0;
  bool factorised = w.is_large;  // found to be large before
  const auto solve_anew = [&] {
    const bool found = w.is_large;
    const auto factorise = [&](int i) { w.members[size_t(i)].get().factorise(part.h); };
    if (!found) {
      for (int i = 0; i < int(w.figures.size()); ++i) factorise(i);
    } else if (!factorised) {
      world_.for_each(int(w.figures.size()), factorise);
    }
    factorised = false;
    solve(w, part);
    return w.is_large == found;
  };
  w.settled = false;
  bool runs_away = false;
  for (int pass = 0; pass < threshold::kMostProductSolutions && !w.settled && !runs_away; ++pass) {
    if ((pass == 0 || !solve_again(w, part)) && !solve_anew()) return;
    ProductsState state = ProductsState::kSettled;
    for (FigureData& f : w.members) state = std::max(state, f.correct_products(part.h, held));
    w.settled = state == ProductsState::kSettled;
    runs_away = state == ProductsState::kRunAway;
  }
  if (!w.settled && part.shortest) {  // they run away: those of the beginning are taken
    for (FigureData& f : w.members) f.products.setZero();
    solve_anew();
  }
  find_shifts(w, world_.options, part.h);
}

/// Solves an island again after nothing but velocity products have changed: whatever follows from poses and velocities stays.
/// @return false if that is impossible, and nothing has happened
bool IslandSolver::solve_again(IslandWork& w, const StepPart& part) {
  const bool flies = w.row_count == 0;
  if (w.is_large || (!flies && w.island.is_sparse())) return false;
  for (size_t i = 0; i < w.members.size(); ++i) {
    FigureData& f = w.members[i];
    f.work_step = f.net;
    f.set_net(part.h);
    f.work_step = f.net - f.work_step;
    if (flies) {
      f.mechanics.add_drive(f.work_step.data());
      f.mechanics.free_acceleration(f.vdot.data());
    } else {
      w.island.add_drive(int(i), f.work_step.data());
    }
  }
  if (flies) return true;
  for (BoundedRow& row : w.bounded) row.last_force = w.result.force[size_t(row.row)];  // contacts begin with theirs too
  resolve_forces(w, part);
  return true;
}

/// Work of the springs of connections in the step, by the velocities with which work() counts.
void IslandSolver::account_springs(IslandWork& w, double h) {
  w.account.connection_springs = 0;
  int row = 0;
  for (const int i : w.connections) {
    const ConnectionData& c = world_.connections[size_t(i)];
    for_each_direction(c, [&](int k, int bit) {
      const int r = row++;
      if (!(c.soft >> bit & 1)) return;
      const double rate = w.island.u()[r] - c.velocity[k];
      const Give give = give_of(c, k, w.island.u()[r], h);
      const double change = -(w.island.force()[r] + give.force_now) / give.firmness;  // of the rate, per second
      const double stretch = 0.25 * h * h * c.options.compliance.stiffness[bit] * change;
      w.account.connection_springs -= h * (c.push[k] + stretch) * (rate + 0.5 * h * change);
    });
  }
}

void IslandSolver::solve_forces(IslandWork& w, Target target, const StepPart& part) {
  rows_.set_targets(w, target, part);
  const double left = w.island.hold_accelerations();
  w.account.inconsistency = std::max(w.account.inconsistency, left);
  if (w.island.others() > 0) {
    w.solver.solve_contact(w.contact_problem(part.h, norm(world_.options.gravity)), w.memories, w.result);
    w.account.residual = w.result.residual;
  }
  w.island.complete(w.result.force.data(), 1);
}

/// Whether rows turn so much within the step that following them takes a good part of the kinetic energy, or a multiple of it:
/// close to a posture in which rows depend on each other, or in a step that is too long for how fast such forces let things swing.
/// Then rows are held as they lie at the beginning. That only takes energy, and the gaps that it leaves are closed afterwards.
bool IslandSolver::turning_strains(const IslandWork& w, double h) const {
  const double fall = h * norm(world_.options.gravity);
  if (!(w.account.work.turned > 0.5 * w.mass() * fall * fall)) return false;  // no more than a step gives by itself
  return w.account.work.turned > threshold::kTurningShare * w.kinetic_energy();
}

void IslandSolver::resolve_forces(IslandWork& w, const StepPart& part) {
  const double h = part.h;
  solve_forces(w, Target::kStep, part);
  w.account.work = w.island.work(h);
  if (w.island.bilateral() > 0 && turning_strains(w, h)) {
    solve_forces(w, Target::kStepAcross, part);
    w.account.work = w.island.work(h);
  }
  w.account.driven_work = 0;
  for (int r = 0; r < w.island.bilateral(); ++r) w.account.driven_work += h * w.island.force()[r] * w.driven[size_t(r)];
  if (w.island.is_soft()) account_springs(w, h);
  w.account.rank_deficiency = w.island.bilateral() > 0 ? w.island.bilateral() - w.island.rank() : 0;
  const bool inequalities = w.island.others() > 0;
  for (size_t i = 0; i < w.figures.size(); ++i) {
    FigureData& f = w.members[i];
    f.vdot.setZero();
    w.island.respond(int(i), f.vdot.data());
  }
  int row = 0;
  for (const int i : w.connections) {
    world_.connections[size_t(i)].wrench = connection_wrench(world_.connections[size_t(i)], w.island.force() + row);
    row += world_.connections[size_t(i)].rows;
  }
  if (inequalities) reports_.write_forces(w, world_.contacts);
  w.account.surface_work = reports_.surface_work(w, world_.contacts, h);
  w.account.work.others += w.account.surface_work;  // rows move with the surface
  for (size_t k = 0; k < w.touches.size(); ++k) world_.contacts.touches()[size_t(w.touches[k])].memory = w.memories[k];
  if (inequalities) rows_.remember_bounds(w);
}

void IslandSolver::build(IslandWork& w, const RowCount& rows, Springs soft, double h) {
  w.island.begin(w.mechanics, rows.bilateral, rows.others, rows.alone);
  rows_.fill(w, soft, h);
  w.island.assemble();
}

void IslandSolver::solve(IslandWork& w, const StepPart& part) {
  const double h = part.h;
  const RowCount rows = rows_.count(w, h, 0.5 * h);
  w.row_count = rows.bilateral + rows.others;
  if (w.row_count == 0) {
    for (FigureData& f : w.members) f.mechanics.free_acceleration(f.vdot.data());
    return;
  }
  if (!w.is_large && large_.takes(w, rows)) {
    w.is_large = true;
    return;
  }
  if (w.is_large) return large_.solve(w, rows.others, h);
  build(w, rows, Springs::kAct, h);
  if (impacts_.approaches(w, h)) {
    if (w.island.is_soft()) build(w, rows, Springs::kRest, h);
    impacts_.resolve(w, h, 0.5 * h);
    for (FigureData& f : w.members) f.factorise(h);  // bias torques of the new velocities
    build(w, rows_.count(w, h, 0.5 * h), Springs::kAct, h);
  }
  resolve_forces(w, part);
}

}  // namespace kansetsu
