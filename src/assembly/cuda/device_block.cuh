#pragma once

#include <cuda_runtime.h>

/// A block of threads and its warps, for the kernels of module assembly.
namespace kansetsu::cuda {

struct WarpLanes {
  static constexpr int kSize = 32;
  __device__ int rank() const { return int(threadIdx.x % 32); }
  __device__ void sync() const { __syncwarp(); }
};
struct DeviceBlock {
  WarpLanes lanes;
  __device__ int thread() const { return int(threadIdx.x); }
  __device__ int threads() const { return int(blockDim.x); }
  __device__ int warp() const { return int(threadIdx.x / 32); }
  __device__ int warps() const { return int(blockDim.x / 32); }
  __device__ void sync() const { __syncthreads(); }
};

}  // namespace kansetsu::cuda
