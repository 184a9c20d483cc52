#define KANSETSU_ISA baseline
#include <cuda_runtime.h>

#include "assembly/cuda/device_block.cuh"
#include "assembly/cuda/tree_launch.h"

namespace kansetsu::cuda {
namespace {

/// All blocks of a launch. They meet at a counter that only grows, so that no launch has to reset it.
struct DeviceGrid {
  DeviceBlock block;
  double* rooms;
  unsigned long long* arrivals;
  mutable unsigned long long expected;  ///< arrivals when all have come to the meeting before the next one

  __device__ int index() const { return int(blockIdx.x); }
  __device__ int count() const { return int(gridDim.x); }
  __device__ double* room() const { return rooms + kTreeRoom * block.warp(); }
  __device__ void sync() const {
    expected += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrivals, 1ull);
      unsigned long long seen;
      do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(arrivals) : "memory");
      } while (seen < expected);
      __threadfence();
    }
    __syncthreads();
  }
};

__global__ void __launch_bounds__(kTreeThreads, 1)
    solve_one_tree(const __grid_constant__ TreeArguments a, unsigned long long arrived) {
  __shared__ double rooms[kTreeRoom * kTreeThreads / 32];
  const DeviceGrid grid{{}, rooms, a.arrivals, arrived};
  kernel::solve_tree(grid, a.tree, a.q, a.v, a.tau, a.vdot);
}

}  // namespace

/// As many as solve_tree has: one for a free base, before each round of the scan, after it, after the loads, after each shared
/// level on the way up, before each on the way down, and before the result.
int tree_meetings(const TreeProblem& tree) { return (tree.free_base ? 1 : 0) + tree.rounds + 2 * tree.narrow + 3; }

cudaError_t launch_tree(const TreeArguments& arguments, unsigned long long arrived, int blocks, cudaStream_t stream) {
  void* values[] = {const_cast<TreeArguments*>(&arguments), &arrived};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(solve_one_tree), dim3(static_cast<unsigned>(blocks)),
                                     dim3(kTreeThreads), values, 0, stream);
}

}  // namespace kansetsu::cuda
