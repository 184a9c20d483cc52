#pragma once

#include <cstdint>

#include "constraint/column_elimination.h"
#include "constraint/contact_thresholds.h"
#include "constraint/eight.h"
#include "constraint/kernel_table.h"
#include "dynamics/dense/derivative_lanes.h"

/// Trees without gears: M = Lᵀ·D·L is never formed. The articulated-body recursion in the one frame O, column by column from
/// the tips, gives D and, for any right side, L⁻ᵀ of it: z = Sᵀ·F on the way to the base, where each column takes its share
/// U·D⁻¹·z off the wrench F. In O nothing is turned or shifted between a body and its parent. [RBDA] 6.5, 7.3.
///
/// Symbols   P articulated inertia, Z its bias wrench, U = P·S, D = SᵀU + rotor + implicit gains, y = Sᵀ·Z − τ
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Six rows of eight numbers: row c of P in the layout of a motion record, and in the fourth lane number c of Z.
inline constexpr int kBodyRows = 6, kBodyRecord = 48, kBiasLane = 3;
/// Where the six numbers of a motion stand in its record.
inline constexpr int kMotionLane[6] = {0, 1, 2, 4, 5, 6};

/// As many bodies with mass as a pack holds, from the i-th on: their inertias at O.
template <class P>
KANSETSU_HD Inertia<P> heavy_inertias(const MechanicsBlock& m, int i) {
  P n[kInertiaNumbers], x[kPoseRecord];
  for (int c = 0; c < kInertiaNumbers; ++c) n[c] = load<P>(m.heavy_inertia + c * m.heavy_stride + i);
  load_records(m.X, m.heavy + i, x);
  const Transform<P> X{{{x[0], x[4], x[8]}, {x[1], x[5], x[9]}, {x[2], x[6], x[10]}}, {x[12], x[13], x[14]}};
  return X * to_inertia(n);
}

/// Inertia and momentum of all bodies together, summed body by body: every instruction set adds in the same order.
template <class P>
void total_records(const MechanicsBlock& m, double* numbers) {
  for (int i = 0; i < m.heavy_count; i += P::width) {
    const Inertia<P> M = heavy_inertias<P>(m, i);
    const Force<P> F = M * load_motions<P>(m.V, m.heavy + i);
    const P record[kTotalNumbers] = {M.m,    M.h.x,  M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.xz, M.I.yy,
                                     M.I.yz, M.I.zz, F.t.x, F.t.y, F.t.z,  F.f.x,  F.f.y,  F.f.z};
    store_records(record, m.whole + i * kTotalNumbers);
  }
  Eight low(0.0), high(0.0);
  for (int i = 0; i < m.heavy_count; ++i) {
    low = low + load_eight(m.whole + i * kTotalNumbers);
    high = high + load_eight(m.whole + i * kTotalNumbers + 8);
  }
  store_eight(low, numbers), store_eight(high, numbers + 8);
}

/// Inertia and bias wrench of the bodies that have a mass.
template <class P>
KANSETSU_HD void heavy_records(const TreeView& tree, const MechanicsBlock& m) {
  const Vec3<P> up = lift<P>(-tree.gravity);
  const P o(0);
  for (int i = 0; i < m.heavy_count; i += P::width) {
    const Inertia<P> M = heavy_inertias<P>(m, i);
    const Motion<P> V = load_motions<P>(m.V, m.heavy + i);
    Motion<P> A = load_motions<P>(m.A, m.heavy + i);
    A.v += up;
    const Force<P> F = M * A + cross(V, M * V);
    const Vec3<P>& h = M.h;
    const P record[kBodyRecord] = {M.I.xx, M.I.xy, M.I.xz, F.t.x, o,    -h.z, h.y,  o,  //
                                   M.I.xy, M.I.yy, M.I.yz, F.t.y, h.z,  o,    -h.x, o,  //
                                   M.I.xz, M.I.yz, M.I.zz, F.t.z, -h.y, h.x,  o,    o,  //
                                   o,      h.z,    -h.y,   F.f.x, M.m,  o,    o,    o,  //
                                   -h.z,   o,      h.x,    F.f.y, o,    M.m,  o,    o,  //
                                   h.y,    -h.x,   o,      F.f.z, o,    o,    M.m,  o};
    store_records(record, m.articulated + i * kBodyRecord);
  }
}

