#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kansetsu/spatial/pack.h"

/// From rows (the numbers of a state are contiguous) to packs (one number of all states is contiguous) and back: square blocks,
/// W numbers of W states, transposed in registers.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// One stage of a transposition swaps a bit of the row number with the same bit of the column number: rows a and b, H apart,
/// exchange the blocks of size H off the diagonal. All stages together, in any order, transpose.
template <int H, class P, std::size_t... K>
KANSETSU_HD void exchange(P& a, P& b, std::index_sequence<K...>) {
  constexpr int W = P::width;
  const auto x = __builtin_shufflevector(a.v, b.v, (int(K) & H ? W + int(K) - H : int(K))...);
  const auto y = __builtin_shufflevector(a.v, b.v, (int(K) & H ? W + int(K) : int(K) + H)...);
  a.v = x;
  b.v = y;
}

/// The stages within 16 bytes. Four floats: both stages at once by interleaving, without blends.
template <class P, std::size_t... K>
KANSETSU_HD void interleave(const P& a, const P& b, P& low, P& high, std::index_sequence<K...>) {
  constexpr int W = P::width;
  low = P(__builtin_shufflevector(a.v, b.v, (int(K) / 4 * 4 + int(K) % 4 / 2 + int(K) % 2 * W)...));
  high = P(__builtin_shufflevector(a.v, b.v, (int(K) / 4 * 4 + int(K) % 4 / 2 + 2 + int(K) % 2 * W)...));
}

/// The stages H, H/2, …, 1, of N packs: a whole block or half of one.
template <int H, int N, class P>
KANSETSU_HD void transpose_below(P (&block)[N]) {
  constexpr auto kLanes = std::make_index_sequence<std::size_t(P::width)>();
  if constexpr (H == 2 && sizeof(scalar_t<P>) == 4) {
    for (int i = 0; i < N; i += 4) {
      P a, b, c, d;
      interleave(block[i], block[i + 2], a, b, kLanes);
      interleave(block[i + 1], block[i + 3], c, d, kLanes);
      interleave(a, c, block[i], block[i + 1], kLanes);
      interleave(b, d, block[i + 2], block[i + 3], kLanes);
    }
  } else if constexpr (H > 0) {
    for (int i = 0; i < N; ++i) {
      if (!(i & H)) exchange<H>(block[i], block[i + H], kLanes);
    }
    transpose_below<H / 2>(block);
  }
}

/// Stores a whole register to any address. Not memcpy(): with it gcc does not keep loops over registers in registers.
template <class P>
KANSETSU_HD void store_row(const P& x, scalar_t<P>* to) {
  typedef typename P::Vector Anywhere __attribute__((aligned(alignof(scalar_t<P>)), may_alias));
  *reinterpret_cast<Anywhere*>(to) = x.v;
}

/// The widest stage is done by loading and storing half registers, without a shuffle.
template <class P>
struct Halves {
  static constexpr int H = P::width / 2;
  using Real = scalar_t<P>;
  using Half = typename detail::PackTypes<Real, H>::Vector;

  template <std::size_t... K>
  KANSETSU_HD static P load(const Real* low, const Real* high, std::index_sequence<K...>) {
#if defined(__AVX__)
    if constexpr (sizeof(P) == 32) {  // gcc would load the high half with a separate instruction
      const auto half = [](const Real* from) __attribute__((always_inline)) {
        return _mm_loadu_pd(reinterpret_cast<const double*>(from));
      };
      const __m256d both = _mm256_insertf128_pd(_mm256_castpd128_pd256(half(low)), half(high), 1);
      return P(__builtin_bit_cast(typename P::Vector, both));
    }
#endif
    Half a, b;
    std::memcpy(&a, low, sizeof(Half));
    std::memcpy(&b, high, sizeof(Half));
    return P(__builtin_shufflevector(a, b, int(K)...));
  }
  template <std::size_t... K>
  KANSETSU_HD static void store(const P& x, Real* low, Real* high, std::index_sequence<K...>) {
    const Half a = __builtin_shufflevector(x.v, x.v, int(K)...), b = __builtin_shufflevector(x.v, x.v, int(K) + H...);
    std::memcpy(low, &a, sizeof(Half));
    std::memcpy(high, &b, sizeof(Half));
  }
};

/// row(i): the numbers of row i, from the first of the block on.
template <class P, class Row>
KANSETSU_HD void load_block(const Row& row, P (&block)[P::width]) {
  constexpr int W = P::width, H = W / 2;
  if constexpr (H == 1) {
    for (int i = 0; i < W; ++i) std::memcpy(&block[i], row(i), sizeof(P));
    transpose_below<1>(block);
    return;
  }
  for (int i = 0; i < H; ++i) {
    const scalar_t<P>*a = row(i), *b = row(i + H);
    block[i] = Halves<P>::load(a, b, std::make_index_sequence<std::size_t(W)>());
    block[i + H] = Halves<P>::load(a + H, b + H, std::make_index_sequence<std::size_t(W)>());
  }
  transpose_below<H / 2>(block);
}

template <class P>
KANSETSU_HD void store_transposed(P (&block)[P::width], scalar_t<P>* const* rows, std::ptrdiff_t column) {
  constexpr int W = P::width, H = W / 2;
  if constexpr (H == 1) {
    transpose_below<1>(block);
    for (int i = 0; i < W; ++i) std::memcpy(rows[i] + column, &block[i], sizeof(P));
    return;
  }
  transpose_below<H / 2>(block);
  for (int i = 0; i < H; ++i) {
    scalar_t<P>*a = rows[i] + column, *b = rows[i + H] + column;
    Halves<P>::store(block[i], a, b, std::make_index_sequence<std::size_t(H)>());
    Halves<P>::store(block[i + H], a + H, b + H, std::make_index_sequence<std::size_t(H)>());
  }
}

