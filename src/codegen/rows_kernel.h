#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>

#include "batch/layout_kernel.h"
#include "kinematics/sincos_kernel.h"

/// Support code of compiled models. Like the headers it includes, it is written into them, see support.cc.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// N numbers of the W rows from `first` on, as packs; rows beyond the last of `count` are copies of it.
template <int N, class P>
struct PacksOfRows {
  P numbers[N];

  PacksOfRows(const scalar_t<P>* from, std::ptrdiff_t first, std::ptrdiff_t count) {
    const scalar_t<P>* rows[P::width];
    for (int i = 0; i < P::width; ++i) rows[i] = from + (first + i < count ? first + i : count - 1) * N;
    gather(rows, N, numbers);
  }
};

/// First number of the packs that are number 0, 1, … of a row.
template <int W, int N>
struct PackOrder {
  int begins[N];

  constexpr explicit PackOrder(const int (&packs)[N]) : begins() {
    for (int i = 0; i < N; ++i) begins[i] = W * packs[i];
  }
};

/// Calls kernel(packs of each input…, kPacks packs) for `count` rows of kIn… numbers each, a register full of them at a time, and
/// writes kOut numbers per row: the packs in the given order, or as they are if it is nullptr.
template <int kOut, int kPacks, int... kIn, class Real, class Order, class Kernel, class... Inputs>
inline void for_rows(std::ptrdiff_t count, Real* out, Order order, const Kernel& kernel, const Inputs*... in) {
  using P = NativePack<Real>;
  struct Memory {
    P packs[kPacks];
    Real spare[kOut];  // for rows that are missing
  };
  const auto memory = std::make_unique<Memory>();
  for (std::ptrdiff_t first = 0; first < count; first += P::width) {
    kernel(PacksOfRows<kIn, P>(in, first, count).numbers..., memory->packs);
    Real* rows[P::width];
    for (int i = 0; i < P::width; ++i) rows[i] = first + i < count ? out + (first + i) * kOut : memory->spare;
    if constexpr (std::is_null_pointer_v<Order>)
      scatter(memory->packs, kOut, rows);
    else
      scatter(memory->packs, order, kOut, rows);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
