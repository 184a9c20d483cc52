#pragma once

#include "sim/island_work.h"
#include "sim/world_state.h"

namespace kansetsu {

/// No energy from nowhere: what a step gives to an island is bounded by the work that its laws allow, however it was solved.
class EnergyGuard {
 public:
  explicit EnergyGuard(const WorldState& world) : world_(world) {}

  /// Whether a figure moves so far in a step of length h that its energy and its gaps are looked at.
  static bool is_far(const IslandWork& w, double h);

  /// Energy that a step gives beyond all work, and as much of it as its errors may be [J].
  struct Gain {
    double found = 0, allowed = 0;
    bool is_excess() const { return found > allowed; }
  };
  /// Looked at if a figure moves far in the step or contacts are not solved: elsewhere the law itself keeps the bound.
  Gain gain(IslandWork& w, double h) const;
  /// Takes what a step has given beyond its errors.
  void take_away(IslandWork& w, double h) const;

  /// Before positions are corrected: velocities stay as they are, but in another posture they may mean more energy.
  static void begin_correction(IslandWork& w);
  /// After positions have been corrected: the kinetic energy is no larger than before.
  void end_correction(const IslandWork& w) const;

 private:
  double slow_down(const IslandWork& w, double energy, double kinetic) const;

  const WorldState& world_;
};

}  // namespace kansetsu
