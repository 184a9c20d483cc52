#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "algorithms.h"
#include "cuda_calls.h"
#include "kansetsu/model/configuration.h"

/// Numbers of many states, in host and device memory.
namespace kansetsu::bench {

/// Random states and torques (or accelerations) of one model in pinned host memory, each array in rows.
template <class Real>
class Inputs {
 public:
  Inputs(const Model& model, long count, std::uint64_t seed) : model_(model), count_(count) {
    const int widths[3] = {model.nq(), model.nv(), model.nv()};
    for (int i = 0; i < 3; ++i) {
      CHECK_CUDA(cudaMallocHost(reinterpret_cast<void**>(&data_[i]), sizeof(Real) * size_t(count * widths[i])));
    }
    parallel(count, [&](long first, long last, int thread) {
      std::mt19937_64 rng(seed + 1000003 * std::uint64_t(thread));
      std::normal_distribution<double> normal;
      for (long s = first; s < last; ++s) {
        const Eigen::VectorXd q = random_configuration(model, rng);
        for (int i = 0; i < model.nq(); ++i) data_[0][s * model.nq() + i] = Real(q[i]);
        for (int i = 0; i < model.nv(); ++i) data_[1][s * model.nv() + i] = Real(normal(rng));
        for (int i = 0; i < model.nv(); ++i) data_[2][s * model.nv() + i] = Real(10 * normal(rng));
      }
    });
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  ~Inputs() {
    for (Real* p : data_) cudaFreeHost(p);
  }

  long count() const { return count_; }
  Real* array(int i) const { return data_[i]; }
  State state(long s) const {
    State out(model_);
    for (int i = 0; i < model_.nq(); ++i) out.q[i] = double(data_[0][s * model_.nq() + i]);
    for (int i = 0; i < model_.nv(); ++i) out.v[i] = double(data_[1][s * model_.nv() + i]);
    return out;
  }
  Eigen::VectorXd third(long s) const {
    return Eigen::VectorXd::NullaryExpr(model_.nv(),
                                        [&](Eigen::Index i) { return double(data_[2][s * model_.nv() + long(i)]); });
  }

 private:
  const Model& model_;
  long count_;
  Real* data_[3];
};

/// Device arrays of one algorithm for `count` states, in rows or fields.
template <class Real>
class DeviceArrays {
 public:
  DeviceArrays(const Algorithm& algo, const Inputs<Real>& inputs, long count, bool rows)
      : algo_(algo), count_(count), rows_(rows) {
    for (size_t i = 0; i < algo.in.size(); ++i) add(algo.in[i]);
    for (size_t i = 0; i < algo.out.size(); ++i) add(algo.out[i]);
    std::vector<Real> turned;
    for (size_t i = 0; i < algo.in.size(); ++i) {
      const size_t width = size_t(algo.in[i]);
      const Real* from = inputs.array(int(i));
      if (!rows) {
        turned.resize(size_t(count) * width);
        parallel(count, [&](long first, long last, int) {
          for (size_t f = 0; f < width; ++f) {
            for (long s = first; s < last; ++s) turned[f * size_t(count) + size_t(s)] = from[size_t(s) * width + f];
          }
        });
        from = turned.data();
      }
      CHECK_CUDA(cudaMemcpy(data_[i], from, bytes(algo.in[i]), cudaMemcpyHostToDevice));
    }
    poison();
  }
  DeviceArrays(const DeviceArrays&) = delete;
  DeviceArrays& operator=(const DeviceArrays&) = delete;
  ~DeviceArrays() {
    for (Real* p : data_) cudaFree(p);
  }

  long count() const { return count_; }
  bool rows() const { return rows_; }
  void poison() {
    for (size_t i = 0; i < algo_.out.size(); ++i) {
      CHECK_CUDA(cudaMemset(data_[algo_.in.size() + i], 0xff, bytes(algo_.out[i])));
    }
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  /// All arrays from state `first` on.
  std::vector<cuda::Array<Real>> from(long first) const {
    std::vector<cuda::Array<Real>> out;
    for (size_t i = 0; i < data_.size(); ++i) {
      const int width = widths_[i];
      out.push_back(rows_ ? cuda::Array<Real>::rows(data_[i] + first * width, width)
                          : cuda::Array<Real>{data_[i] + first, 1, count_});
    }
    return out;
  }
  /// The outputs in rows, on the host.
  std::vector<std::vector<Real>> results() const {
    std::vector<std::vector<Real>> out;
    for (size_t i = 0; i < algo_.out.size(); ++i) {
      const size_t width = size_t(algo_.out[i]), n = size_t(count_);
      std::vector<Real> raw(n * width);
      CHECK_CUDA(cudaMemcpy(raw.data(), data_[algo_.in.size() + i], bytes(algo_.out[i]), cudaMemcpyDeviceToHost));
      if (!rows_) {
        std::vector<Real> turned(n * width);
        parallel(count_, [&](long first, long last, int) {
          for (size_t s = size_t(first); s < size_t(last); ++s) {
            for (size_t f = 0; f < width; ++f) turned[s * width + f] = raw[f * n + s];
          }
        });
        raw.swap(turned);
      }
      out.push_back(std::move(raw));
    }
    return out;
  }

 private:
  size_t bytes(int width) const { return sizeof(Real) * size_t(count_) * size_t(width); }
  void add(int width) {
    Real* p = nullptr;
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&p), bytes(width)));
    data_.push_back(p);
    widths_.push_back(width);
  }

  const Algorithm& algo_;
  long count_;
  bool rows_;
  std::vector<Real*> data_;
  std::vector<int> widths_;
};

}  // namespace kansetsu::bench
