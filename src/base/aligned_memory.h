#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace kansetsu {

inline constexpr std::align_val_t kCacheLine{64};

/// Raw memory on a cache line. Not touched, so that pages that no call needs cost nothing.
struct AlignedDelete {
  void operator()(std::byte* memory) const { ::operator delete(memory, kCacheLine); }
};
using AlignedMemory = std::unique_ptr<std::byte, AlignedDelete>;

inline AlignedMemory make_aligned(std::size_t bytes) {
  return AlignedMemory(static_cast<std::byte*>(::operator new(bytes, kCacheLine)));
}

/// The first cache line in a block of numbers that has one to spare.
inline double* aligned(double* block) {
  constexpr std::uintptr_t kBytes{64};
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(block) % kBytes;
  return block + (kBytes - past) % kBytes / sizeof(double);
}

}  // namespace kansetsu
