#pragma once

#include "kansetsu/spatial/scalar.h"

/// Clusters of a chain of 1-DOF joints: the clusters of front_kernel.h with a fixed shape, made for low latency rather than
/// few operations. A team of lanes joins two clusters: every lane factors the five closing rows redundantly and then
/// computes a column. Back substitution needs no team: each thread computes the forces at its own link.
/// docs/theory/assembly.md, "On a device".
namespace kansetsu {

/// A cluster: eleven rows of twelve. Rows and columns 0…4 lead toward the base, 5…9 toward the tip; column 10 is the right side.
/// Row 10 is not a constraint: it is the last link's contribution to the acceleration of the next joint. Column 11 of rows 0…4 holds
/// the right side of the joint before the cluster. At the tip of a ring rows 5…10 belong to its closure, and column 11 of rows
/// 5…10 to the last row of the closure.
inline constexpr int kChainStride = 12;
inline constexpr int kChainOut = 11 * kChainStride;
/// Forces of a joint from those at the ends of its cluster, n = u − U·(base, tip): five rows of [U 10, u, U of a sixth row at the tip].
inline constexpr int kChainForce = 5 * kChainStride;

}  // namespace kansetsu

namespace kansetsu::kernel::inline KANSETSU_ISA {

KANSETSU_HD double chain_reciprocal(double x) {
#if defined(__CUDA_ARCH__)
  double y;  // 20 bits, tripled by one step: half the latency of a division; not always rounded correctly
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = madd(-x, y, 1.0);
  return madd(y, madd(e, e, e), y);
#else
  return 1 / x;
#endif
}

/// Inverse of a positive definite matrix of five rows in blocks of two and three: two dependent divisions instead of five. The
/// inverses of the blocks by cofactors do not depend on the scale of their rows.
struct ChainRows {
  double P[3];  ///< inverse of the first block: 00, 10, 11
  double L[6];  ///< 3 × 2
  double S[6];  ///< inverse of the Schur complement: 00, 10, 11, 20, 21, 22

  /// @param Y  rows of the lower triangle
  KANSETSU_HD explicit ChainRows(const double (&Y)[15]) {
    const double by = chain_reciprocal(msub(Y[1], Y[1], Y[0] * Y[2]));
    P[0] = Y[2] * by, P[1] = -Y[1] * by, P[2] = Y[0] * by;
    constexpr int kRow[3] = {3, 6, 10};
    double Q[6];
    for (int i = 0; i < 3; ++i) {
      const double b0 = Y[kRow[i]], b1 = Y[kRow[i] + 1];
      L[2 * i] = madd(b0, P[0], b1 * P[1]);
      L[2 * i + 1] = madd(b0, P[1], b1 * P[2]);
      for (int k = 0; k <= i; ++k) {
        Q[i * (i + 1) / 2 + k] = msub(L[2 * i], Y[kRow[k]], msub(L[2 * i + 1], Y[kRow[k] + 1], Y[kRow[i] + 2 + k]));
      }
    }
    S[0] = msub(Q[4], Q[4], Q[2] * Q[5]);
    S[1] = msub(Q[1], Q[5], Q[3] * Q[4]);
    S[2] = msub(Q[3], Q[3], Q[0] * Q[5]);
    S[3] = msub(Q[2], Q[3], Q[1] * Q[4]);
    S[4] = msub(Q[0], Q[4], Q[1] * Q[3]);
    S[5] = msub(Q[1], Q[1], Q[0] * Q[2]);
    const double rest = chain_reciprocal(madd(Q[0], S[0], madd(Q[1], S[1], Q[3] * S[3])));
    for (double& s : S) s *= rest;
  }

