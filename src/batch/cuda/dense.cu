#include <algorithm>

#include "batch/cuda/check.h"
#include "batch/cuda/launch.h"

namespace kansetsu::batch::cuda {
namespace {

template <class Real>
__global__ void __launch_bounds__(512)
    dense(const DenseShape shape, const DenseArguments<Real> arguments, std::ptrdiff_t states) {
  extern __shared__ Four<double> memory[];
  const DenseThread<Real> t(shape, reinterpret_cast<Real*>(memory), int(threadIdx.x));
  std::ptrdiff_t state = std::ptrdiff_t(blockIdx.x) * shape.states + t.local_state;
  const bool inside = state < states;
  if (!inside) state = states - 1;  // works along, and keeps its result to itself
  dense_load(t, StateOf<const Real>(arguments.M, state));
  __syncthreads();
  for (int j = shape.n - 1; j > 0; --j) {
    dense_eliminate(t, j);
    __syncthreads();
  }
  dense_invert_pivot(t);
  __syncthreads();
  dense_solve(t);
  __syncthreads();
  dense_keep(t, inside, StateOf<Real>(arguments.M_inv, state));
  __syncthreads();
  if (!inside) return;
  if (arguments.dq.data) dense_multiply(t, StateOf<Real>(arguments.dq, state));
  if (arguments.dv.data) dense_multiply(t, StateOf<Real>(arguments.dv, state));
}

}  // namespace

template <class Real>
DenseShape prepare_dense(int n, int device) {
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  DenseShape shape = dense_shape<Real>(n, std::size_t(most) / 2 - 1024);  // two blocks share a multiprocessor
  if (shape.states == 0) shape = dense_shape<Real>(n, std::size_t(most));
  if (shape.states > 0) {
    check(cudaFuncSetAttribute(dense<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(shape.numbers() * sizeof(Real))),
          "cudaFuncSetAttribute");
  }
  return shape;
}

template <class Real>
void launch_dense(const DenseShape& shape, const DenseArguments<Real>& arguments, std::ptrdiff_t states,
                  CUstream_st* stream) {
  if (states == 0) return;
  const auto blocks = unsigned((states + shape.states - 1) / shape.states);
  dense<Real><<<blocks, unsigned(shape.threads()), shape.numbers() * sizeof(Real), stream>>>(shape, arguments, states);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

#define KANSETSU_INSTANTIATE_DENSE(Real)             \
  template DenseShape prepare_dense<Real>(int, int); \
  template void launch_dense<Real>(const DenseShape&, const DenseArguments<Real>&, std::ptrdiff_t, CUstream_st*);
KANSETSU_INSTANTIATE_DENSE(float)
KANSETSU_INSTANTIATE_DENSE(double)

}  // namespace kansetsu::batch::cuda
