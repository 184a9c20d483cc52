#pragma once

#include "sim/world_state.h"

namespace kansetsu {

/// All that acts on figures besides the forces of rows: torques set by the user, springs, dampers, the medium, controllers and
/// actuators. The result is FigureData::tau, and `extra` and `stored` for implicit parts.
class AppliedForces {
 public:
  explicit AppliedForces(WorldState& world) : world_(world) {}

  void place_actuators();
  bool has_springs() const;  ///< between points, or of connections
  /// Springs between points, at the present poses and velocities.
  void update_springs();
  /// Springs of connections, for integrators that do not take them as implicit rows. Connections are placed.
  void add_soft_connections();
  void update_medium();

  /// Torques of a step of length h that begins at t.
  void prepare(double t, double h);
  /// Lets controllers and actuators act without their limits, as at the beginning of a part of a step.
  void release_limits();
  /// After a solution with the torques of prepare(): whether one came out above its limit. In the next solution it is cut there.
  bool exceed_limits(double t, double h);
  /// Reports what actuators did; their activations advance by h.
  void finish(double h);

 private:
  void add_passive(FigureData& f, double h);
  void add_adhesion(int figure);

  WorldState& world_;
};

}  // namespace kansetsu