  /// x ← Y⁻¹·x
  KANSETSU_HD void solve(double (&x)[5]) const {
    double t[3];
    for (int i = 0; i < 3; ++i) t[i] = msub(L[2 * i], x[0], msub(L[2 * i + 1], x[1], x[2 + i]));
    x[2] = madd(S[0], t[0], madd(S[1], t[1], S[3] * t[2]));
    x[3] = madd(S[1], t[0], madd(S[2], t[1], S[4] * t[2]));
    x[4] = madd(S[3], t[0], madd(S[4], t[1], S[5] * t[2]));
    const double a = x[0], b = x[1];
    for (int k = 0; k < 2; ++k) {
      const double own = madd(P[k], a, P[k + 1] * b);
      x[k] = msub(L[k], x[2], msub(L[2 + k], x[3], msub(L[4 + k], x[4], own)));
    }
  }
};

/// Joins B (toward the tip) to A; the result takes A's place. @param ring  there may be a sixth row at the tip
/// @param U  out, kChainForce numbers: of the joint between them
template <class Lanes>
KANSETSU_HD void join_chain(const Lanes& lanes, bool ring, double* A, const double* B, double* U) {
  const int last = ring ? 11 : 10;
  constexpr int kItems = 32 / Lanes::kSize;  // an item: half of the rows of a column
  double Y[15], kept[kItems][6];
  for (int j = 0; j < 5; ++j) {
    for (int k = 0; k <= j; ++k) Y[j * (j + 1) / 2 + k] = A[kChainStride * (5 + j) + 5 + k] + B[kChainStride * j + k];
  }
  const ChainRows rows(Y);
  for (int item = 0; item < kItems; ++item) {
    const int half = (lanes.rank() + item * Lanes::kSize) / 16, c = (lanes.rank() + item * Lanes::kSize) % 16;
    if (c > last) continue;
    const bool of_A = c < 5 || c == 10, of_B = c >= 5;
    double u[5];
    for (int j = 0; j < 5; ++j) {
      u[j] = of_A ? A[kChainStride * (5 + j) + c] : 0.0;
      if (of_B) u[j] += c == 11 ? B[kChainStride * 10 + j] : B[kChainStride * j + c];
      if (c == 10) u[j] += B[kChainStride * j + 11];
    }
    rows.solve(u);
    const double* coupling = half == 0 ? A + kChainStride * 5 : B + 5;
    const double* own = half == 0 ? A : B + kChainStride * 5;
    const bool has_own = half == 0 ? of_A : of_B;
    for (int r = 0; r < 6; ++r) {
      double sum = has_own ? own[kChainStride * r + c] : 0.0;
      for (int j = 0; j < 5; ++j) {
        sum = msub(r < 5 ? coupling[kChainStride * j + r] : B[kChainStride * 10 + j], u[j], sum);
      }
      kept[item][r] = sum;
    }
    if (half == 0) {
      for (int j = 0; j < 5; ++j) U[kChainStride * j + c] = u[j];
    }
  }
  lanes.sync();
  for (int item = 0; item < kItems; ++item) {
    const int half = (lanes.rank() + item * Lanes::kSize) / 16, c = (lanes.rank() + item * Lanes::kSize) % 16;
    if (c > last) continue;
    if (c == 11 && half == 0) continue;  // the right side of the joint before A stays
    for (int r = 0; r < 5 + half; ++r) A[kChainStride * (5 * half + r) + c] = kept[item][r];
  }
  lanes.sync();
}

/// Joins neighbours level by level; cluster i of a level is at place i·stride. The result is in the first place; the forces
/// between a and b of a join are at place b of U.
template <class Block>
KANSETSU_HD void join_all(const Block& block, bool ring, int count, double* out, double* U) {
  for (int stride = 1; stride < count; stride *= 2) {
    block.sync();
    for (int a = 2 * stride * block.warp(); a + stride < count; a += 2 * stride * block.warps()) {
      const int b = a + stride;
      join_chain(block.lanes, ring, out + kChainOut * a, out + kChainOut * b, U + kChainForce * b);
    }
  }
  block.sync();
}

/// Forces at the two ends of a cluster. Only the closure of a ring has a sixth one.
struct ChainEnds {
  double base[5], tip[6];
};

/// Back substitution: from the forces at the ends of the whole tree of clusters to those at the ends of cluster i.
KANSETSU_HD void descend(bool ring, int count, const double* U, int i, ChainEnds& ends) {
  int stride = 1;
  while (stride < count) stride *= 2;
  for (stride /= 2; stride >= 1; stride /= 2) {
    const int b = (i & ~(2 * stride - 1)) + stride;
    if (b >= count) continue;
    const double* row = U + kChainForce * b;
    double n[5];
    for (int j = 0; j < 5; ++j, row += kChainStride) {
      double x = row[10], y = row[5] * ends.tip[0];
      for (int k = 0; k < 5; ++k) x = msub(row[k], ends.base[k], x);
      for (int k = 1; k < 5; ++k) y = madd(row[5 + k], ends.tip[k], y);
      if (ring) y = madd(row[11], ends.tip[5], y);
      n[j] = x - y;
    }
    for (int j = 0; j < 5; ++j) {
      ends.base[j] = i >= b ? n[j] : ends.base[j];
      ends.tip[j] = i >= b ? ends.tip[j] : n[j];
    }
    if (ring && i < b) ends.tip[5] = 0;
  }
}

/// Forces at the ends of the whole chain: its tip is free, its base is held unless it is free, too.
KANSETSU_HD ChainEnds chain_ends(const double* root, bool free_base) {
  ChainEnds ends{};
  if (free_base) return ends;
  double Y[15];
  for (int j = 0; j < 5; ++j) {
    for (int k = 0; k <= j; ++k) Y[j * (j + 1) / 2 + k] = root[kChainStride * j + k];
    ends.base[j] = root[kChainStride * j + 10] + root[kChainStride * j + 11];
  }
  ChainRows(Y).solve(ends.base);
  return ends;
}

/// Row 10 of a cluster: the contribution of its last link to the next joint.
KANSETSU_HD double contribution(const double* row, const ChainEnds& ends) {
  double sum = -row[10];
  for (int k = 0; k < 5; ++k) sum = madd(row[k], ends.base[k], madd(row[5 + k], ends.tip[k], sum));
  return sum;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
