#include <algorithm>

#include "batch/cuda/check.h"
#include "batch/cuda/launch.h"

namespace kansetsu::batch::cuda {
namespace {

constexpr std::size_t kStack = 4 * 1024, kMostShared = 48 * 1024;
constexpr int kWarp = 32, kMostLimbThreads = 128;

/// Bytes of shared memory: the model, then what the lanes exchange.
template <class Real>
std::size_t shared_bytes(const LeanLimbsOf<Real>& limbs, int node_bytes, int threads) {
  return std::size_t(node_bytes) +
         std::size_t((limbs.stage_count - 1) * kernel::LeanExchange<Real>::kNumbers * threads) * sizeof(Real);
}

template <class Real>
__global__ void __launch_bounds__(kMostLimbThreads)
    limb_aba(const __grid_constant__ DeviceLimbs<Real> limbs, const AbaArrays<Real> a, std::ptrdiff_t states) {
  extern __shared__ Four<float> memory[];
  const int thread = int(threadIdx.x), threads = int(blockDim.x), lane = thread % kLeanLanes;
  const auto* from = reinterpret_cast<const Four<float>*>(limbs.nodes);
  for (int i = thread; i < limbs.node_bytes / int(sizeof(Four<float>)); i += threads) memory[i] = from[i];
  const auto* nodes = reinterpret_cast<const std::byte*>(memory);
  auto* numbers = reinterpret_cast<Real*>(reinterpret_cast<std::byte*>(memory) + limbs.node_bytes);
  const kernel::LeanExchange<Real> exchange{numbers + thread - lane, threads};
  __syncthreads();

  const int per_block = threads / kLeanLanes;
  const std::ptrdiff_t step = std::ptrdiff_t(gridDim.x) * per_block;
  // Warps continue or end as a whole: in a warp with states left, threads beyond them repeat the last state without writing it.
  const int local = thread / kLeanLanes, local_of_warp = thread / kWarp * (kWarp / kLeanLanes);
  for (std::ptrdiff_t first = std::ptrdiff_t(blockIdx.x) * per_block; first + local_of_warp < states; first += step) {
    const bool inside = first + local < states;
    const std::ptrdiff_t state = inside ? first + local : states - 1;
    const StateOf<const Real> q(a.q, state), v(a.v, state), tau(a.tau, state);
    const StateOf<Real> vdot(a.vdot, state);
    alignas(16) std::byte stack[kStack];
    const auto meet = [] { __syncwarp(); };
    if (a.singular.data) {
      kernel::lean_limb_aba<Real>(limbs.limbs, nodes, lane, q, v, tau, stack, exchange, inside, vdot,
                                  StateOf<Real>(a.singular, state), meet);
    } else {
      kernel::lean_limb_aba<Real>(limbs.limbs, nodes, lane, q, v, tau, stack, exchange, inside, vdot,
                                  kernel::Unwanted{}, meet);
    }
  }
}

}  // namespace

template <class Real>
bool fits_limbs(const LeanLimbsImage<Real>& image) {
  return kernel::LeanStages<Real, Real>::bytes(image.limbs) <= kStack &&
         shared_bytes(image.limbs, int(image.nodes.size()), kMostLimbThreads) <= kMostShared;
}

template <class Real>
void launch_limb_aba(const DeviceLimbs<Real>& limbs, const Cut& cut, const AbaArrays<Real>& arrays,
                     std::ptrdiff_t states, CUstream_st* stream) {
  if (states == 0) return;
  const int per_block = cut.block / kLeanLanes;
  std::ptrdiff_t blocks = (states + per_block - 1) / per_block;
  if (cut.blocks_per_sm > 0) {
    blocks = std::min<std::ptrdiff_t>(blocks, std::ptrdiff_t(cut.blocks_per_sm) * cut.multiprocessors);
  }
  limb_aba<Real>
      <<<unsigned(blocks), unsigned(cut.block), shared_bytes(limbs.limbs, limbs.node_bytes, cut.block), stream>>>(
          limbs, arrays, states);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

#define KANSETSU_INSTANTIATE_LIMB_ABA(Real)                                                                         \
  template bool fits_limbs<Real>(const LeanLimbsImage<Real>&);                                                      \
  template void launch_limb_aba<Real>(const DeviceLimbs<Real>&, const Cut&, const AbaArrays<Real>&, std::ptrdiff_t, \
                                      CUstream_st*);
KANSETSU_INSTANTIATE_LIMB_ABA(float)
KANSETSU_INSTANTIATE_LIMB_ABA(double)

}  // namespace kansetsu::batch::cuda
