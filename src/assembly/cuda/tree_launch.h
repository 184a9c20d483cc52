#pragma once

#include <cuda_runtime_api.h>

#include "assembly/device_tree_kernel.h"

namespace kansetsu::cuda {

inline constexpr int kTreeThreads = 256;  ///< of a block: eight teams, which leaves each thread 255 registers

/// Data of the kernel. State and result are in the device's memory.
struct TreeArguments {
  TreeProblem tree;
  const double *q, *v, *tau;
  double* vdot;
  double* posts[2];  ///< of odd and even launches
  std::byte* far;    ///< memory of all blocks, where a block's own is too small; or none
  int entries;       ///< capacity of a block
  int bytes;         ///< of a block
  long long* notes;  ///< clock at the start and after each phase, 1 + kTreePhases; or none
};

/// Memory of a block: entries, then numbers, which replace the carries.
int tree_bytes(int entries, int carries, int numbers);
/// Blocks that wait for each other are on the device at once. @param shared_bytes  0: the memory is `far`
cudaError_t prepare_tree(int shared_bytes);
cudaError_t launch_tree(const TreeArguments& arguments, bool odd, int blocks, cudaStream_t stream);

}  // namespace kansetsu::cuda
