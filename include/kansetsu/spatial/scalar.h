#pragma once

#include <cmath>
#include <type_traits>

#include "kansetsu/base/macros.h"

/// The operations of a scalar type T in kernels, here for double and float, in pack.h for Pack<T, W>.
/// Kernels never branch on values of T: comparisons give a mask and select() picks.
namespace kansetsu {

/// The plain number type inside T: double for double and for Pack<double, 8>.
template <class T>
struct ScalarOf {
  using type = T;
};
template <class T>
using scalar_t = typename ScalarOf<T>::type;

/// Defined where madd() rounds once.
#if defined(__CUDA_ARCH__) || defined(__FMA__)
#define KANSETSU_FUSES
#endif

/// a·b + c. One rounding where the instruction set has a fused multiply-add, two where it has not; the same choice for
/// scalars and packs of one build, so that all widths give the same bits.
template <class T>
  requires std::is_floating_point_v<T>
KANSETSU_HD T madd(T a, T b, T c) {
#if defined(KANSETSU_FUSES)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <class T>
  requires std::is_floating_point_v<T>
KANSETSU_HD T select(bool mask, T if_true, T if_false) {
  return mask ? if_true : if_false;
}

/// A template, so that the standard sqrt of a double stays the better match after "using namespace kansetsu".
template <class T>
  requires std::is_floating_point_v<T>
KANSETSU_HD T sqrt(T x) {
  return std::sqrt(x);
}

/// A model constant in the scalar type of a kernel: rounded to float where T is, broadcast to all lanes of a pack.
template <class T, class S>
KANSETSU_HD T lift(const S& s)
  requires std::is_arithmetic_v<S> || std::is_same_v<S, T>
{
  if constexpr (std::is_arithmetic_v<S>)
    return T(static_cast<scalar_t<T>>(s));
  else
    return s;
}

/// c − a·b
template <class T>
KANSETSU_HD T msub(const T& a, const T& b, const T& c) {
  return madd(-a, b, c);
}

}  // namespace kansetsu
