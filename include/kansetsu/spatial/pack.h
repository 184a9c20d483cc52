#pragma once

#include <cstdint>
#include <type_traits>
#if defined(__x86_64__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include "kansetsu/spatial/scalar.h"

namespace kansetsu {

template <class T, int W>
struct Pack;

/// Whether kernels for plain numbers may use packs inside: a CUDA thread has no SIMD registers, and nvcc no vector types.
#if defined(__CUDACC__)
inline constexpr bool kHasPacks = false;
#else
inline constexpr bool kHasPacks = true;
#endif

/// Number of doubles (or floats) in the widest register of the instruction set this file is compiled for.
#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif
template <class T>
using NativePack = Pack<T, kRegisterBytes / int(sizeof(T))>;

#if !defined(__CUDACC__)

namespace detail {
/// The vector types of a Pack, in a separate struct: gcc 12 mistakes a vector typedef whose size depends on a template
/// parameter for its element type when it checks the overloads of the class that declares it.
template <class T, int W>
struct PackTypes {
  using Int = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef T Vector __attribute__((vector_size(W * sizeof(T))));
  typedef Int IntVector __attribute__((vector_size(W * sizeof(T))));
};
}  // namespace detail

/// W numbers in a SIMD register: a kernel instantiated for Pack computes W states at once, each lane with the bits of the
/// scalar instantiation. Uses compiler vector extensions; W·sizeof(T) is best a register's size.
/// Aligned to its size in every build: gcc aligns its vectors only as far as the enabled instruction set requires.
template <class T, int W>
struct alignas(W * sizeof(T)) Pack {
  using Vector = typename detail::PackTypes<T, W>::Vector;
  using IntVector = typename detail::PackTypes<T, W>::IntVector;
  /// Result of a comparison: all bits set in the lanes where it holds.
  struct Mask {
    IntVector m;
    KANSETSU_HD friend Mask operator&(const Mask& a, const Mask& b) { return {a.m & b.m}; }
    KANSETSU_HD friend Mask operator|(const Mask& a, const Mask& b) { return {a.m | b.m}; }
    KANSETSU_HD friend Mask operator!(const Mask& a) { return {~a.m}; }
  };
  static constexpr int width = W;

  Vector v;

  Pack() = default;
  KANSETSU_HD Pack(T s) : v(s - Vector{}) {}  // NOLINT(google-explicit-constructor): broadcast; s − 0 keeps −0
  KANSETSU_HD explicit Pack(Vector x) : v(x) {}

  KANSETSU_HD T operator[](int lane) const { return v[lane]; }
  KANSETSU_HD void set(int lane, T s) { v[lane] = s; }

  KANSETSU_HD friend Pack operator+(const Pack& a, const Pack& b) { return Pack(a.v + b.v); }
  KANSETSU_HD friend Pack operator-(const Pack& a, const Pack& b) { return Pack(a.v - b.v); }
  KANSETSU_HD friend Pack operator*(const Pack& a, const Pack& b) { return Pack(a.v * b.v); }
  KANSETSU_HD friend Pack operator/(const Pack& a, const Pack& b) { return Pack(a.v / b.v); }
  KANSETSU_HD friend Pack operator-(const Pack& a) { return Pack(-a.v); }
  KANSETSU_HD friend Pack operator+(const Pack& a) { return a; }
  KANSETSU_HD Pack& operator+=(const Pack& b) {
    v += b.v;
    return *this;
  }
  KANSETSU_HD Pack& operator-=(const Pack& b) {
    v -= b.v;
    return *this;
  }
  KANSETSU_HD Pack& operator*=(const Pack& b) {
    v *= b.v;
    return *this;
  }