/// A body with all that hangs on it, as the recursion goes inward: articulated inertia and bias force.
struct ArticulatedRows {
  Eight r[kBodyRows];

  KANSETSU_HD explicit ArticulatedRows(const double* record) {
    for (int c = 0; c < kBodyRows; ++c) r[c] = load_eight(record + 8 * c);
  }
  KANSETSU_HD void put(double* record) const {
    for (int c = 0; c < kBodyRows; ++c) store_eight(r[c], record + 8 * c);
  }
  KANSETSU_HD void add_to(double* record) const {
    for (int c = 0; c < kBodyRows; ++c) store_eight(load_eight(record + 8 * c) + r[c], record + 8 * c);
  }
  KANSETSU_HD void add(const double* record) {
    for (int c = 0; c < kBodyRows; ++c) r[c] = r[c] + load_eight(record + 8 * c);
  }
  /// P·S, and Sᵀ·Z in the fourth lane.
  KANSETSU_HD Eight times(const double* S) const {
    return madd(r[2], Eight(S[2]), madd(r[1], Eight(S[1]), r[0] * Eight(S[0]))) +
           madd(r[5], Eight(S[6]), madd(r[4], Eight(S[5]), r[3] * Eight(S[4])));
  }
  /// P and Z less k·Uᵀ
  KANSETSU_HD void take_off(const Eight& k, const Eight& U) {
    r[0] = madd(broadcast<0>(k), U, r[0]);
    r[1] = madd(broadcast<1>(k), U, r[1]);
    r[2] = madd(broadcast<2>(k), U, r[2]);
    r[3] = madd(broadcast<4>(k), U, r[3]);
    r[4] = madd(broadcast<5>(k), U, r[4]);
    r[5] = madd(broadcast<6>(k), U, r[5]);
  }
  KANSETSU_HD double turning() const { return r[0][0] + r[1][1] + r[2][2]; }
  KANSETSU_HD double moving() const { return r[3][4] + r[4][5] + r[5][6]; }
};

/// Diagonal of M besides the bodies' inertia, and torques.
struct ColumnInput {
  const double *rotor, *extra, *tau;

  KANSETSU_HD double added(int k) const { return rotor[k] + (extra ? extra[k] : 0); }
  KANSETSU_HD double torque(int k) const { return tau ? tau[k] : 0; }
};

/// Lets the columns k, k − 1, … (kCount of them) of one body, or of bodies without mass between them, move freely, all at once.
/// @return how many nothing resists
template <int kCount>
KANSETSU_HD int eliminate_columns(ArticulatedRows& b, int k, const ColumnInput& in, const MechanicsBlock& m) {
  static constexpr double kBias[8] = {0, 0, 0, 1, 0, 0, 0, 0};
  const double turning = b.turning(), moving = b.moving();
  Eight U[kCount];
  double g[kCount][kCount], share[kCount][kCount], floor[kCount], inverse[kCount];
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    const double* S = m.S + (k - i) * kMotionRecord;
    const double added = in.added(k - i);
    U[i] = b.times(S);
#pragma GCC unroll 3
    for (int j = 0; j <= i; ++j) g[i][j] = total(load_eight(S) * U[j]);
    g[i][i] += added;
    const double turn = S[0] * S[0] + S[1] * S[1] + S[2] * S[2], move = S[4] * S[4] + S[5] * S[5] + S[6] * S[6];
    floor[i] = threshold::kNoResistance * (turn * turning + move * moving + added);
    U[i] = madd(load_eight(kBias), Eight(-in.torque(k - i)), U[i]);
  }
  int singular = 0;
  factor_group(
      g, inverse, share,
      [&](int i, double pivot) KANSETSU_INLINE_LAMBDA {
        const bool resists = pivot > floor[i];
        singular += !resists;
        return resists ? 1 / pivot : 0.0;
      },
      [&](int j, int i, double x) KANSETSU_INLINE_LAMBDA { U[j] = madd(U[i], Eight(-x), U[j]); });
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    b.take_off(U[i] * Eight(-inverse[i]), U[i]);
    store_eight(U[i], m.U + (k - i) * kMotionRecord);
    m.D_inv[k - i] = inverse[i];
    m.drive[k - i] = -U[i][kBiasLane];
  }
  keep_shares(share, m.share + 4 * k);
  return singular;
}

