#include "batch/cuda/check.h"
#include "batch/cuda/launch.h"

namespace kansetsu::batch::cuda {
namespace {

constexpr int kTile = 32, kRows = 8;

/// Tiles of 32 states × 32 fields through shared memory: global memory is read along the fields and written along the
/// states, or the reverse, in whole cache lines either way.
template <class Real, bool kGather>
__global__ void transpose(Real* any, std::ptrdiff_t state_stride, std::ptrdiff_t field_stride, int fields,
                          std::ptrdiff_t states, Real* major, std::ptrdiff_t stride) {
  __shared__ Real tile[kTile][kTile + 1];
  const int x = int(threadIdx.x);
  const std::ptrdiff_t first_state = std::ptrdiff_t(blockIdx.x) * kTile;
  const int first_field = int(blockIdx.y) * kTile;
  for (int y = int(threadIdx.y); y < kTile; y += kRows) {
    if constexpr (kGather) {
      const std::ptrdiff_t s = first_state + y;
      const int f = first_field + x;
      if (s < states && f < fields) tile[y][x] = any[s * state_stride + f * field_stride];
    } else {
      const std::ptrdiff_t s = first_state + x;
      const int f = first_field + y;
      if (s < states && f < fields) tile[x][y] = major[f * stride + s];
    }
  }
  __syncthreads();
  for (int y = int(threadIdx.y); y < kTile; y += kRows) {
    if constexpr (kGather) {
      const std::ptrdiff_t s = first_state + x;
      const int f = first_field + y;
      if (s < states && f < fields) major[f * stride + s] = tile[x][y];
    } else {
      const std::ptrdiff_t s = first_state + y;
      const int f = first_field + x;
      if (s < states && f < fields) any[s * state_stride + f * field_stride] = tile[y][x];
    }
  }
}

template <bool kGather, class Real>
void start(Real* any, std::ptrdiff_t state_stride, std::ptrdiff_t field_stride, int fields, std::ptrdiff_t states,
           Real* major, std::ptrdiff_t stride, cudaStream_t stream) {
  if (states == 0 || fields == 0) return;
  const dim3 grid(unsigned((states + kTile - 1) / kTile), unsigned((fields + kTile - 1) / kTile));
  transpose<Real, kGather>
      <<<grid, dim3(kTile, kRows), 0, stream>>>(any, state_stride, field_stride, fields, states, major, stride);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

}  // namespace

template <class Real>
void gather(const Real* from, std::ptrdiff_t state_stride, std::ptrdiff_t field_stride, int fields,
            std::ptrdiff_t states, Fields<Real> to, CUstream_st* stream) {
  start<true>(const_cast<Real*>(from), state_stride, field_stride, fields, states, to.data, to.stride, stream);
}
template <class Real>
void scatter(Fields<const Real> from, int fields, std::ptrdiff_t states, Real* to, std::ptrdiff_t state_stride,
             std::ptrdiff_t field_stride, CUstream_st* stream) {
  start<false>(to, state_stride, field_stride, fields, states, const_cast<Real*>(from.data), from.stride, stream);
}

#define KANSETSU_INSTANTIATE_TRANSPOSE(Real)                                                                  \
  template void gather<Real>(const Real*, std::ptrdiff_t, std::ptrdiff_t, int, std::ptrdiff_t, Fields<Real>,  \
                             CUstream_st*);                                                                   \
  template void scatter<Real>(Fields<const Real>, int, std::ptrdiff_t, Real*, std::ptrdiff_t, std::ptrdiff_t, \
                              CUstream_st*);
KANSETSU_INSTANTIATE_TRANSPOSE(float)
KANSETSU_INSTANTIATE_TRANSPOSE(double)

}  // namespace kansetsu::batch::cuda
