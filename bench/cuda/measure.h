#pragma once

#include <chrono>
#include <cstring>

#include "report.h"

namespace kansetsu::bench {

template <class Real>
const char* precision() {
  return sizeof(Real) == 8 ? "fp64" : "fp32";
}

/// From host memory to host memory by the wall clock; the error if it is worse than the one known.
template <class Real>
void measure_host(const Model& model, const Algorithm& algo, const Inputs<Real>& inputs, long n,
                  cuda::HostBatch<Real>& host, Row& row) {
  std::vector<Real*> memory;
  for (size_t i = 0; i < algo.in.size(); ++i) memory.push_back(inputs.array(int(i)));
  for (int width : algo.out) {
    Real* p = nullptr;
    CHECK_CUDA(cudaMallocHost(reinterpret_cast<void**>(&p), sizeof(Real) * size_t(n) * size_t(width)));
    std::memset(p, 0xff, sizeof(Real) * size_t(n) * size_t(width));
    memory.push_back(p);
  }
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run_host(algo.name, host, n, memory);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  row.host_rate = double(n) / seconds[2];
  std::vector<std::vector<Real>> results;
  for (size_t o = 0; o < algo.out.size(); ++o) {
    Real* p = memory[algo.in.size() + o];
    results.emplace_back(p, p + n * algo.out[o]);
    CHECK_CUDA(cudaFreeHost(p));
  }
  const Deviation error = compare(model, algo, inputs, n, results, 2);
  if (!(error.overall <= row.error.overall * 2)) row.error = error;
}

/// One algorithm at one size: checked, then timed over slices of the inputs.
template <class Real>
Row measure(const std::string& label, const Model& model, const Algorithm& algo, const Inputs<Real>& inputs, long n,
            DeviceArrays<Real>& arrays, bool timed, const cuda::Options& options) {
  const long slices = arrays.count() / n;
  cuda::Batch<Real> batch(model, options);
  Graph graph([&](cudaStream_t s) {
    for (long k = 0; k < slices; ++k) run_device(algo.name, batch, n, arrays.from(k * n), s);
  });
  arrays.poison();
  graph.replay();
  Row row{label, algo.name, precision<Real>(), arrays.rows() ? "rows" : "fields", n, 0, 0, {}, options};
  row.error = compare(model, algo, inputs, n * slices, arrays.results(), 1);
  if (timed) row.device_rate = double(n * slices) / graph.median(algo.matrices ? 7 : 15);
  return row;
}

}  // namespace kansetsu::bench