/// The deepest bodies first, so that those of different limbs, which do not wait for each other, follow one another.
/// @return number of columns that nothing resists; they stand still
inline int factorise_tree(const TreeView& tree, const double* extra, const double* tau, const MechanicsBlock& m) {
  heavy_records<NativePack<double>>(tree, m);
  int singular = 0;
  const ColumnInput in{tree.rotor_inertia, extra, tau};
  for (int n = 0; n < m.step_count; ++n) {
    const TreeStep& step = m.steps[n];
    ArticulatedRows b(m.articulated + step.record);
    visit_groups_inward(step.first, step.last, [&]<int kCount>(int k, detail::Constant<kCount>) KANSETSU_INLINE_LAMBDA {
      singular += eliminate_columns<kCount>(b, k, in, m);
    });
    if (step.opens)
      b.put(m.articulated + step.parent_record);
    else if (step.parent_record >= 0)
      b.add_to(m.articulated + step.parent_record);
  }
  return singular;
}

/// A set of wrenches on its way to the base: Z += L⁻ᵀ·Jᵀ in their rows.
struct Climber {
  Eight F[6];
  int k;
  double* Z;  ///< of its rows

  KANSETSU_HD Climber(const Wrenches& w, double* all) : k(w.k), Z(all + w.row) {
    for (int c = 0; c < 6; ++c) F[c] = load_eight(w.numbers[c]);
  }
  /// Passes kCount columns that were eliminated at once: with their shares none waits for the one before.
  template <int kCount>
  KANSETSU_HD void pass(const MechanicsBlock& m, int stride) {
    Eight z[kCount];
#pragma GCC unroll 3
    for (int i = 0; i < kCount; ++i) {
      const double* S = m.S + (k - i) * kMotionRecord;
      z[i] = madd(F[2], Eight(S[2]), madd(F[1], Eight(S[1]), F[0] * Eight(S[0]))) +
             madd(F[5], Eight(S[6]), madd(F[4], Eight(S[5]), F[3] * Eight(S[4])));
    }
    const double* share = m.share + 4 * k;
    if constexpr (kCount > 1) z[1] = madd(z[0], Eight(-share[0]), z[1]);
    if constexpr (kCount > 2) z[2] = madd(z[1], Eight(-share[2]), madd(z[0], Eight(-share[1]), z[2]));
#pragma GCC unroll 3
    for (int i = 0; i < kCount; ++i) {
      double* to = Z + (k - i) * stride;
      store_eight(load_eight(to) + z[i], to);
      const double* U = m.U + (k - i) * kMotionRecord;
      const Eight t = z[i] * Eight(-m.D_inv[k - i]);
#pragma GCC unroll 6
      for (int c = 0; c < 6; ++c) F[c] = madd(t, Eight(U[kMotionLane[c]]), F[c]);
    }
    k = m.up[k - kCount + 1];
  }
  KANSETSU_HD void pass(const MechanicsBlock& m, int stride, int count) {
    if (count == 3)
      pass<3>(m, stride);
    else if (count == 2)
      pass<2>(m, stride);
    else
      pass<1>(m, stride);
  }
};

