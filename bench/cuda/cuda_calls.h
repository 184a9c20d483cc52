#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kansetsu/base/error.h"

namespace kansetsu::bench {

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw Error(std::string(call) + ": " + cudaGetErrorString(status));
}
#define CHECK_CUDA(call) check(call, #call)

/// Runs body(first, last, thread) on all cores.
inline void parallel(long n, const std::function<void(long, long, int)>& body) {
  const int threads = std::max(1, int(std::thread::hardware_concurrency()));
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] { body(n * t / threads, n * (t + 1) / threads, t); });
  }
  for (std::thread& t : pool) t.join();
}

/// A captured sequence of calls, replayed.
class Graph {
 public:
  explicit Graph(const std::function<void(cudaStream_t)>& calls) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    calls(stream_);  // loads the kernels, outside the capture
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    cudaGraph_t graph;
    CHECK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    calls(stream_);
    CHECK_CUDA(cudaStreamEndCapture(stream_, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&exec_, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaEventCreate(&start_));
    CHECK_CUDA(cudaEventCreate(&stop_));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(exec_);
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }

  /// Seconds of one replay.
  double replay() {
    CHECK_CUDA(cudaEventRecord(start_, stream_));
    CHECK_CUDA(cudaGraphLaunch(exec_, stream_));
    CHECK_CUDA(cudaEventRecord(stop_, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, start_, stop_));
    return double(ms) * 1e-3;
  }
  double median(int times) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) seconds.push_back(replay());
    std::nth_element(seconds.begin(), seconds.begin() + times / 2, seconds.end());
    return seconds[size_t(times / 2)];
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace kansetsu::bench
