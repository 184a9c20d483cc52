#pragma once

#include <cstdint>
#include <type_traits>

#include "kansetsu/spatial/scalar.h"

/// sin and cos together, for numbers and packs: one branch-free algorithm, so that every lane has the bits of the scalar.
///
/// Quadrant: n = round(|x|·2/π), read from the low bits of the sum with a magic number.
/// Reduction: r + tail = |x| − n·π/2 with π/2 in parts so short that their products with n are exact (Cody & Waite 1980). With a
/// fused multiply-add the first part is as long as a number: |x| − n·part is one too.
/// Polynomials: sin r = r − r·z·S(z), cos r = 1 − z/2 + z²·C(z), z = r², least relative error on |r| ≤ π/4; their
/// coefficients and the parts of π/2 come from src/spatial/tools/sincos_coefficients.py.
namespace kansetsu {
namespace detail {

/// Integers of the size of T, lane by lane.
template <class T>
struct IntOf {
  using type = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
};
template <class T>
  requires requires { typename T::IntVector; }
struct IntOf<T> {
  using type = typename T::IntVector;
};

/// Where the sign bit is set, as select() takes it.
template <class T>
KANSETSU_HD auto negative(const typename IntOf<T>::type& bits) {
  if constexpr (requires { typename T::Mask; })
    return typename T::Mask{typename IntOf<T>::type(bits < 0)};
  else
    return bits < 0;
}

/// Members, not static ones: CUDA has no device copy of a static array.
template <class S>
struct SincosConstants;

template <>
struct SincosConstants<double> {
  double two_over_pi = 0x1.45f306dc9c883p-1;
  double magic = 0x1.8p52;  ///< its last bit counts ones; 1.5 keeps the exponent for either sign
#if defined(KANSETSU_FUSES)
  double half_pi[3] = {0x1.921fb54442d18p+0, 0x1.1a626331p-54, 0x1.1701b839a252p-88};
#else
  double half_pi[3] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
#endif
  double S[6] = {0x1.5555555555548p-3,   -0x1.111111110f730p-7, 0x1.a01a019be9212p-13,
                 -0x1.71de35552aaacp-19, 0x1.ae5e4b830f1f3p-26, -0x1.5d8b553fce991p-33};
  double C[6] = {0x1.555555555554bp-5,   -0x1.6c16c16c15013p-10, 0x1.a01a019c8ed07p-16,
                 -0x1.27e4f7f141083p-22, 0x1.1ee9db8e24ed5p-29,  -0x1.8fa65e88311bfp-37};
};

template <>
struct SincosConstants<float> {
  float two_over_pi = 0x1.45f306p-1f;
  float magic = 0x1.8p23f;
#if defined(KANSETSU_FUSES)
  float half_pi[3] = {0x1.921fb4p+0f, 0x1.444p-24f, 0x1.68c234p-39f};
#else
  float half_pi[4] = {0x1.92p+0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f};
#endif
  float S[3] = {0x1.555546p-3f, -0x1.110778p-7f, 0x1.9953fep-13f};
  float C[3] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f};
};

template <class T, class S, int N>
KANSETSU_HD T polynomial(const T& z, const S (&c)[N]) {
  T p = T(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) p = madd(p, z, T(c[i]));
  return p;
}

/// |x| = r + tail + quadrant·π/2, with the bits of x and those of a number whose last two bits are the quadrant.
template <class T>
struct Quarter {
  typename IntOf<T>::type x, quadrant;
  T r, tail;
};

template <class T>
KANSETSU_HD Quarter<T> to_quarter(const T& x) {
  constexpr SincosConstants<scalar_t<T>> K{};
  using Int = typename IntOf<T>::type;
  constexpr int parts = int(sizeof(K.half_pi) / sizeof(scalar_t<T>));
  const Int sign = (Int{} + 1) << (8 * int(sizeof(scalar_t<T>)) - 1);
  const Int x_bits = __builtin_bit_cast(Int, x);
  const T a = __builtin_bit_cast(T, Int(x_bits & ~sign));
  const T rounded = madd(a, T(K.two_over_pi), T(K.magic));
  const T n = rounded - T(K.magic);

  T b = a;
  for (int i = 0; i + 2 < parts; ++i) b = msub(n, T(K.half_pi[i]), b);  // no rounding
  const T middle = T(K.half_pi[parts - 2]);
#if defined(KANSETSU_FUSES)
  const T d = msub(n, middle, b);
  const T rounding = msub(n, middle, b - d);  // b − d has no rounding: n·middle is the smaller one, or d is exact
#else
  const T w = n * middle;  // none either
  const T d = b - w;
  const T v = d - b;
  const T rounding = (b - (d - v)) - (w + v);  // d + rounding = b − w (Knuth's two-sum)
#endif
  const T rest = msub(T(K.half_pi[parts - 1]), n, rounding);
#if defined(KANSETSU_FUSES)
  // Of doubles the last part is so small that this is a tail as it is, however near x is to a multiple of π/2.
  if constexpr (sizeof(scalar_t<T>) == 8) return {x_bits, __builtin_bit_cast(Int, rounded), d, rest};
#endif
  const T r = d + rest;
  return {x_bits, __builtin_bit_cast(Int, rounded), r, (d - r) + rest};
}

/// The sine and cosine of r + tail.
template <class T>
KANSETSU_HD void within_quarter(const T& r, const T& tail, const T& z, const T& S, const T& C, T& s, T& c) {
  const T half = T(scalar_t<T>(0.5)), one = T(scalar_t<T>(1));
  const T head = msub(half, z, one);              // exact together with
  const T head_rest = msub(half, z, one - head);  // this
  s = r + msub(r * z, S, tail * head);
  c = head + madd(z * z, C, msub(r, tail, head_rest));
}

/// S(z) and C(z), powers of N numbers side by side.
template <int N, class T>
KANSETSU_HD void sincos_polynomials(const T (&z)[N], T (&S)[N], T (&C)[N]) {
  constexpr SincosConstants<scalar_t<T>> K{};
  constexpr int terms = int(sizeof(K.S) / sizeof(scalar_t<T>));
  for (int i = 0; i < N; ++i) S[i] = T(K.S[terms - 1]), C[i] = T(K.C[terms - 1]);
  for (int k = terms - 2; k >= 0; --k) {
    for (int i = 0; i < N; ++i) S[i] = madd(S[i], z[i], T(K.S[k])), C[i] = madd(C[i], z[i], T(K.C[k]));
  }
}

/// From the sine and cosine of r those of x.
template <class T>
KANSETSU_HD void from_quarter(const Quarter<T>& q, const T& z, const T& S, const T& C, T& s, T& c) {
  using Int = typename IntOf<T>::type;
  constexpr int top = 8 * int(sizeof(scalar_t<T>)) - 1;  // the sign bit
  const Int sign = (Int{} + 1) << top;
  T sin_r, cos_r;
  within_quarter(q.r, q.tail, z, S, C, sin_r, cos_r);

  // quadrant 0 1 2 3: sin x = s c −s −c, cos x = c −s −c s
  const Int bit0 = q.quadrant << top, bit1 = q.quadrant << (top - 1);
  const auto odd = negative<T>(bit0);
  const Int s_bits = __builtin_bit_cast(Int, select(odd, cos_r, sin_r));
  const Int c_bits = __builtin_bit_cast(Int, select(odd, sin_r, cos_r));
  s = __builtin_bit_cast(T, Int(s_bits ^ ((q.x ^ bit1) & sign)));
  c = __builtin_bit_cast(T, Int(c_bits ^ ((bit1 ^ bit0) & sign)));
}

}  // namespace detail

