#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kansetsu/base/error.h"

namespace kansetsu::batch::cuda {

/// Throws Error "<call>: <what CUDA says>" unless all is well.
inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Error(std::string(call) + ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}

}  // namespace kansetsu::batch::cuda
