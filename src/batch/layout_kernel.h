#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "kansetsu/spatial/pack.h"

/// From rows (a state's numbers side by side) to packs (a number of all states side by side) and back: square blocks,
/// W numbers of W states, transposed in registers.
namespace kansetsu::kernel::inline KANSETSU_ISA {

template <class P>
KANSETSU_HD P load_numbers(const scalar_t<P>* x) {
  P out;
  std::memcpy(&out, x, sizeof(P));
  return out;
}

/// Exchanges the off-diagonal blocks of size H of two rows: a₁b₀ for rows [a₀ a₁] and [b₀ b₁].
template <int H, class P, std::size_t... K>
KANSETSU_HD void exchange(P& a, P& b, std::index_sequence<K...>) {
  constexpr int W = P::width;
  const auto x = __builtin_shufflevector(a.v, b.v, (int(K) & H ? W + int(K) - H : int(K))...);
  const auto y = __builtin_shufflevector(a.v, b.v, (int(K) & H ? W + int(K) : int(K) + H)...);
  a.v = x;
  b.v = y;
}

/// The stages H, H/2, …, 1 of transposing W packs: each swaps one bit of the row number with one of the column number.
template <int H, class P>
KANSETSU_HD void transpose_below(P (&block)[P::width]) {
  if constexpr (H > 0) {
    for (int i = 0; i < P::width; ++i) {
      if (!(i & H)) exchange<H>(block[i], block[i + H], std::make_index_sequence<std::size_t(P::width)>());
    }
    transpose_below<H / 2>(block);
  }
}

/// The widest stage comes with loading (or storing) half registers, where it costs no shuffle.
template <class P>
struct Halves {
  static constexpr int kHalf = P::width / 2;
  typename detail::PackTypes<scalar_t<P>, kHalf>::Vector low, high;
};

template <class P>
KANSETSU_HD void load_transposed(const scalar_t<P>* const* rows, int column, P (&block)[P::width]) {
  constexpr int H = P::width / 2;
  for (int i = 0; i < H; ++i) {
    const scalar_t<P>*a = rows[i] + column, *b = rows[i + H] + column;
    Halves<P> x, y;
    std::memcpy(&x.low, a, sizeof(P) / 2);
    std::memcpy(&x.high, b, sizeof(P) / 2);
    std::memcpy(&y.low, a + H, sizeof(P) / 2);
    std::memcpy(&y.high, b + H, sizeof(P) / 2);
    std::memcpy(&block[i], &x, sizeof(P));
    std::memcpy(&block[i + H], &y, sizeof(P));
  }
  transpose_below<H / 2>(block);
}

template <class P>
KANSETSU_HD void store_transposed(P (&block)[P::width], scalar_t<P>* const* rows, int column) {
  constexpr int H = P::width / 2;
  transpose_below<H / 2>(block);
  for (int i = 0; i < H; ++i) {
    Halves<P> x, y;
    std::memcpy(&x, &block[i], sizeof(P));
    std::memcpy(&y, &block[i + H], sizeof(P));
    scalar_t<P>*a = rows[i] + column, *b = rows[i + H] + column;
    std::memcpy(a, &x.low, sizeof(P) / 2);
    std::memcpy(a + H, &y.low, sizeof(P) / 2);
    std::memcpy(b, &x.high, sizeof(P) / 2);
    std::memcpy(b + H, &y.high, sizeof(P) / 2);
  }
}

/// n numbers of W rows into n packs. The last block reaches back over numbers that have been done, so that nothing
/// beyond a row's end is touched. Returns a pack that is zero where all numbers of a state are finite, NaN elsewhere.
template <class P>
KANSETSU_HD P gather(const scalar_t<P>* const* rows, int n, P* out) {
  constexpr int W = P::width;
  P check = P(scalar_t<P>(0));
  const P zero = P(scalar_t<P>(0));
  if (n < W) {
    for (int k = 0; k < n; ++k) {
      for (int lane = 0; lane < W; ++lane) out[k].set(lane, rows[lane][k]);
      check = madd(out[k], zero, check);
    }
    return check;
  }
  for (int done = 0; done < n; done += W) {
    const int k = done + W <= n ? done : n - W;
    P block[W];
    load_transposed(rows, k, block);
    for (int i = 0; i < W; ++i) {
      out[k + i] = block[i];
      check = madd(block[i], zero, check);
    }
  }
  return check;
}

/// n packs into n numbers of W rows; number k is pack order[k], or k if order is null.
template <class P>
KANSETSU_HD void scatter(const P* packs, const int* order, int n, scalar_t<P>* const* rows) {
  constexpr int W = P::width;
  if (n < W) {
    for (int k = 0; k < n; ++k) {
      const P& from = packs[order ? order[k] : k];
      for (int lane = 0; lane < W; ++lane) rows[lane][k] = from[lane];
    }
    return;
  }
  for (int done = 0; done < n; done += W) {
    const int k = done + W <= n ? done : n - W;
    P block[W];
    for (int i = 0; i < W; ++i) block[i] = packs[order ? order[k + i] : k + i];
    store_transposed(block, rows, k);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
