#pragma once

#include <cuda_runtime_api.h>

#include "assembly/device_tree_kernel.h"

namespace kansetsu::cuda {

inline constexpr int kTreeThreads = 256;  ///< of a block: eight teams, which leaves each thread 255 registers

/// What the kernel works on. The state and the result are in the device's memory.
struct TreeArguments {
  TreeProblem tree;
  const double *q, *v, *tau;
  double* vdot;
  unsigned long long* arrivals;  ///< blocks that have come to a meeting, over all launches
};

/// Meetings of all blocks in one launch.
int tree_meetings(const TreeProblem& tree);
/// @param arrived  what `arrivals` holds before the launch
cudaError_t launch_tree(const TreeArguments& arguments, unsigned long long arrived, int blocks, cudaStream_t stream);

}  // namespace kansetsu::cuda
