#pragma once

#include "sim/bilateral_solver.h"
#include "sim/islands.h"

namespace kansetsu {

/// Closes loops: positions and velocities with which all connections and couplings hold. First Newton's method from the present
/// posture, which moves least in the metric of M; if it ends open or beyond limits of joints, damped least squares (Levenberg,
/// Marquardt) within the limits, from the present posture and from random ones.
class Assembler {
 public:
  Assembler(WorldState& world, Islands& islands, BilateralSolver& bilateral)
      : world_(world), islands_(islands), bilateral_(bilateral) {}

  World::AssemblyReport assemble(double tolerance, int max_iterations);

 private:
  void measure(World::AssemblyReport& out);
  void iterate(double tolerance, int max_iterations, World::AssemblyReport& out);
  void correct_velocities(World::AssemblyReport& out);
  bool within_limits() const;

  WorldState& world_;
  Islands& islands_;
  BilateralSolver& bilateral_;
};

/// Across the links that connections hold [m].
double mechanism_size(const WorldState& world);

}  // namespace kansetsu
