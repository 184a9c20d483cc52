#define KANSETSU_ISA baseline
#include <cuda_runtime.h>

#include "assembly/chain_kernel.h"
#include "assembly/cuda/chain_launch.h"
#include "assembly/cuda/device_block.cuh"

namespace kansetsu::cuda {
namespace {

/// Posts of one chain. A number that has not arrived is kPending: no fence and no flag, one trip through the cache and
/// back.
struct DeviceMail {
  double *posts, *others;  ///< of this launch, of the next

  __device__ void post(const DeviceBlock& block, int at, const double* numbers, int count) const {
    for (int k = block.thread(); k < count; k += block.threads()) {
      asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(posts + at + k), "d"(numbers[k]) : "memory");
      others[at + k] = __longlong_as_double(static_cast<long long>(kPending));
    }
  }
  /// Pairs, four at a time. @param at  even
  __device__ void take(const DeviceBlock& block, int at, double* numbers, int count) const {
    constexpr int kAtOnce = 4;
    const int step = 2 * block.threads();
    for (int begin = 2 * block.thread(); begin < count; begin += kAtOnce * step) {
      long long got[kAtOnce][2];
      bool missing[kAtOnce], any;
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) missing[k] = begin + k * step < count;
      do {
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          if (missing[k]) read(posts + at + begin + k * step, got[k]);
        }
        any = false;
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          const bool second = begin + k * step + 1 < count;
          missing[k] = missing[k] && (got[k][0] == pending() || (second && got[k][1] == pending()));
          any = any || missing[k];
        }
      } while (any);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int i = begin + k * step;
        if (i < count) numbers[i] = __longlong_as_double(got[k][0]);
        if (i + 1 < count) numbers[i + 1] = __longlong_as_double(got[k][1]);
      }
    }
  }

 private:
  static __device__ long long pending() { return static_cast<long long>(kPending); }
  static __device__ void read(const double* from, long long (&to)[2]) {
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(to[0]), "=l"(to[1]) : "l"(from) : "memory");
  }
};

constexpr int kLinkNumbers = int(sizeof(ChainLink) / sizeof(double));

/// Copies the constants of a piece's links. Meanwhile the first warps read the state, which takes longer.
__device__ void copy_links(const DeviceBlock& block, const ChainView& chain, int piece, int most_links, double* to) {
  const int readers = (most_links / 32 + 1) * 32, first = chain.first(piece);
  const int begin = block.threads() > readers ? readers : 0;
  int links = chain.size(piece) + 1;
  if (first + links > chain.count) links = chain.count - first;
  const double* from = reinterpret_cast<const double*>(chain.links + first);
  for (int k = block.thread() - begin; k < kLinkNumbers * links; k += block.threads() - begin) {
    if (k >= 0) to[k] = from[k];
  }
}

/// @tparam with_links  their constants are copied to the block's memory   @tparam ring  the chain has a closure
template <bool with_links, bool ring>
__global__ void __launch_bounds__(512, 1) solve_chains(const __grid_constant__ ChainArguments a, bool odd) {
  extern __shared__ __align__(16) double memory[];
  const DeviceBlock block;
  ChainView open = a.chain;
  open.closure.rows = 0;  // a constant for the compiler, which removes the code of rings
  const ChainView& chain = ring ? a.chain : open;
  const long row = long(blockIdx.x) / chain.pieces;
  const int piece = int(blockIdx.x) % chain.pieces;
  const long posts = row * ((chain.posts() + 1) / 2 * 2);
  const DeviceMail mail{a.posts[odd ? 1 : 0] + posts, a.posts[odd ? 0 : 1] + posts};
  ChainPiece p;
  const int taken = carve_chain_piece(chain, a.most_links, block.warps(), memory, p);
  if constexpr (with_links) {
    copy_links(block, chain, piece, a.most_links, memory + taken);
    p.links = reinterpret_cast<const ChainLink*>(memory + taken);
  } else {
    p.links = chain.links + chain.first(piece);
  }
  kernel::place_chain(block, chain, piece, a.q + row * a.nq, a.v + row * a.nv, a.tau + row * a.nv, p, mail);
  kernel::reduce_chain(block, chain, piece, p, mail);
  kernel::gather_chain(block, chain, piece, p, mail);
  kernel::finish_chain(block, chain, piece, p, mail, a.vdot + row * a.nv, ring ? a.rank + row : nullptr);
}

template <bool ring>
const void* kernel_of(bool with_links) {
  return with_links ? reinterpret_cast<const void*>(solve_chains<true, ring>)
                    : reinterpret_cast<const void*>(solve_chains<false, ring>);
}
const void* kernel_of(const ChainLaunch& launch) {
  return launch.ring ? kernel_of<true>(launch.with_links) : kernel_of<false>(launch.with_links);
}

}  // namespace

int chain_memory(const ChainView& chain, int most_links, int threads, bool with_links) {
  ChainPiece none;
  return carve_chain_piece(chain, most_links, threads / 32, nullptr, none) +
         (with_links ? kLinkNumbers * (most_links + 1) : 0);
}

cudaError_t prepare_chains(const ChainLaunch& launch) {
  return cudaFuncSetAttribute(kernel_of(launch), cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared_bytes);
}

cudaError_t launch_chains(const ChainArguments& arguments, bool odd, const ChainLaunch& launch, cudaStream_t stream) {
  void* values[] = {const_cast<ChainArguments*>(&arguments), &odd};
  const dim3 blocks(static_cast<unsigned>(launch.blocks)), threads(static_cast<unsigned>(launch.threads));
  const size_t shared = static_cast<size_t>(launch.shared_bytes);
  if (arguments.chain.pieces == 1) return cudaLaunchKernel(kernel_of(launch), blocks, threads, values, shared, stream);
  // pieces wait for each other: all must run at once
  return cudaLaunchCooperativeKernel(kernel_of(launch), blocks, threads, values, shared, stream);
}

}  // namespace kansetsu::cuda
