#pragma once

#include "sim/rows.h"

namespace kansetsu {

class EnergyGuard;

/// Bilateral rows by themselves: the positions, velocities or accelerations with which connections, couplings and held motions
/// hold. Used after every step, between the stages of smooth steps, and to assemble loops.
class BilateralSolver {
 public:
  BilateralSolver(WorldState& world, const RowBuilder& rows) : world_(world), rows_(rows) {}

  int count(const IslandWork& w) const { return rows_.count_bilateral(w); }
  /// Largest gap of an island's rows at time t at q, less what the step is to leave of it. Sets poses, places connections.
  double largest_gap(IslandWork& w, double t);
  /// Closes gaps after the step that made them; of those that were large before, what the step has added beyond its target.
  /// @param after  begins where the step has ended
  void close_gaps(IslandWork& w, const StepPart& after);
  /// A step of Newton's method towards closed gaps, in the metric of M at q.
  void approach(IslandWork& w, const StepPart& part);

  /// v̇ of all figures of the island, with the drives of their factorised mechanics.
  void solve_accelerations(IslandWork& w, const StepPart& part);
  /// Corrects velocities to those that the rows prescribe.
  void solve_velocities(IslandWork& w, const StepPart& part);

 private:
  void move(IslandWork& w, const StepPart& part, double share, double furthest, bool again);
  void solve(IslandWork& w, const StepPart& part, Target target, double drive);

  WorldState& world_;
  const RowBuilder& rows_;
};

}  // namespace kansetsu
