#pragma once

#include <cstddef>

#include "kansetsu/base/owner.h"
#include "kansetsu/ik/task.h"

/// The pose of one frame on a serial arm: microseconds, for one target or for millions.
///
///     ik::ArmSolver arm(model, ik::frame_on(model, "tool0"));
///     const ik::ArmReport report = arm.solve(X_WT, q);          // q: start in, solution out
///     arm.solve(count, targets, starts, solutions, reports);    // packs and threads
namespace kansetsu::ik {

struct ArmOptions {
  bool limits = true;
  double position = 1e-9, rotation = 1e-9;  ///< a target is met within these [m, rad]
  int starts = 100;  ///< starting points, the given one first, then an even spread over the limits
  int threads = 1;   ///< for many targets; 0: as many as there are cores
};

struct ArmReport {
  bool solved = false;
  double position = 0, rotation = 0;  ///< errors left [m, rad]; infinite for a target that is not finite
  int iterations = 0, starts = 0;     ///< of all starting points
};

/// Up to 8 hinges and slides, none of them geared, on a fixed base. One call at a time.
class ArmSolver {
 public:
  /// Throws Error if problem() returns a reason.
  ArmSolver(const Model& model, const FrameOn& frame, const ArmOptions& options = {});

  /// Why this frame is not carried by such an arm; none if it is. Solver supports all others.
  static std::optional<std::string> problem(const Model& model, const FrameOn& frame);

  /// @param q  nq: the start in; the solution, or the nearest configuration found, out; other joints do not change
  ArmReport solve(const Transform<>& X_WF, Eigen::Ref<Eigen::VectorXd> q);

  /// Many targets. A target's result depends only on itself and its start, and is the same as that of the form for one.
  /// @param X_WF  12 per target: R row by row, p   @param q  nq per target: starts in, solutions out
  void solve(std::ptrdiff_t count, const double* X_WF, double* q, ArmReport* reports);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu::ik
