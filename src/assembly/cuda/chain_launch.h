#pragma once

#include <cuda_runtime_api.h>

#include "assembly/chain_kernel.h"
#include "assembly/cuda/watched.h"

namespace kansetsu::cuda {

/// Data of the kernel: chains one after the other. State and result are in mapped memory of the host.
struct ChainArguments {
  ChainView chain;
  int nq, nv, most_links;
  const double *q, *v, *tau;
  double* vdot;
  double* rank;      ///< of rings
  double* posts[2];  ///< of even and odd launches, for all chains; a launch leaves those of the other kind pending
};

/// Numbers of shared memory that a block needs for its piece, and with copies of the constants of its links.
int chain_memory(const ChainView& chain, int most_links, int threads, bool with_links);

/// How chains are launched.
struct ChainLaunch {
  int blocks, threads, shared_bytes;
  bool with_links;  ///< there is room for the constants
  bool ring;
};
cudaError_t prepare_chains(const ChainLaunch& launch);
/// @param odd  the launch is of another kind than the one before
cudaError_t launch_chains(const ChainArguments& arguments, bool odd, const ChainLaunch& launch, cudaStream_t stream);

}  // namespace kansetsu::cuda
