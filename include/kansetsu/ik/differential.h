#pragma once

#include "kansetsu/base/owner.h"
#include "kansetsu/ik/solver.h"

/// One step of control: the velocity q̇ that is best for the tasks, by a quadratic program, for loops of 1 kHz and more.
namespace kansetsu::ik {

struct StepOptions {
  double gain = 1;        ///< part of each error to remove within dt; 1: all of it
  double damping = 1e-6;  ///< on q̇², relative to the rows; more is smoother near singularities
  bool position_limits = true, velocity_limits = true;
  double clearance_gain = 1;  ///< a clearance may shrink by at most this part of its margin per dt
};

struct StepReport {
  enum class Status { kSolved, kLimitsActive, kInfeasible } status = Status::kSolved;
  int changes = 0;  ///< of the active set
};

/// Tasks and priorities as for Solver. Never allocates after construction.
class Differential {
 public:
  Differential(const Model& model, Problem problem, StepOptions options = {});

  Problem& problem();
  /// Velocity of a task's target, in the units and axes of its rows; zero until set.
  void set_feed_forward(int item, const VectorRef& rate);

  /// @param dt  [s], in which position limits must not be crossed   @param v  out, nv
  StepReport step(const VectorRef& q, double dt, Eigen::Ref<Eigen::VectorXd> v);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu::ik