  KANSETSU_HD friend Mask operator<(const Pack& a, const Pack& b) { return {IntVector(a.v < b.v)}; }
  KANSETSU_HD friend Mask operator>(const Pack& a, const Pack& b) { return {IntVector(a.v > b.v)}; }
  KANSETSU_HD friend Mask operator<=(const Pack& a, const Pack& b) { return {IntVector(a.v <= b.v)}; }
  KANSETSU_HD friend Mask operator>=(const Pack& a, const Pack& b) { return {IntVector(a.v >= b.v)}; }
  KANSETSU_HD friend Mask operator==(const Pack& a, const Pack& b) { return {IntVector(a.v == b.v)}; }
  KANSETSU_HD friend Pack select(const Mask& m, const Pack& a, const Pack& b) { return Pack(m.m ? a.v : b.v); }
};

template <class T, int W>
struct ScalarOf<Pack<T, W>> {
  using type = T;
};

template <class T, int W>
KANSETSU_HD Pack<T, W> madd(const Pack<T, W>& a, const Pack<T, W>& b, const Pack<T, W>& c) {
  using P = Pack<T, W>;
  [[maybe_unused]] constexpr int bytes = W * int(sizeof(T));
#if defined(__AVX512F__) && \
    defined(__FMA__)  // gcc's -mavx512f alone does not imply -mfma, and then scalars do not fuse
  if constexpr (bytes == 64 && sizeof(T) == 8)
    return P(typename P::Vector(_mm512_fmadd_pd(__m512d(a.v), __m512d(b.v), __m512d(c.v))));
  if constexpr (bytes == 64 && sizeof(T) == 4)
    return P(typename P::Vector(_mm512_fmadd_ps(__m512(a.v), __m512(b.v), __m512(c.v))));
#endif
#if defined(__FMA__)
  if constexpr (bytes == 32 && sizeof(T) == 8)
    return P(typename P::Vector(_mm256_fmadd_pd(__m256d(a.v), __m256d(b.v), __m256d(c.v))));
  if constexpr (bytes == 32 && sizeof(T) == 4)
    return P(typename P::Vector(_mm256_fmadd_ps(__m256(a.v), __m256(b.v), __m256(c.v))));
  if constexpr (bytes == 16 && sizeof(T) == 8)
    return P(typename P::Vector(_mm_fmadd_pd(__m128d(a.v), __m128d(b.v), __m128d(c.v))));
  if constexpr (bytes == 16 && sizeof(T) == 4)
    return P(typename P::Vector(_mm_fmadd_ps(__m128(a.v), __m128(b.v), __m128(c.v))));
  P r;
  for (int i = 0; i < W; ++i) r.v[i] = madd(a.v[i], b.v[i], c.v[i]);
  return r;
#else
  return P(a.v * b.v + c.v);
#endif
}

/// c − a·b, the bits of madd(−a, b, c): −a would take a further instruction and register.
template <class T, int W>
KANSETSU_HD Pack<T, W> msub(const Pack<T, W>& a, const Pack<T, W>& b, const Pack<T, W>& c) {
  using P = Pack<T, W>;
  [[maybe_unused]] constexpr int bytes = W * int(sizeof(T));
#if defined(__AVX512F__) && defined(__FMA__)
  if constexpr (bytes == 64 && sizeof(T) == 8)
    return P(typename P::Vector(_mm512_fnmadd_pd(__m512d(a.v), __m512d(b.v), __m512d(c.v))));
  if constexpr (bytes == 64 && sizeof(T) == 4)
    return P(typename P::Vector(_mm512_fnmadd_ps(__m512(a.v), __m512(b.v), __m512(c.v))));
#endif
#if defined(__FMA__)
  if constexpr (bytes == 32 && sizeof(T) == 8)
    return P(typename P::Vector(_mm256_fnmadd_pd(__m256d(a.v), __m256d(b.v), __m256d(c.v))));
  if constexpr (bytes == 32 && sizeof(T) == 4)
    return P(typename P::Vector(_mm256_fnmadd_ps(__m256(a.v), __m256(b.v), __m256(c.v))));
  if constexpr (bytes == 16 && sizeof(T) == 8)
    return P(typename P::Vector(_mm_fnmadd_pd(__m128d(a.v), __m128d(b.v), __m128d(c.v))));
  if constexpr (bytes == 16 && sizeof(T) == 4)
    return P(typename P::Vector(_mm_fnmadd_ps(__m128(a.v), __m128(b.v), __m128(c.v))));
  return madd(-a, b, c);
#else
  return P(c.v - a.v * b.v);
#endif
}

template <class T, int W>
KANSETSU_HD Pack<T, W> sqrt(const Pack<T, W>& a) {
  using P = Pack<T, W>;
  [[maybe_unused]] constexpr int bytes = W * int(sizeof(T));
#if defined( \
    __AVX512F__)  // with a full mask: the plain form makes gcc 12 warn of an uninitialised operand (gcc bug 105593)
  if constexpr (bytes == 64 && sizeof(T) == 8) return P(typename P::Vector(_mm512_maskz_sqrt_pd(0xff, __m512d(a.v))));
  if constexpr (bytes == 64 && sizeof(T) == 4) return P(typename P::Vector(_mm512_maskz_sqrt_ps(0xffff, __m512(a.v))));
#endif
#if defined(__AVX__)
  if constexpr (bytes == 32 && sizeof(T) == 8) return P(typename P::Vector(_mm256_sqrt_pd(__m256d(a.v))));
  if constexpr (bytes == 32 && sizeof(T) == 4) return P(typename P::Vector(_mm256_sqrt_ps(__m256(a.v))));
#endif
#if defined(__x86_64__)
  if constexpr (bytes == 16 && sizeof(T) == 8) return P(typename P::Vector(_mm_sqrt_pd(__m128d(a.v))));
  if constexpr (bytes == 16 && sizeof(T) == 4) return P(typename P::Vector(_mm_sqrt_ps(__m128(a.v))));
#endif
  P r;
  for (int i = 0; i < W; ++i) r.v[i] = std::sqrt(a.v[i]);
  return r;
}

#else

/// For nvcc: layout only, device code does not compute with packs.
template <class T, int W>
struct alignas(W * sizeof(T)) Pack {
  static constexpr int width = W;
  T v[W];

  Pack() = default;
  Pack(T s) {  // NOLINT(google-explicit-constructor): broadcast
    for (T& lane : v) lane = s;
  }
};

template <class T, int W>
struct ScalarOf<Pack<T, W>> {
  using type = T;
};

#endif

}  // namespace kansetsu