/// sincos() of N numbers, in step: each alone is a long chain of operations that wait for one another. s may be x.
template <int N, class T>
KANSETSU_HD void sincos_in_step(const T* x, T* s, T* c) {
  detail::Quarter<T> q[N];
  T z[N], S[N], C[N];
  for (int i = 0; i < N; ++i) q[i] = detail::to_quarter(x[i]), z[i] = q[i].r * q[i].r;
  detail::sincos_polynomials(z, S, C);
  for (int i = 0; i < N; ++i) detail::from_quarter(q[i], z[i], S[i], C[i], s[i], c[i]);
}

/// s = sin x, c = cos x. Less than 1 ulp off for |x| ≤ 1e4 rad (measured: 0.78 double, 0.80 float); double stays below 1.1 up
/// to 1e6. Beyond, the absolute error grows like |x|·2⁻⁵³ (float: 2⁻²⁴). Odd and even to the bit, sin(−0) = −0, NaN for NaN
/// and ±∞. Bounded by 1 for |x| ≤ 3e15 (float: 6e6); farther out, where x no longer knows its turn, finite up to 1e9 at
/// least, but meaningless.
template <class T>
KANSETSU_HD void sincos(const T& x, T& s, T& c) {
  const T angle = x;  // which s or c may overwrite
  sincos_in_step<1>(&angle, &s, &c);
}

}  // namespace kansetsu
