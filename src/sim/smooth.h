#pragma once

#include <optional>

#include "sim/bilateral_solver.h"
#include "sim/forces.h"
#include "sim/islands.h"
#include "sim/rows.h"

namespace kansetsu {

/// Runge–Kutta integrators for what is smooth: no contact, no limit, only bilateral constraints. Positions are integrated as
/// stored numbers (quaternions included) and normalised, which keeps the order of the method.
class SmoothIntegrator {
 public:
  SmoothIntegrator(WorldState& world, Islands& islands, const RowBuilder& rows, AppliedForces& forces,
                   BilateralSolver& bilateral)
      : world_(world), islands_(islands), rows_(rows), forces_(forces), bilateral_(bilateral) {}

  /// Takes a step of at most part.h: as long as the error allows and until the first contact, if it is adaptive.
  /// @return how long it is [s]; none if the motion is not smooth, and nothing has happened
  std::optional<double> step(const StepPart& part);
  /// v̇ of all figures of the islands at their present q and v and time t.
  void evaluate(double t, double h);

  double next_step = 0;  ///< of the adaptive integrator [s]; 0: not known

 private:
  bool is_smooth(double h);
  double integrate(const StepPart& part, double h, bool embedded);
  double locate_touch(const StepPart& part, double h);
  double smallest_gap(double t);
  void back_to_start();
  void correct_velocities(const StepPart& end);

  WorldState& world_;
  Islands& islands_;
  const RowBuilder& rows_;
  AppliedForces& forces_;
  BilateralSolver& bilateral_;
};

}  // namespace kansetsu
