#define KANSETSU_ISA baseline
#include <cuda_runtime.h>
#include <cstdlib>

#include "assembly/chain_kernel.h"
#include "assembly/cuda/chain_launch.h"

namespace kansetsu::cuda {
namespace {

struct WarpLanes {
  static constexpr int kSize = 32;
  __device__ int rank() const { return int(threadIdx.x & 31); }
  __device__ void sync() const { __syncwarp(); }
};
struct DeviceBlock {
  WarpLanes lanes;
  __device__ int thread() const { return int(threadIdx.x); }
  __device__ int threads() const { return int(blockDim.x); }
  __device__ int warp() const { return int(threadIdx.x >> 5); }
  __device__ int warps() const { return int(blockDim.x >> 5); }
  __device__ void sync() const { __syncthreads(); }
};

/// Posts of one chain.
struct DeviceMail {
  ChainPost* posts;
  unsigned epoch;

  __device__ void post(const DeviceBlock& block, int at, const double* numbers, int count) const {
    for (int k = block.thread(); k < count; k += block.threads()) {
      const double x = numbers[k];
      asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(posts + at + k), "r"(__double2loint(x)),
                   "r"(epoch), "r"(__double2hiint(x))
                   : "memory");
    }
  }
  /// Four at a time are under way.
  __device__ void take(const DeviceBlock& block, int at, double* numbers, int count) const {
    constexpr int kAtOnce = 4;
    for (int begin = block.thread(); begin < count; begin += kAtOnce * block.threads()) {
      ChainPost got[kAtOnce];
      bool missing;
      do {
        missing = false;
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          const int i = begin + k * block.threads();
          if (i < count) got[k] = read(posts + at + i);
        }
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          const int i = begin + k * block.threads();
          if (i < count && (got[k].low_epoch != epoch || got[k].high_epoch != epoch)) missing = true;
        }
      } while (missing);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int i = begin + k * block.threads();
        if (i < count) numbers[i] = __hiloint2double(int(got[k].high), int(got[k].low));
      }
    }
  }

 private:
  static __device__ ChainPost read(const ChainPost* from) {
    ChainPost p;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p.low), "=r"(p.low_epoch), "=r"(p.high), "=r"(p.high_epoch)
                 : "l"(from)
                 : "memory");
    return p;
  }
};

__global__ void __launch_bounds__(512, 1) solve_chains(const __grid_constant__ ChainArguments a, unsigned epoch) {
  extern __shared__ __align__(16) double memory[];
  const DeviceBlock block;
  const ChainView& chain = a.chain;
  const long row = long(blockIdx.x) / chain.pieces;
  const int piece = int(blockIdx.x) % chain.pieces;
  const DeviceMail mail{a.posts + row * chain.posts(), epoch};
  ChainPiece p;
  carve_chain_piece(chain, a.most_links, block.warps(), memory, p);
  kernel::place_chain(block, chain, piece, a.q + row * a.nq, a.v + row * a.nv, a.tau + row * a.nv, p, mail);
  kernel::reduce_chain(block, chain, piece, p, mail);
  kernel::gather_chain(block, chain, piece, p, mail);
  kernel::finish_chain(block, chain, piece, p, mail, a.vdot + row * a.nv);
}

}  // namespace

cudaError_t prepare_chains(int shared_bytes) {
  return cudaFuncSetAttribute(solve_chains, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
}

cudaError_t launch_chains(const ChainArguments& arguments, unsigned epoch, int blocks, int threads, int shared_bytes,
                          cudaStream_t stream) {
  static const bool plain = getenv("PLAIN") != nullptr;
  if (arguments.chain.pieces == 1 || plain) {
    solve_chains<<<unsigned(blocks), unsigned(threads), size_t(shared_bytes), stream>>>(arguments, epoch);
    return cudaGetLastError();
  }
  void* values[] = {const_cast<ChainArguments*>(&arguments), &epoch};  // blocks wait for each other: all must be there
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(solve_chains), dim3(unsigned(blocks)),
                                     dim3(unsigned(threads)), values, size_t(shared_bytes), stream);
}

}  // namespace kansetsu::cuda
