#pragma once

#include <cstddef>
#include <utility>

#include "batch/cuda/check.h"

/// Owners of CUDA resources.
namespace kansetsu::batch::cuda {

/// Makes a device the current one, and restores the former one at the end.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (device != before_) check(cudaSetDevice(device), "cudaSetDevice");
    changed_ = device != before_;
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() {
    if (changed_) cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Memory of a device, or pinned memory of the host.
template <bool kPinned>
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    if constexpr (kPinned)
      check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
    else
      check(cudaMalloc(&data_, bytes), "cudaMalloc");
  }
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Memory() {
    if (!data_) return;
    if constexpr (kPinned)
      cudaFreeHost(data_);
    else
      cudaFree(data_);
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};
using DeviceMemory = Memory<false>;
using PinnedMemory = Memory<true>;

class OwnedStream {
 public:
  OwnedStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  ~OwnedStream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace kansetsu::batch::cuda
