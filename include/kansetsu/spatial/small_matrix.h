#pragma once

#include "kansetsu/spatial/inertia.h"

#if defined(__CUDACC__)
#define KANSETSU_INLINE_LAMBDA
#else
#define KANSETSU_INLINE_LAMBDA __attribute__((always_inline))
#endif

/// Symmetric positive (semi)definite systems of 1 to 6 unknowns, in registers and without branches on values.
namespace kansetsu {
namespace detail {

/// A number that is part of its type. (std::integral_constant is not callable from a CUDA kernel without further flags.)
template <int I>
struct Constant {
  KANSETSU_HD constexpr operator int() const { return I; }  // NOLINT(google-explicit-constructor): it stands for I
};

/// f(Begin), …, f(End − 1) with constant arguments. Loops would do for clang; gcc 12 unrolls them too late to keep the
/// arrays in registers (measured: loops are 2 to 4 times slower).
template <int Begin, int End, class F>
KANSETSU_HD void unroll(const F& f) {
  if constexpr (Begin < End) {
    f(Constant<Begin>{});
    unroll<Begin + 1, End>(f);
  }
}
/// f(End − 1), …, f(Begin)
template <int Begin, int End, class F>
KANSETSU_HD void unroll_down(const F& f) {
  if constexpr (Begin < End) {
    f(Constant<End - 1>{});
    unroll_down<Begin, End - 1>(f);
  }
}

}  // namespace detail

/// Lower triangle of a symmetric N×N matrix, row by row: entry (i, j), j ≤ i, at i(i+1)/2 + j.
template <class T, int N>
struct Lower {
  static constexpr int size = N * (N + 1) / 2;
  T a[size];

  KANSETSU_HD T& operator()(int i, int j) { return a[i * (i + 1) / 2 + j]; }
  KANSETSU_HD const T& operator()(int i, int j) const { return a[i * (i + 1) / 2 + j]; }
};

/// A = L·D·Lᵀ, L unit lower triangular. A pivot at or below the floor counts as a direction that does not respond: its row of
/// the solution is zero and the others solve the system without it, so that neither ∞ nor NaN arises from a singular A.
/// (NaN in A stays NaN in the result.) Without pivoting, which positive definite systems do not need.
template <class T, int N>
struct Ldlt {
  static_assert(N >= 1 && N <= 6);

  Lower<T, N> l;  ///< below the diagonal L, on it 1/D, or 0 where the pivot was dropped
  T least_pivot;  ///< smallest D met, dropped ones included
  T dropped;      ///< how many pivots were dropped, per lane

  KANSETSU_HD static Ldlt factor(const Lower<T, N>& A, const T& floor) {
    const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
    Ldlt f{A, A(0, 0), zero};
    Lower<T, N>& l = f.l;
    detail::unroll<0, N>([&](auto j) KANSETSU_INLINE_LAMBDA {
      const T pivot = l(j, j);
      const auto drop = pivot <= floor;
      const T inverse = select(drop, zero, one / select(drop, one, pivot));
      f.least_pivot = select(pivot < f.least_pivot, pivot, f.least_pivot);
      f.dropped += select(drop, one, zero);
      detail::unroll_down<j + 1, N>([&](auto i) KANSETSU_INLINE_LAMBDA {  // l(k, j) is still L·D when row i needs it
        const T l_ij = l(i, j) * inverse;
        detail::unroll<j + 1, i + 1>([&](auto k) KANSETSU_INLINE_LAMBDA { l(i, k) = msub(l_ij, l(k, j), l(i, k)); });
        l(i, j) = l_ij;
      });
      l(j, j) = inverse;
    });
    return f;
  }

  /// x ← A⁻¹·x
  KANSETSU_HD void solve(T (&x)[N]) const {
    detail::unroll<1, N>([&](auto i) KANSETSU_INLINE_LAMBDA {
      detail::unroll<0, i>([&](auto j) KANSETSU_INLINE_LAMBDA { x[i] = msub(l(i, j), x[j], x[i]); });
    });
    detail::unroll<0, N>([&](auto i) KANSETSU_INLINE_LAMBDA { x[i] = x[i] * l(i, i); });
    detail::unroll_down<0, N - 1>([&](auto i) KANSETSU_INLINE_LAMBDA {
      detail::unroll<i + 1, N>([&](auto j) KANSETSU_INLINE_LAMBDA { x[i] = msub(l(j, i), x[j], x[i]); });
    });
  }

  /// A⁻¹ with zero rows and columns where pivots were dropped.
  KANSETSU_HD Lower<T, N> inverse() const {
    Lower<T, N> m = l;  // below the diagonal first L⁻¹; then all of L⁻ᵀ·D⁻¹·L⁻¹ in place
    detail::unroll<1, N>([&](auto i) KANSETSU_INLINE_LAMBDA {
      detail::unroll<0, i>([&](auto j) KANSETSU_INLINE_LAMBDA {
        T sum = -l(i, j);
        detail::unroll<j + 1, i>([&](auto k) KANSETSU_INLINE_LAMBDA { sum = msub(l(i, k), m(k, j), sum); });
        m(i, j) = sum;
      });
    });
    detail::unroll<0, N>([&](auto j) KANSETSU_INLINE_LAMBDA {
      detail::unroll<j, N>([&](auto i) KANSETSU_INLINE_LAMBDA {  // Σ_k m_ki·m_kj/D_k from k = i, where m_ii counts as 1
        T sum = l(i, i);
        if constexpr (i > j) sum = sum * m(i, j);
        detail::unroll<i + 1, N>([&](auto k) KANSETSU_INLINE_LAMBDA { sum = madd(m(k, i) * l(k, k), m(k, j), sum); });
        m(i, j) = sum;
      });
    });
    return m;
  }
};

template <class T>
KANSETSU_HD Ldlt<T, 3> factor(const Sym3<T>& A, const T& floor) {
  return Ldlt<T, 3>::factor({{A.xx, A.xy, A.yy, A.xz, A.yz, A.zz}}, floor);
}
template <class T>
KANSETSU_HD Vec3<T> solve(const Ldlt<T, 3>& f, const Vec3<T>& b) {
  T x[3] = {b.x, b.y, b.z};
  f.solve(x);
  return {x[0], x[1], x[2]};
}
/// A⁻¹, with zero response in directions whose pivot does not pass the floor.
template <class T>
KANSETSU_HD Sym3<T> invert_sym3(const Sym3<T>& A, const T& floor) {
  const Lower<T, 3> m = factor(A, floor).inverse();
  return {m(0, 0), m(1, 0), m(2, 0), m(1, 1), m(2, 1), m(2, 2)};
}

/// P as a lower triangle, angular rows first.
template <class T>
KANSETSU_HD Ldlt<T, 6> factor(const ArticulatedInertia<T>& P, const T& floor) {
  const Sym3<T>&A = P.A, &M = P.M;
  const Mat3<T>& B = P.B;
  const Lower<T, 6> rows{{A.xx,                             //
                          A.xy,  A.yy,                      //
                          A.xz,  A.yz,  A.zz,               //
                          B.x.x, B.y.x, B.z.x, M.xx,        //
                          B.x.y, B.y.y, B.z.y, M.xy, M.yy,  //
                          B.x.z, B.y.z, B.z.z, M.xz, M.yz, M.zz}};
  return Ldlt<T, 6>::factor(rows, floor);
}
/// The motion that the wrench F gives: P⁻¹·F.
template <class T>
KANSETSU_HD Motion<T> solve(const Ldlt<T, 6>& f, const Force<T>& F) {
  T x[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
  f.solve(x);
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

}  // namespace kansetsu
