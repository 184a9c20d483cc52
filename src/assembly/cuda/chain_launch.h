#pragma once

#include <cuda_runtime_api.h>

#include "assembly/chain_kernel.h"

namespace kansetsu::cuda {

/// A number that blocks send each other: both halves carry the number of the launch, so that the reader sees for itself when it
/// has come. No fence, no flag beside it: one way through the cache and back.
struct alignas(16) ChainPost {
  unsigned low, low_epoch, high, high_epoch;
};

/// What the kernel works on: chains one after the other. The state and the result are in the host's memory, mapped.
struct ChainArguments {
  ChainView chain;
  int nq, nv, most_links;
  const double *q, *v, *tau;
  double* vdot;
  ChainPost* posts;
};

cudaError_t prepare_chains(int shared_bytes);
/// @param epoch  of the launch; never that of the launch before, nor 0
cudaError_t launch_chains(const ChainArguments& arguments, unsigned epoch, int blocks, int threads, int shared_bytes,
                          cudaStream_t stream);

}  // namespace kansetsu::cuda
