#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kansetsu/base/error.h"

namespace kansetsu::cuda {

/// Throws Error if a call of the CUDA runtime failed.
inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Error(std::string(call) + ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}

inline int attribute(cudaDeviceAttr what, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, what, device), "cudaDeviceGetAttribute");
  return value;
}

/// Time of a launch on the device, the mean of many after one warm-up [µs].
template <class Launch>
double time_launches(cudaStream_t stream, int repeats, const Launch& launch) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  launch();
  check(cudaEventRecord(begin, stream), "cudaEventRecord");
  for (int k = 0; k < repeats; ++k) launch();
  check(cudaEventRecord(end, stream), "cudaEventRecord");
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return 1000.0 * double(ms) / repeats;
}

}  // namespace kansetsu::cuda
