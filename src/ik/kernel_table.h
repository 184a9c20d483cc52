#pragma once

#include "ik/arm_view.h"
#include "kansetsu/base/cpu.h"

/// Entry points of the kernels of one instruction set, for one target at a time or for packs of them.
namespace kansetsu::ik {

struct ArmTask {
  const double* target;  ///< R row by row, p: pose of the frame in the world
  double* start;         ///< n tree coordinates of the start; then the nearest found so far, until the target is met
  double* solution;      ///< n tree coordinates
  // results
  double rotation = 0, position = 0;  ///< errors left [rad, m]
  int iterations = 0, starts = 0;     ///< starts: used so far
  bool solved = false;
  // the kernel's own
  double nearest2 = 1e300;  ///< squared error of the nearest
  ArmTask* next = nullptr;  ///< to be worked on
};

struct ArmLimits {
  double rotation = 1e-9, position = 1e-9;  ///< a target is met within these [rad, m]
  int starts = 100;
  // measured on 10 000 targets each of Panda, UR5 and iiwa: the solve rate and the mean time are flat around these
  int iterations_per_start = 40;
  int patience = 5;           ///< every so many iterations …
  double progress = 0.5;      ///< … the squared error must have shrunk by this factor
  int settling = 300;         ///< iterations for a target that was not met …
  double settled = 1 - 1e-9;  ///< … or until the squared error no longer shrinks by this factor, as above
  double damping = 0.2;
  double largest_step = 1;  ///< of a joint in one iteration [rad, m]
  double coarse = 3e-5;     ///< from here on in double precision [rad, parts of the arm's extent or of a metre]
};

struct ArmKernels {
  int width;
  /// Solves all tasks; lanes take them in turn. Nothing depends on a task's neighbours.
  void (*solve)(const ArmView&, ArmTask* tasks, int count, const ArmLimits&);
};

const ArmKernels& arm_kernels();
const ArmKernels& arm_pack_kernels();

}  // namespace kansetsu::ik
