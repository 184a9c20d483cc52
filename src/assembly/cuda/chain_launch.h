#pragma once

#include <cuda_runtime_api.h>

#include "assembly/chain_kernel.h"

namespace kansetsu::cuda {

/// What the kernel works on: chains one after the other. The state and the result are in the host's memory, mapped.
struct ChainArguments {
  ChainView chain;
  int nq, nv, most_links;
  const double *q, *v, *tau;
  double* vdot;
  double *q_device, *v_device, *tau_device;
  ChainCarry* totals;            ///< per piece
  double *clusters, *h, *n, *s;  ///< per piece kChainOut, 5, 5 (and one more); per link 6
  unsigned* counters;            ///< per chain
};

cudaError_t prepare_chains(int shared_bytes);
cudaError_t launch_chains(const ChainArguments& arguments, unsigned epoch, int blocks, int threads, int shared_bytes,
                          cudaStream_t stream);

}  // namespace kansetsu::cuda
