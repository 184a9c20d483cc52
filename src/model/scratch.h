#pragma once

#include <cstddef>
#include <cstdint>

#include "kansetsu/base/macros.h"
#include "model/tree.h"

/// How kernels get their memory: a block, carved into arrays in the order a kernel asks for them. The same carving serves
/// a Workspace (T = double) and the blocks of packs; arrays start on cache lines.
namespace kansetsu {

/// Trees of up to kMatrixColumns coordinates have room for so many matrices over them, padded to whole blocks.
inline constexpr std::size_t kScratchMatrices = 3;

/// Numbers of type T that the hungriest kernel needs; every kernel stays below this.
inline std::size_t scratch_size(const Tree& tree) {
  constexpr std::size_t kPerBody = 320, kPerCoordinate = 96, kSlack = 2048;
  const std::size_t padded = std::size_t(padded_columns(tree.nu));
  const std::size_t matrices = tree.nu <= kMatrixColumns ? kScratchMatrices * padded * padded : 0;
  return kPerBody * tree.bodies.size() + kPerCoordinate * std::size_t(tree.nu + tree.nv + tree.nq) +
         18 * tree.links.size() + std::size_t(tree.group_scratch) + matrices + kSlack;
}

template <class T>
class Carver {
 public:
  KANSETSU_HD Carver(void* block) : next_(static_cast<std::byte*>(block)) {}

  template <class Item>
  KANSETSU_HD Item* take(int count) {
    static_assert(sizeof(Item) % sizeof(T) == 0);
    Item* out = reinterpret_cast<Item*>(next_);
    constexpr std::size_t kLine = 64;
    next_ += (std::size_t(count) * sizeof(Item) + kLine - 1) / kLine * kLine;
    return out;
  }
  /// One item whose size is no multiple of a number's.
  template <class Item>
  KANSETSU_HD Item* take_bytes() {
    return reinterpret_cast<Item*>(take<T>(int((sizeof(Item) + sizeof(T) - 1) / sizeof(T))));
  }
  KANSETSU_HD int* take_ints(int count) { return reinterpret_cast<int*>(take<T>(count)); }
  /// What is left, for a kernel that carves on.
  KANSETSU_HD void* rest() const { return next_; }

 private:
  std::byte* next_;
};

}  // namespace kansetsu