/// Two sets at a time, as long as their ways are alike: mostly those of a left and a right limb.
inline void climb(const MechanicsBlock& m, const Wrenches* sets, int count, double* Z, int stride) {
  int n = 0;
  for (; n + 1 < count; n += 2) {
    Climber a(sets[n], Z), b(sets[n + 1], Z);
    while (a.k >= 0 && b.k >= 0 && m.group[a.k] == m.group[b.k]) {
      const int columns = m.group[a.k];
      a.pass(m, stride, columns);
      b.pass(m, stride, columns);
    }
    while (a.k >= 0) a.pass(m, stride, m.group[a.k]);
    while (b.k >= 0) b.pass(m, stride, m.group[b.k]);
  }
  if (n == count) return;
  Climber last(sets[n], Z);
  while (last.k >= 0) last.pass(m, stride, m.group[last.k]);
}
/// The same for torques, up to eight rows at a time.
inline void climb_torques(const MechanicsBlock& m, const Torques* sets, int count, double* Z, int stride) {
  for (; count > 0; --count, ++sets) {
    Eight F[6];
    for (Eight& f : F) f = Eight(0.0);
    for (int k = sets->last; k >= 0; k = m.up[k]) {
      const double *S = m.S + k * kMotionRecord, *U = m.U + k * kMotionRecord;
      Eight z = madd(F[2], Eight(S[2]), madd(F[1], Eight(S[1]), F[0] * Eight(S[0]))) +
                madd(F[5], Eight(S[6]), madd(F[4], Eight(S[5]), F[3] * Eight(S[4])));
      for (int i = 0; i < 8; ++i) {
        if (sets->column[i] == k) z.set(i, z[i] + sets->scale[i]);
      }
      double* to = Z + k * stride + sets->row;
      store_eight(load_eight(to) + z, to);
      const Eight t = z * Eight(-m.D_inv[k]);
      for (int c = 0; c < 6; ++c) F[c] = madd(t, Eight(U[kMotionLane[c]]), F[c]);
    }
  }
}

/// The columns of one group, which ends with column k, from their carrier's acceleration on.
KANSETSU_HD void descend_group(const MechanicsBlock& m, int k, int count, Eight& A, double* x) {
  const auto along = [&](int i) { return m.D_inv[i] * total(load_eight(m.U + i * kMotionRecord) * A); };
  const auto S = [&](int i) { return load_eight(m.S + i * kMotionRecord); };
  const double* share = m.share + 4 * k;
  if (count == 3) {
    const double c = x[k - 2] - along(k - 2), b = x[k - 1] - along(k - 1) - share[2] * c;
    const double a = x[k] - along(k) - share[0] * b - share[1] * c;
    A = madd(S(k), Eight(a), madd(S(k - 1), Eight(b), madd(S(k - 2), Eight(c), A)));
    x[k - 2] = c, x[k - 1] = b, x[k] = a;
  } else if (count == 2) {
    const double b = x[k - 1] - along(k - 1), a = x[k] - along(k) - share[0] * b;
    A = madd(S(k), Eight(a), madd(S(k - 1), Eight(b), A));
    x[k - 1] = b, x[k] = a;
  } else {
    x[k] -= along(k);
    A = madd(S(k), Eight(x[k]), A);
  }
}

/// x ← L⁻¹·x: accelerations from the base to the tips, x = D⁻¹·(half-solved torques) on the way in.
inline void descend(const MechanicsBlock& m, double* x) {
  for (int n = m.step_count - 1; n >= 0; --n) {
    const TreeStep& step = m.steps[n];
    Eight A = step.before < 0 ? Eight(0.0) : load_eight(m.along + step.before * kMotionRecord);
    visit_groups_outward(step.first, step.last,
                         [&]<int kCount>(int k, detail::Constant<kCount>) { descend_group(m, k, kCount, A, x); });
    store_eight(A, m.along + step.last * kMotionRecord);
  }
}
/// x ← L⁻ᵀ·x for torques on all columns.
inline void ascend(const MechanicsBlock& m, int nv, double* x) {
  for (int k = 0; k < nv * kMotionRecord; ++k) m.along[k] = 0;
  for (int k = nv - 1; k >= 0; --k) {
    const Eight F = load_eight(m.along + k * kMotionRecord);  // of all that hangs on k
    x[k] += total(load_eight(m.S + k * kMotionRecord) * F);
    if (m.up[k] < 0) continue;
    double* to = m.along + m.up[k] * kMotionRecord;
    store_eight(load_eight(to) + madd(load_eight(m.U + k * kMotionRecord), Eight(-(m.D_inv[k] * x[k])), F), to);
  }
}

