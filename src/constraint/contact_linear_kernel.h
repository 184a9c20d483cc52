#pragma once

#include "constraint/eight.h"

/// Dense systems of the contact solver: row-major, rows padded to whole packs of eight, the right side in column n.
namespace kansetsu::kernel::inline KANSETSU_ISA {

KANSETSU_HD Eight& eight(double* p) { return *reinterpret_cast<Eight*>(p); }
KANSETSU_HD double absolute(double a) { return a < 0 ? -a : a; }
KANSETSU_HD double larger(double a, double b) { return a > b ? a : b; }
KANSETSU_HD double smaller(double a, double b) { return a < b ? a : b; }

/// One lane in all; the number is known when loops are unrolled.
KANSETSU_HD Eight lane_everywhere(const Eight& a, int lane) {
  switch (lane) {
    case 0:
      return broadcast<0>(a);
    case 1:
      return broadcast<1>(a);
    case 2:
      return broadcast<2>(a);
    case 3:
      return broadcast<3>(a);
    case 4:
      return broadcast<4>(a);
    case 5:
      return broadcast<5>(a);
    case 6:
      return broadcast<6>(a);
    default:
      return broadcast<7>(a);
  }
}

/// Gauss–Jordan without exchanges on N×N rows that already hold the right side in column N: no second sweep, no
/// triangular loops, everything in registers. False if a pivot falls to `share` of its diagonal.
template <int N>
KANSETSU_HD bool eliminate(Eight (&r)[N][(N + 8) / 8], double share, double* x) {
  constexpr int W = (N + 8) / 8;
  double inverse[N], floor[N];
#pragma GCC unroll 16
  for (int k = 0; k < N; ++k) floor[k] = share * r[k][k / 8][k % 8];
  bool good = true;
#pragma GCC unroll 16
  for (int k = 0; k < N; ++k) {
    const double pivot = r[k][k / 8][k % 8];
    good &= pivot > floor[k] && pivot > 0;
    inverse[k] = 1 / pivot;
    const Eight scale(-inverse[k]);
    Eight scaled[W];
#pragma GCC unroll 4
    for (int j = k / 8; j < W; ++j) scaled[j] = r[k][j] * scale;
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) {
      if (i == k) continue;
      const Eight m = lane_everywhere(r[i][k / 8], k % 8);
#pragma GCC unroll 4
      for (int j = k / 8; j < W; ++j) r[i][j] = madd(m, scaled[j], r[i][j]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) x[i] = r[i][N / 8][N % 8] * inverse[i];
  return good;
}

/// A·x = −c.
template <int N>
inline bool solve_definite(const double* A, int ld, const double* c, double share, double* x) {
  constexpr int W = (N + 8) / 8;
  Eight r[N][W];
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) {
#pragma GCC unroll 4
    for (int k = 0; k < W; ++k) r[i][k] = *reinterpret_cast<const Eight*>(A + i * ld + 8 * k);
    r[i][N / 8].set(N % 8, -c[i]);
  }
  return eliminate<N>(r, share, x);
}

/// A·x = −c where rows 6 and 7 of fourteen are none: two blocks of six, each in a register of its own.
inline bool solve_two_blocks(const double* A, int ld, const double* c, double share, double* x) {
  constexpr int kLane = 6;  // of the right side
  Eight r[12][2];
  double inverse[12], floor[12];
#pragma GCC unroll 16
  for (int i = 0; i < 12; ++i) {
    const int row = i < 6 ? i : i + 2;
    r[i][0] = *reinterpret_cast<const Eight*>(A + row * ld);
    r[i][1] = *reinterpret_cast<const Eight*>(A + row * ld + 8);
    r[i][1].set(kLane, -c[row]);
    floor[i] = share * r[i][i / 6][i % 6];
  }
  bool good = true;
#pragma GCC unroll 16
  for (int k = 0; k < 12; ++k) {
    const double pivot = r[k][k / 6][k % 6];
    good &= pivot > floor[k] && pivot > 0;
    inverse[k] = 1 / pivot;
    const Eight scale(-inverse[k]), first = r[k][0] * scale, second = r[k][1] * scale;
#pragma GCC unroll 16
    for (int i = 0; i < 12; ++i) {
      if (i == k) continue;
      const Eight m = lane_everywhere(r[i][k / 6], k % 6);
      if (k < 6) r[i][0] = madd(m, first, r[i][0]);
      r[i][1] = madd(m, second, r[i][1]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < 12; ++i) x[i < 6 ? i : i + 2] = r[i][1][kLane] * inverse[i];
  x[6] = x[7] = 0;
  return good;
}

/// y += s·x over whole packs.
inline void add_scaled(double s, const double* x, int n, double* y) {
  const Eight m(s);
  for (int i = 0; i < n; i += 8) eight(y + i) = madd(m, *reinterpret_cast<const Eight*>(x + i), eight(y + i));
}

/// Elimination without exchanges of a symmetric positive semidefinite system. Pivots at or below `share` of their diagonal
/// are dropped (unknown zero). @return the number dropped. The matrix is overwritten.
inline int solve_semidefinite(double* A, int n, int ld, double share, double* x, double* diagonal) {
  int dropped = 0;
  for (int k = 0; k < n; ++k) diagonal[k] = A[k * ld + k];
  for (int k = 0; k < n; ++k) {
    double* Ak = A + k * ld;
    if (!(Ak[k] > share * diagonal[k]) || !(Ak[k] > 0)) {
      Ak[k] = 0;
      ++dropped;
      continue;
    }
    const double inverse = 1 / Ak[k];
    const int first = k / 8 * 8;
    for (int i = k + 1; i < n; ++i) {
      double* Ai = A + i * ld;
      const double factor = -(Ai[k] * inverse);
      if (factor == 0) continue;
      const Eight m(factor);
      for (int j = first; j <= n; j += 8) eight(Ai + j) = madd(m, eight(Ak + j), eight(Ai + j));
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* Ak = A + k * ld;
    double s = Ak[n];
    for (int j = k + 1; j < n; ++j) s -= Ak[j] * x[j];
    x[k] = Ak[k] > 0 ? s / Ak[k] : 0.0;
  }
  return dropped;
}

/// Inverse of a block of up to three pivots. False if one of them, eliminated in turn, falls to its floor.
template <int N>
KANSETSU_HD bool invert(const double (&B)[N][N], const double* floor, double (&out)[N][N]) {
  bool good = B[0][0] > floor[0] && B[0][0] > 0;
  if constexpr (N == 1) {
    out[0][0] = 1 / B[0][0];
  } else if constexpr (N == 2) {
    const double det = B[0][0] * B[1][1] - B[0][1] * B[1][0], scale = 1 / det;
    good &= det > floor[1] * B[0][0] && det > 0;
    out[0][0] = B[1][1] * scale, out[0][1] = -B[0][1] * scale;
    out[1][0] = -B[1][0] * scale, out[1][1] = B[0][0] * scale;
  } else {
    const double minor = B[0][0] * B[1][1] - B[0][1] * B[1][0];
    const double c00 = B[1][1] * B[2][2] - B[1][2] * B[2][1], c01 = B[1][2] * B[2][0] - B[1][0] * B[2][2];
    const double c02 = B[1][0] * B[2][1] - B[1][1] * B[2][0];
    const double det = B[0][0] * c00 + B[0][1] * c01 + B[0][2] * c02, scale = 1 / det;
    good &= minor > floor[1] * B[0][0] && minor > 0 && det > floor[2] * minor && det > 0;
    out[0][0] = c00 * scale, out[1][0] = c01 * scale, out[2][0] = c02 * scale;
    out[0][1] = (B[0][2] * B[2][1] - B[0][1] * B[2][2]) * scale;
    out[1][1] = (B[0][0] * B[2][2] - B[0][2] * B[2][0]) * scale;
    out[2][1] = (B[0][1] * B[2][0] - B[0][0] * B[2][1]) * scale;
    out[0][2] = (B[0][1] * B[1][2] - B[0][2] * B[1][1]) * scale;
    out[1][2] = (B[0][2] * B[1][0] - B[0][0] * B[1][2]) * scale;
    out[2][2] = minor * scale;
  }
  return good;
}

/// Makes the pivots of lines k to k + N − 1 one, and eliminates their unknowns from the lines below. Of each line the kPacks
/// registers from A on; 0: `packs` of them, in memory.
template <int kPacks, int N>
inline bool eliminate_lines(double* A, int k, int m, int ld, int packs, const int* at, const double* floor,
                            double* rhs) {
  constexpr int kHeld = kPacks > 0 ? kPacks : 1;
  double B[N][N], inverse[N][N], right[N];
  for (int a = 0; a < N; ++a) {
    for (int b = 0; b < N; ++b) B[a][b] = A[(k + a) * ld + at[b]];
  }
  if (!invert<N>(B, floor + k, inverse)) return false;
  for (int a = 0; a < N; ++a) {
    right[a] = 0;
    for (int b = 0; b < N; ++b) right[a] += inverse[a][b] * rhs[k + b];
  }
  for (int a = 0; a < N; ++a) rhs[k + a] = right[a];
  Eight line[N][kHeld];
  for (int j = 0; j < (kPacks > 0 ? kPacks : packs); ++j) {
    Eight from[N];
    for (int b = 0; b < N; ++b) from[b] = eight(A + (k + b) * ld + 8 * j);
    for (int a = 0; a < N; ++a) {
      Eight sum = Eight(inverse[a][0]) * from[0];
      for (int b = 1; b < N; ++b) sum = madd(Eight(inverse[a][b]), from[b], sum);
      eight(A + (k + a) * ld + 8 * j) = sum;
      if constexpr (kPacks > 0) line[a][j] = sum;
    }
  }
  for (int i = k + N; i < m; ++i) {
    double* Ai = A + i * ld;
    double sum = rhs[i];
    Eight factor[N];
    for (int a = 0; a < N; ++a) {
      factor[a] = Eight(-Ai[at[a]]);
      sum -= Ai[at[a]] * right[a];
    }
    rhs[i] = sum;
    for (int j = 0; j < (kPacks > 0 ? kPacks : packs); ++j) {
      Eight x = eight(Ai + 8 * j);
      for (int a = 0; a < N; ++a) {
        if constexpr (kPacks > 0)
          x = madd(factor[a], line[a][j], x);
        else
          x = madd(factor[a], eight(A + (k + a) * ld + 8 * j), x);
      }
      eight(Ai + 8 * j) = x;
    }
  }
  return true;
}
template <int N>
inline bool eliminate_lines(double* A, int k, int m, int ld, int packs, const int* at, const double* floor,
                            double* rhs) {
  switch (packs) {
    case 1:
      return eliminate_lines<1, N>(A, k, m, ld, packs, at, floor, rhs);
    case 2:
      return eliminate_lines<2, N>(A, k, m, ld, packs, at, floor, rhs);
    case 3:
      return eliminate_lines<3, N>(A, k, m, ld, packs, at, floor, rhs);
    case 4:
      return eliminate_lines<4, N>(A, k, m, ld, packs, at, floor, rhs);
    case 5:
      return eliminate_lines<5, N>(A, k, m, ld, packs, at, floor, rhs);
    default:
      return eliminate_lines<0, N>(A, k, m, ld, packs, at, floor, rhs);
  }
}

/// Elimination without exchanges of m lines of `packs` registers, three unknowns at a time; unknown i is in column[i], its right
/// side in rhs[i]. Registers that hold no column of an unknown that is left are left alone. False if a pivot falls to `share` of its
/// diagonal; lines and right sides are overwritten.
inline bool solve_lines(double* A, int m, int ld, int packs, const int* column, double share, double* rhs,
                        double* floor, double* x) {
  for (int k = 0; k < m; ++k) floor[k] = share * A[k * ld + column[k]];
  for (int k = 0; k < m; k += 3) {
    int first = column[k], at[3] = {};
    for (int i = k + 1; i < m; ++i) first = column[i] < first ? column[i] : first;
    first = first / 8 * 8;
    const int count = m - k < 3 ? m - k : 3, left = packs - first / 8;
    for (int a = 0; a < count; ++a) at[a] = column[k + a] - first;
    double* from = A + first;
    const bool good = count == 3   ? eliminate_lines<3>(from, k, m, ld, left, at, floor, rhs)
                      : count == 2 ? eliminate_lines<2>(from, k, m, ld, left, at, floor, rhs)
                                   : eliminate_lines<1>(from, k, m, ld, left, at, floor, rhs);
    if (!good) return false;
  }
  for (int k = (m - 1) / 3 * 3; k >= 0; k -= 3) {  // column by column: sums would wait for each other
    const int count = m - k < 3 ? m - k : 3;
    double value[3] = {0, 0, 0};
    const double* at[3] = {A, A, A};
    for (int a = 0; a < count; ++a) value[a] = x[k + a] = rhs[k + a], at[a] = A + column[k + a];
    for (int i = 0; i < k; ++i) {
      rhs[i] -= at[0][i * ld] * value[0] + at[1][i * ld] * value[1] + at[2][i * ld] * value[2];
    }
  }
  return true;
}

/// Elimination of a general system with row exchanges, rows scaled by their largest entry. Pivots below `share` are
/// dropped. @return the number dropped. The matrix is overwritten.
inline int solve_general(double* A, int n, int ld, double share, double* x, double* weight, int* order) {
  int dropped = 0;
  for (int i = 0; i < n; ++i) {
    double m = 0;
    for (int j = 0; j < n; ++j) m = larger(m, absolute(A[i * ld + j]));
    weight[i] = m > 0 ? 1 / m : 0.0;
    order[i] = i;
  }
  for (int k = 0; k < n; ++k) {
    int best = k;
    double most = -1;
    for (int i = k; i < n; ++i) {
      const double size = absolute(A[order[i] * ld + k]) * weight[order[i]];
      if (size > most) most = size, best = i;
    }
    const int swapped = order[k];
    order[k] = order[best], order[best] = swapped;
    double* Ak = A + order[k] * ld;
    if (!(most > share)) {
      Ak[k] = 0;
      ++dropped;
      continue;
    }
    const double inverse = 1 / Ak[k];
    const int first = k / 8 * 8;
    for (int i = k + 1; i < n; ++i) {
      double* Ai = A + order[i] * ld;
      const double factor = -(Ai[k] * inverse);
      if (factor == 0) continue;
      const Eight m(factor);
      for (int j = first; j <= n; j += 8) eight(Ai + j) = madd(m, eight(Ak + j), eight(Ai + j));
      Ai[k] = 0;
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* Ak = A + order[k] * ld;
    double s = Ak[n];
    for (int j = k + 1; j < n; ++j) s -= Ak[j] * x[j];
    x[k] = Ak[k] != 0 ? s / Ak[k] : 0.0;
  }
  return dropped;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
