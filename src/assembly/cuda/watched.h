#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "assembly/chain_data.h"
#include "assembly/cuda/status.h"

/// Results that the device writes into the host's memory. Up to a few thousand numbers are polled as they arrive, which takes less time
/// than waiting for the launch to end; for more the launch is waited for.
namespace kansetsu::cuda {

inline constexpr std::size_t kMostWatched = 16384;

/// Before the launch. @param count  of all numbers of the result
inline void expect_numbers(double* numbers, std::size_t count) {
  if (count <= kMostWatched) std::fill_n(reinterpret_cast<std::uint64_t*>(numbers), count, kPending);
}

/// Copies numbers when all of them have come.
inline void look_at(cudaStream_t stream, const double* numbers, std::size_t size, double* seen) {
  constexpr unsigned kPatience = 1u << 14;  // some hundred microseconds
  for (unsigned k = 1;; ++k) {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the device writes, which the compiler does not know
    std::memcpy(seen, numbers, 8 * size);
    std::size_t missing = 0;
    for (std::size_t i = 0; i < size; ++i) missing += std::bit_cast<std::uint64_t>(seen[i]) == kPending ? 1 : 0;
    if (missing == 0) return;
    if (k % kPatience != 0) continue;
    const cudaError_t status = cudaStreamQuery(stream);
    if (status == cudaSuccess && k > 4 * kPatience) throw Error("the device has ended without a result");
    if (status != cudaErrorNotReady) check(status, "a launch");
  }
}

/// After it. @param out  where to copy the result, or none
inline void await_numbers(cudaStream_t stream, const double* numbers, std::size_t count, double* out) {
  constexpr std::size_t kLook = 64;
  if (count > kMostWatched) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (out) std::memcpy(out, numbers, 8 * count);
    return;
  }
  double seen[kLook];
  for (std::size_t begin = 0; begin < count; begin += kLook) {
    const std::size_t size = std::min(kLook, count - begin);
    look_at(stream, numbers + begin, size, seen);
    if (out) std::memcpy(out + begin, seen, 8 * size);
  }
}

}  // namespace kansetsu::cuda