/// G(rows r …, columns c …) += Zᵀ·D⁻¹·Z over the columns that both blocks of rows have, a tile in registers.
template <int kTile, class P>
inline void delassus_tile(const MechanicsBlock& m, const std::uint64_t* rows, const std::uint64_t* columns,
                          const double* Z, int stride, int r, int c, bool first, double* G) {
  P sum[kTile];
  for (int t = 0; t < kTile; ++t) sum[t] = first ? P(0) : load<P>(G + (r + t) * stride + c);
  for (int w = 0; w < m.words; ++w) {
    for (std::uint64_t left = rows[w] & columns[w]; left != 0; left &= left - 1) {
      const int i = 64 * w + __builtin_ctzll(left);
      const double* z = Z + i * stride;
      const P scaled = P(m.D_inv[i]) * load<P>(z + c);
      for (int t = 0; t < kTile; ++t) sum[t] = madd(P(z[r + t]), scaled, sum[t]);
    }
  }
  for (int t = 0; t < kTile; ++t) store(sum[t], G + (r + t) * stride + c);
  for (int t = kTile; first && t < kRowBlock; ++t) store(P(0), G + (r + t) * stride + c);
}

/// What delassus_tile() and the accelerations of the rows come to for two blocks of six rows at most, in one pass. Columns that
/// both have come before all others, as they do where two limbs meet.
struct TwoBlocks {
  static constexpr int kTile = 6;
  Eight own[2][kTile], cross[kTile], a[2];

  KANSETSU_HD explicit TwoBlocks(const double* rates) : a{load_eight(rates), load_eight(rates + kRowBlock)} {
#pragma GCC unroll 6
    for (int t = 0; t < kTile; ++t) own[0][t] = own[1][t] = cross[t] = Eight(0.0);
  }
  template <int kBlock>
  KANSETSU_HD void add_own(const MechanicsBlock& m, int i, const double* z) {
    const Eight row = load_eight(z), scaled = Eight(m.D_inv[i]) * row;
#pragma GCC unroll 6
    for (int t = 0; t < kTile; ++t) own[kBlock][t] = madd(Eight(z[t]), scaled, own[kBlock][t]);
    a[kBlock] = madd(Eight(m.D_inv[i] * m.drive[i]), row, a[kBlock]);
  }
  KANSETSU_HD void add_both(const MechanicsBlock& m, int i, const double* z) {
    add_own<0>(m, i, z);
    add_own<1>(m, i, z + kRowBlock);
    const Eight scaled = Eight(m.D_inv[i]) * load_eight(z + kRowBlock);
#pragma GCC unroll 6
    for (int t = 0; t < kTile; ++t) cross[t] = madd(Eight(z[t]), scaled, cross[t]);
  }
  KANSETSU_HD void put(double* G, double* rates) const {
    constexpr int kStride = 2 * kRowBlock;
    const Eight zero(0.0);
    for (int t = 0; t < kRowBlock; ++t) {
      double* to = G + t * kStride;
      store_eight(t < kTile ? own[0][t] : zero, to);
      store_eight(t < kTile ? cross[t] : zero, to + kRowBlock);
      store_eight(t < kTile ? own[1][t] : zero, to + kRowBlock * (kStride + 1));
    }
    store_eight(a[0], rates);
    store_eight(a[1], rates + kRowBlock);
  }
};
/// False, and nothing happens, where columns do not come in that order.
inline bool delassus_of_two(const MechanicsBlock& m, std::uint64_t one, std::uint64_t other, const double* Z, double* G,
                            double* a) {
  constexpr int kStride = 2 * kRowBlock;
  std::uint64_t both = one & other, first = one & ~both, second = other & ~both;
  const std::uint64_t rest = first | second;
  if (both != 0 && rest != 0 && __builtin_clzll(both) <= __builtin_clzll(rest & -rest)) return false;
  TwoBlocks sum(a);
  for (; both != 0; both &= both - 1) {
    const int i = __builtin_ctzll(both);
    sum.add_both(m, i, Z + i * kStride);
  }
  for (; first != 0 && second != 0; first &= first - 1, second &= second - 1) {  // neither waits for the other
    const int i = __builtin_ctzll(first), k = __builtin_ctzll(second);
    sum.add_own<0>(m, i, Z + i * kStride);
    sum.add_own<1>(m, k, Z + k * kStride + kRowBlock);
  }
  for (; first != 0; first &= first - 1)
    sum.add_own<0>(m, __builtin_ctzll(first), Z + __builtin_ctzll(first) * kStride);
  for (; second != 0; second &= second - 1)
    sum.add_own<1>(m, __builtin_ctzll(second), Z + __builtin_ctzll(second) * kStride + kRowBlock);
  sum.put(G, a);
  return true;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
