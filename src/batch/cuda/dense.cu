#include "batch/cuda/check.h"
#include "batch/cuda/launch.h"

namespace kansetsu::batch::cuda {
namespace {

constexpr int kMostThreads = 512;

template <bool kColumns, int kFours, class Real>
__global__ void __launch_bounds__(kMostThreads)
    dense(const DenseShape shape, const DenseArguments<Real> arguments, std::ptrdiff_t states) {
  extern __shared__ Four<double> memory[];
  const DenseThread<Real> t(shape, reinterpret_cast<Real*>(memory), int(threadIdx.x));
  const std::ptrdiff_t state = std::ptrdiff_t(blockIdx.x) * shape.states + t.local_state;
  const bool inside = state < states;
  dense_run<kColumns, kFours>(shape.n, arguments, [&](auto&& phase) {
    phase(t, inside ? state : states - 1, inside);
    __syncthreads();
  });
}

/// Calls f(kernel) for every kernel that may be launched, or for the one that fits.
template <class Real, class F>
void for_kernels(F&& f) {
  f(dense<false, 3, Real>), f(dense<false, 9, Real>), f(dense<true, 3, Real>), f(dense<true, 9, Real>);
}
template <class Real>
auto kernel_for(bool columns, int n) {
  const bool few = n <= 12;
  if (columns) return few ? dense<true, 3, Real> : dense<true, 9, Real>;
  return few ? dense<false, 3, Real> : dense<false, 9, Real>;
}

}  // namespace

template <class Real>
DenseShape prepare_dense(int n, int device, int most_states) {
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  DenseShape shape =
      dense_shape<Real>(n, std::size_t(most) / 2 - 1024, most_states);  // two blocks share a multiprocessor
  if (shape.states == 0) shape = dense_shape<Real>(n, std::size_t(most), most_states);
  if (shape.states > 0) {
    for_kernels<Real>([&](auto* kernel) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(shape.numbers() * sizeof(Real))),
            "cudaFuncSetAttribute");
    });
  }
  return shape;
}

template <class Real>
void launch_dense(const DenseShape& shape, const DenseArguments<Real>& arguments, std::ptrdiff_t states,
                  CUstream_st* stream) {
  if (states == 0) return;
  const auto blocks = unsigned((states + shape.states - 1) / shape.states);
  const auto kernel = kernel_for<Real>(arguments.columns.data != nullptr, shape.n);
  kernel<<<blocks, unsigned(shape.threads()), shape.numbers() * sizeof(Real), stream>>>(shape, arguments, states);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

#define KANSETSU_INSTANTIATE_DENSE(Real)                  \
  template DenseShape prepare_dense<Real>(int, int, int); \
  template void launch_dense<Real>(const DenseShape&, const DenseArguments<Real>&, std::ptrdiff_t, CUstream_st*);
KANSETSU_INSTANTIATE_DENSE(float)
KANSETSU_INSTANTIATE_DENSE(double)

}  // namespace kansetsu::batch::cuda
