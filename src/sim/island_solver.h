#pragma once

#include "sim/impacts.h"
#include "sim/large.h"
#include "sim/positions.h"

namespace kansetsu {

/// Accelerations of the figures of an island: impact, forces of contacts and rows, way out of penetrations.
class IslandSolver {
 public:
  IslandSolver(WorldState& world, const RowBuilder& rows, ImpactSolver& impacts, Reports& reports)
      : world_(world), rows_(rows), impacts_(impacts), reports_(reports), large_(world, rows, reports) {}

  /// Solves an island until its velocity products are those of the velocities that come out. An island that is found to be large
  /// (IslandWork::is_large) is left unsolved: large ones follow one by one, each on all threads.
  void settle(IslandWork& w, const StepPart& part);
  /// Writes all rows and their responses.
  void build(IslandWork& w, const RowCount& rows, Springs soft, double h);

 private:
  bool solve_again(IslandWork& w, const StepPart& part);
  void solve(IslandWork& w, const StepPart& part);
  void solve_forces(IslandWork& w, Target target, const StepPart& part);
  void resolve_forces(IslandWork& w, const StepPart& part);
  bool turning_strains(const IslandWork& w, double h) const;
  void account_springs(IslandWork& w, double h);

  WorldState& world_;
  const RowBuilder& rows_;
  ImpactSolver& impacts_;
  Reports& reports_;
  LargeIslandSolver large_;
};

}  // namespace kansetsu
