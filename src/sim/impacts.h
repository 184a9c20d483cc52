#pragma once

#include "sim/reports.h"
#include "sim/rows.h"

namespace kansetsu {

/// Impulses of an island where contacts begin or connections are made.
class ImpactSolver {
 public:
  ImpactSolver(WorldState& world, const RowBuilder& rows, Reports& reports)
      : world_(world), rows_(rows), reports_(reports) {}

  /// Whether a vertex begins to touch so fast that it is an impact. A slower one that would not bounce is stopped by the forces of
  /// the step; so is one that does not bounce at any speed, as long as that force stays below kSoftLanding weights.
  bool approaches(IslandWork& w, double h) const;
  /// Solves the impact of an island whose rows are written, and changes velocities.
  /// @param after  how long forces have acted in the step when it comes [s]
  void resolve(IslandWork& w, double h, double after);

 private:
  void add_approach(IslandWork& w, double after);
  double impact_change(IslandWork& w, double after);
  double rebound(IslandWork& w, double h, double share);
  void add_impulses(IslandWork& w, double h, double after);
  double half_way_energy(IslandWork& w, double before);
  Island::Work prescribed_work(const IslandWork& w) const;

  WorldState& world_;
  const RowBuilder& rows_;
  Reports& reports_;
};

}  // namespace kansetsu
