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

}  // namespace kansetsu::cuda
