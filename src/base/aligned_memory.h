#pragma once

#include <cstddef>
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

}  // namespace kansetsu
