#pragma once

#include <cmath>

#include "assembly/chain_data.h"

/// Rings: the rows of the closure at the two ends of the whole chain, and the forces there when all links are joined. The rows,
/// their scale and the rule for redundant ones are those of the closures of Assembly (load.cc, front_kernel.h).
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Mobility of a free link: acceleration along F per unit force along F.
KANSETSU_HD double chain_mobility(const ChainLink& link, const Force<>& F) {
  const double six[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
  double sum = 0;
  for (int r = 0; r < 6; ++r) {
    double y = 0;
    for (int k = 0; k <= r; ++k) y = madd(link.C_inv[6 * r + k], six[k], y);
    sum = madd(y, y, sum);
  }
  return sum;
}

/// Row k of the closure. @param first, last  links of the chain   @param tip, other  pose and velocity of the last link and of the other side, in the world
KANSETSU_HD void close_chain_row(const ChainView& chain, int k, const ChainLink& first, const ChainLink& last,
                                 const ChainCarry& tip, const ChainCarry& other, ChainClosing& out) {
  const ChainClosure& c = chain.closure;
  out.tip[k] = out.base[k] = Force<>{{0, 0, 0}, {0, 0, 0}};
  out.right[k] = 0;
  if (k >= c.rows) return;
  const ChainCarry a = c.tip_is_plug ? other : tip, b = c.tip_is_plug ? tip : other;
  const Transform<> X_aP = inverse(a.X) * (b.X * c.X_bJ);  // plug in a
  const Motion<> V_plug = inverse_times(c.X_bJ, b.v);
  Motion<> right = cross(V_plug, V_plug - inverse_times(X_aP, a.v));
  if (!c.to_base) {  // the apparent acceleration of the ground
    const Motion<> ground{{0, 0, 0}, -chain.gravity};
    right = c.tip_is_plug ? right + inverse_times(X_aP, ground) : right - inverse_times(c.X_bJ, ground);
  }
  const auto unit = [&](int direction) { return c.row[k] == direction ? 1.0 : 0.0; };
  const Force<> F{{unit(0), unit(1), unit(2)}, {unit(3), unit(4), unit(5)}};
  const Force<> on_a = -(X_aP * F), on_b = c.X_bJ * F;
  const Force<> on_tip = c.tip_is_plug ? on_b : on_a, on_other = c.tip_is_plug ? on_a : on_b;
  double mobility = chain_mobility(last, on_tip);
  if (c.to_base) mobility += chain_mobility(first, on_other);
  const double scale = 1 / std::sqrt(mobility);
  out.tip[k] = scale * on_tip;
  if (c.to_base) out.base[k] = scale * on_other;
  out.right[k] = scale * dot(right, F);
}

/// Memory of ring_ends: six rows of the closure and five of the base, each of six columns and the right side, then the result.
inline constexpr int kRingStride = 8;
KANSETSU_HD double* ring_base(double* room) { return room + 6 * kRingStride; }
KANSETSU_HD ChainEnds* ring_result(double* room) { return reinterpret_cast<ChainEnds*>(room + 11 * kRingStride); }

/// Column c of the closure's rows (6: right side) after all others are eliminated: the base is held, free, or part of the closure.
KANSETSU_HD void ring_column(const ChainView& chain, const double* root, int c, double* room) {
  const int column = c < 5 ? 5 + c : c == 5 ? 11 : 10;
  double u[5] = {0, 0, 0, 0, 0};
  if (!chain.free_base) {
    double Y[15];
    for (int j = 0; j < 5; ++j) {
      const double* row = root + kChainStride * j;
      for (int k = 0; k <= j; ++k) Y[j * (j + 1) / 2 + k] = row[k];
      u[j] = c < 6 ? root[kChainStride * (5 + c) + j] : row[10] + row[11];
    }
    ChainRows(Y).solve(u);
  }
  for (int j = 0; j < 5; ++j) ring_base(room)[kRingStride * j + c] = u[j];
  for (int k = 0; k < chain.closure.rows; ++k) {
    const double* row = root + kChainStride * (5 + k);
    double sum = row[column];
    for (int j = 0; j < 5; ++j) sum = msub(row[j], u[j], sum);
    if (chain.closure.to_base) {  // at most five rows
      sum += root[kChainStride * k + column];
      if (c < 5) sum += row[c] + root[kChainStride * k + c];
    }
    room[kRingStride * k + c] = sum;
  }
}

/// Forces at the ends of a ring; those of redundant rows are zero. Returns the number of independent rows.
/// @param room  kRingRoom numbers; the result is at ring_result
template <class Lanes>
KANSETSU_HD int ring_ends(const Lanes& lanes, const ChainView& chain, const double* root, double* room) {
  constexpr double kTolerance = 1e-11;  // kRankTolerance; rows are scaled to yield at most one
  constexpr int kColumns = 7, kItems = Lanes::kSize < kColumns ? kColumns / Lanes::kSize : 1;
  const int rows = chain.closure.rows;
  for (int c = lanes.rank(); c < kColumns; c += Lanes::kSize) ring_column(chain, root, c, room);
  lanes.sync();
  int rank = 0;
  unsigned found = 0;
  for (; rank < rows; ++rank) {  // Gauss-Jordan; the largest remaining pivot comes first
    int best = -1;
    double most = kTolerance;
    for (int k = 0; k < rows; ++k) {
      const double left = room[kRingStride * k + k];
      if ((found >> k & 1) == 0 && left > most) most = left, best = k;
    }
    if (best < 0) break;
    found |= 1u << best;
    const double by = chain_reciprocal(most);
    double kept[kItems][6];
    for (int item = 0; item < kItems; ++item) {
      const int c = lanes.rank() + item * Lanes::kSize;
      if (c >= kColumns) continue;
      const double x = by * room[kRingStride * best + c];
      for (int k = 0; k < 6; ++k) {
        if (k >= rows) continue;
        kept[item][k] = k == best ? x : msub(room[kRingStride * k + best], x, room[kRingStride * k + c]);
      }
    }
    lanes.sync();
    for (int item = 0; item < kItems; ++item) {
      const int c = lanes.rank() + item * Lanes::kSize;
      if (c >= kColumns) continue;
      for (int k = 0; k < 6; ++k) {
        if (k < rows) room[kRingStride * k + c] = kept[item][k];
      }
    }
    lanes.sync();
  }
  const auto force = [&](int k) { return (found >> k & 1) == 0 ? 0.0 : room[kRingStride * k + 6]; };
  for (int j = lanes.rank(); j < 6; j += Lanes::kSize) {
    ChainEnds& ends = *ring_result(room);
    ends.tip[j] = force(j);
    if (j == 5) continue;
    const double* row = ring_base(room) + kRingStride * j;
    double sum = chain.closure.to_base ? force(j) : row[6];
    for (int k = 0; k < rows; ++k) sum = msub(row[k], force(k), sum);
    ends.base[j] = sum;
  }
  lanes.sync();
  return rank;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