/// N packs into N numbers of W rows, in pieces of half a register. The last piece overlaps the one before; N is at least the
/// length of a piece.
template <class P, int N>
KANSETSU_HD void store_columns(const P (&packs)[N], scalar_t<P>* const* rows, int column) {
  constexpr int W = P::width;
  constexpr int K = W > 2 ? W / 2 : W;  // numbers of a piece
  for (int done = 0; done < N; done += K) {
    const int k = done + K <= N ? done : N - K;
    P piece[K];
    for (int i = 0; i < K; ++i) piece[i] = packs[k + i];
    transpose_below<K / 2>(piece);
    for (int i = 0; i < K; ++i) {
      if constexpr (K == W) {
        std::memcpy(rows[i] + column + k, &piece[i], sizeof(P));
      } else {
        Halves<P>::store(piece[i], rows[i] + column + k, rows[i + K] + column + k,
                         std::make_index_sequence<std::size_t(K)>());
      }
    }
  }
}

/// n numbers of W rows into n packs. The last block overlaps the one before, so that nothing beyond the end of a row is
/// accessed. Returns a pack that is zero where all numbers of a state are finite, NaN elsewhere.
template <class P>
KANSETSU_HD P gather(const scalar_t<P>* const* rows, int n, P* out) {
  constexpr int W = P::width;
  const P zero = P(scalar_t<P>(0));
  if (n < W) {
    P check = zero;
    for (int k = 0; k < n; ++k) {
      for (int lane = 0; lane < W; ++lane) out[k].set(lane, rows[lane][k]);
      check = madd(out[k], zero, check);
    }
    return check;
  }
  P even = zero, odd = zero;  // two sums, to hide the latency of additions
  for (int done = 0; done < n; done += W) {
    const int k = done + W <= n ? done : n - W;
    P block[W];
    load_block([&](int i) __attribute__((always_inline)) { return rows[i] + k; }, block);
    for (int i = 0; i < W; i += 2) {
      out[k + i] = block[i];
      out[k + i + 1] = block[i + 1];
      even = madd(block[i], zero, even);
      odd = madd(block[i + 1], zero, odd);
    }
  }
  return even + odd;
}

/// W packs into W numbers of W rows from `column` on. pack(i): address of the i-th.
template <class P, class Pack>
KANSETSU_HD void store_packs(const Pack& pack, scalar_t<P>* const* rows, std::ptrdiff_t column) {
  constexpr int W = P::width;
  P block[W];
  for (int i = 0; i < W; ++i) block[i] = *reinterpret_cast<const P*>(pack(i));
  if constexpr (sizeof(P) == 32) {  // half as many stores
    transpose_below<W / 2>(block);
    for (int i = 0; i < W; ++i) store_row(block[i], rows[i] + column);
  } else {
    store_transposed(block, rows, column);
  }
}

/// Calls put(k) for blocks of W numbers of n, W or more, that cover them all.
template <class P, class Put>
KANSETSU_HD void for_each_block(std::ptrdiff_t n, const scalar_t<P>* row, const Put& put) {
  constexpr std::ptrdiff_t W = P::width;
  // Stores that straddle cache lines take twice as long: in long rows the second block begins where they do not.
  constexpr std::ptrdiff_t kAligned = std::ptrdiff_t((sizeof(P) < 32 ? sizeof(P) : 32) / sizeof(scalar_t<P>));
  const auto off = std::ptrdiff_t(reinterpret_cast<std::uintptr_t>(row) / sizeof(scalar_t<P>)) % kAligned;
  put(0);
  for (std::ptrdiff_t k = off > 0 && n > 4 * W ? kAligned - off : W; k < n - W; k += W) put(k);
  if (n > W) put(n - W);
}

/// n packs into n numbers of W rows. from(k): address of the pack of number k.
template <class P, class From>
KANSETSU_HD void scatter_from(const From& from, int n, scalar_t<P>* const* rows) {
  constexpr int W = P::width;
  if (n < W) {
    for (int k = 0; k < n; ++k) {
      for (int lane = 0; lane < W; ++lane) rows[lane][k] = from(k)[lane];
    }
    return;
  }
  scalar_t<P>* own[W];  // a copy that stores cannot alias, so that registers hold it
  for (int i = 0; i < W; ++i) own[i] = rows[i];
  scalar_t<P>* const* to = W <= 8 ? own : rows;
  for_each_block<P>(n, rows[0], [&](std::ptrdiff_t k) __attribute__((always_inline)) {
    store_packs<P>([&](int i) __attribute__((always_inline)) { return from(k + i); }, to, k);
  });
}
template <class P>
KANSETSU_HD void scatter(const P* packs, int n, scalar_t<P>* const* rows) {
  const auto* numbers = reinterpret_cast<const scalar_t<P>*>(packs);
  scatter_from<P>([&](std::ptrdiff_t k) __attribute__((always_inline)) { return numbers + k * P::width; }, n, rows);
}
/// Number k is the pack that begins at number order[k] of all. Zeros of sparse matrices are stored like other numbers: skipping
/// them costs more than it saves.
template <class P>
KANSETSU_HD void scatter(const P* packs, const int* order, int n, scalar_t<P>* const* rows) {
  const auto* numbers = reinterpret_cast<const scalar_t<P>*>(packs);
  scatter_from<P>([&](std::ptrdiff_t k) __attribute__((always_inline)) { return numbers + order[k]; }, n, rows);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
