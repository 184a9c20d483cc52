#pragma once

#include <algorithm>

#include "batch/cuda/check.h"
#include "batch/cuda/launch.h"

/// Kernels and their launches. Included by the files that instantiate them.
namespace kansetsu::batch::cuda {

inline constexpr int kMostThreads = 128;  ///< in a block

/// Largest stack of a thread in bytes. The hardware interleaves the stacks of a warp, so that threads that access them in
/// step access whole cache lines.
inline constexpr std::size_t kShallowStack = 8 * 1024, kDeepStack = 32 * 1024;

template <class Real>
struct GlobalImage {
  ImageHeader<Real> header;
  const std::byte* __restrict__ block;
};

/// One state per thread, or several in turn. Stack = 0: scratch memory is in `scratch`, `scratch_bytes` for each thread.
template <template <class> class Algorithm, class Real, std::size_t Stack, class Image>
__global__ void __launch_bounds__(kMostThreads)
    run(const __grid_constant__ Image image, const Algorithm<Real> algorithm, std::ptrdiff_t states, std::byte* scratch,
        std::size_t scratch_bytes) {
  const std::ptrdiff_t thread = std::ptrdiff_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::ptrdiff_t threads = std::ptrdiff_t(gridDim.x) * blockDim.x;
  const ModelViewOf<Real> model = image.header.view(image.block);
  for (std::ptrdiff_t state = thread; state < states; state += threads) {
    if constexpr (Stack > 0) {
      alignas(16) std::byte stack[Stack];
      algorithm.run(model, state, stack);
    } else {
      algorithm.run(model, state, scratch + thread * scratch_bytes);
    }
  }
}

template <template <class> class Algorithm, class Real, std::size_t Stack, class Image>
void launch_with(const Image& image, const DeviceTree<Real>& tree, const Cut& cut, const Algorithm<Real>& algorithm,
                 std::ptrdiff_t states, std::size_t need, cudaStream_t stream) {
  std::ptrdiff_t blocks = (states + cut.block - 1) / cut.block;
  if (cut.blocks_per_sm > 0) {
    blocks = std::min<std::ptrdiff_t>(blocks, std::ptrdiff_t(cut.blocks_per_sm) * cut.multiprocessors);
  }
  if constexpr (Stack == 0) {
    const std::ptrdiff_t fit = std::ptrdiff_t(tree.scratch_bytes / need) / cut.block;
    if (fit < 1) throw Error("cuda: the scratch memory does not hold one block of threads");
    blocks = std::min(blocks, fit);
  }
  run<Algorithm, Real, Stack>
      <<<unsigned(blocks), unsigned(cut.block), 0, stream>>>(image, algorithm, states, tree.scratch, need);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

template <template <class> class Algorithm, class Real>
void launch(const DeviceTree<Real>& tree, const Cut& cut, const Algorithm<Real>& algorithm, std::ptrdiff_t states,
            CUstream_st* stream) {
  if (states == 0) return;
  const std::size_t need = (Algorithm<Real>::scratch(tree.image.view()) + 255) / 256 * 256;
  const GlobalImage<Real> global{tree.image.header, tree.block};
  const auto with = [&]<std::size_t Stack>(const auto& image) {
    launch_with<Algorithm, Real, Stack>(image, tree, cut, algorithm, states, need, stream);
  };
  if (need > kDeepStack) return with.template operator()<0>(global);
  if (!tree.argument) return with.template operator()<kDeepStack>(global);
  if (need > kShallowStack) return with.template operator()<kDeepStack>(*tree.argument);
  with.template operator()<kShallowStack>(*tree.argument);
}

template <template <class> class Algorithm, class Real>
bool needs_scratch(const ModelViewOf<Real>& model) {
  return Algorithm<Real>::scratch(model) > kDeepStack;
}

}  // namespace kansetsu::batch::cuda

#define KANSETSU_INSTANTIATE_LAUNCH(Algorithm, Real)                                                      \
  template void kansetsu::batch::cuda::launch<kansetsu::batch::cuda::Algorithm, Real>(                    \
      const DeviceTree<Real>&, const Cut&, const kansetsu::batch::cuda::Algorithm<Real>&, std::ptrdiff_t, \
      CUstream_st*);                                                                                      \
  template bool kansetsu::batch::cuda::needs_scratch<kansetsu::batch::cuda::Algorithm, Real>(const ModelViewOf<Real>&);
