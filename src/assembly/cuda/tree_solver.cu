#define KANSETSU_ISA baseline
#include <cuda_runtime.h>

#include "assembly/cuda/device_block.cuh"
#include "assembly/cuda/tree_launch.h"

namespace kansetsu::cuda {
namespace {

/// All blocks of a launch. They exchange posts; a number that has not arrived is kPending.
struct DeviceGrid {
  DeviceBlock block;
  TreeRoom* rooms;
  TreeEntry* links;
  double* memory;
  double* free_base;
  double *posts, *others;  ///< of this launch, of the next
  long long* notes;        ///< the first block's clock after each phase, or none

  __device__ int index() const { return int(blockIdx.x); }
  __device__ int count() const { return int(gridDim.x); }
  __device__ TreeRoom& room() const { return rooms[block.warp()]; }
  __device__ TreeEntry* entries() const { return links; }
  __device__ ChainCarry* carries() const { return reinterpret_cast<ChainCarry*>(memory); }
  __device__ double* numbers() const { return memory; }
  __device__ double* base() const { return free_base; }
  __device__ void note(TreePhase phase) const {
    if (notes && blockIdx.x == 0 && threadIdx.x == 0) notes[1 + int(phase)] = clock64();
  }
  __device__ void post(int place, double x) const {
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(posts + place), "d"(x) : "memory");
    others[place] = __longlong_as_double(static_cast<long long>(kPending));
  }
  /// A few are under way at a time.
  template <class From, class Put>
  __device__ void take(int first, int step, int count, const From& from, const Put& put) const {
    constexpr int kAtOnce = 6;
    for (int begin = first; begin < count; begin += kAtOnce * step) {
      long long got[kAtOnce];
      const double* at[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) at[k] = posts + from(begin + k * step < count ? begin + k * step : begin);
      bool missing;
      do {
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k)
          asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(got[k]) : "l"(at[k]) : "memory");
        missing = false;
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) missing = missing || got[k] == static_cast<long long>(kPending);
      } while (missing);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        if (begin + k * step < count) put(begin + k * step, __longlong_as_double(got[k]));
      }
    }
  }
};

constexpr int kTeams = kTreeThreads / 32;
constexpr int kRoomBytes = int(sizeof(TreeRoom)) * kTeams;

/// @tparam near  the memory of the block is on its processor
template <bool near>
__global__ void __launch_bounds__(kTreeThreads, 1) solve_one_tree(const __grid_constant__ TreeArguments a, bool odd) {
  extern __shared__ __align__(16) std::byte shared[];
  __shared__ double base[19];
  std::byte* own = near ? shared + kRoomBytes : a.far + long(a.bytes) * blockIdx.x;
  const DeviceGrid grid{{},
                        reinterpret_cast<TreeRoom*>(shared),
                        reinterpret_cast<TreeEntry*>(own),
                        reinterpret_cast<double*>(own + long(sizeof(TreeEntry)) * a.entries),
                        base,
                        a.posts[odd ? 1 : 0],
                        a.posts[odd ? 0 : 1],
                        a.notes};
  if (a.notes && blockIdx.x == 0 && threadIdx.x == 0) a.notes[0] = clock64();
  kernel::solve_tree(grid, a.tree, a.q, a.v, a.tau, a.vdot);
}

}  // namespace

int tree_bytes(int entries, int carries, int numbers) {
  const long of_carries = long(sizeof(ChainCarry)) * carries, of_numbers = 8L * numbers;
  const long bytes = long(sizeof(TreeEntry)) * entries + (of_carries > of_numbers ? of_carries : of_numbers);
  return int((bytes + 15) / 16 * 16);
}

cudaError_t prepare_tree(int shared_bytes) {
  const void* kernel = shared_bytes > 0 ? reinterpret_cast<const void*>(solve_one_tree<true>)
                                        : reinterpret_cast<const void*>(solve_one_tree<false>);
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRoomBytes + shared_bytes);
}

cudaError_t launch_tree(const TreeArguments& arguments, bool odd, int blocks, cudaStream_t stream) {
  void* values[] = {const_cast<TreeArguments*>(&arguments), &odd};
  const bool near = arguments.far == nullptr;
  const void* kernel =
      near ? reinterpret_cast<const void*>(solve_one_tree<true>) : reinterpret_cast<const void*>(solve_one_tree<false>);
  return cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(kTreeThreads), values,
                                     static_cast<size_t>(kRoomBytes + (near ? arguments.bytes : 0)), stream);
}

}  // namespace kansetsu::cuda
