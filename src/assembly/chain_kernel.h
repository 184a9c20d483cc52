#pragma once

#include <cmath>

#include "assembly/chain_data.h"
#include "assembly/chain_ring_kernel.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/sincos.h"
#include "kinematics/joint_kernel.h"

/// One long chain of 1-DOF joints over many processors: pieces of links, one per block of threads, groups of pieces, and the
/// whole. Written for blocks of threads that exchange numbers; on the CPU a block is one thread. docs/theory/assembly.md,
/// "On a device".
///
/// A piece has four phases; between them it posts a few numbers and waits for those of others, without a barrier:
///   place     poses of its links, and the effect of the whole piece on a velocity, which is posted
///   reduce    velocities from all pieces before it, fronts of its links, joins; its cluster is posted
///   gather    every piece of a group joins the clusters of the group redundantly; the first one posts the result
///   finish    every piece joins the groups, substitutes back to its own links, and computes their accelerations
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The CPU as a block: one thread, one team of one lane.
struct SerialBlock {
  struct Lanes {
    static constexpr int kSize = 1;
    KANSETSU_HD int rank() const { return 0; }
    KANSETSU_HD void sync() const {}
  };
  Lanes lanes;
  KANSETSU_HD int thread() const { return 0; }
  KANSETSU_HD int threads() const { return 1; }
  KANSETSU_HD int warp() const { return 0; }
  KANSETSU_HD int warps() const { return 1; }
  KANSETSU_HD void sync() const {}
};

KANSETSU_HD Transform<> chain_pose(const ChainLink& link, const ChainState& own, const double* base) {
  Transform<> X = link.X_PJ;
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    X.R = X.R * to_mat3(Quaternion<>{base[3], base[4], base[5], base[6]});
    X.p = link.X_PJ * Vec3<>{base[0], base[1], base[2]};
    return X;
  }
  const double x = madd(link.ratio, own.q, link.offset);
  if (PrimitiveKind(link.kind) != PrimitiveKind::kSlide) {
    double s, c;
    sincos(x, s, c);
    Mat3<>& R = X.R;
    if (link.axis == 0) {
      R = {turn_back<0>(c, s, R.x), turn_back<0>(c, s, R.y), turn_back<0>(c, s, R.z)};
    } else if (link.axis == 1) {
      R = {turn_back<1>(c, s, R.x), turn_back<1>(c, s, R.y), turn_back<1>(c, s, R.z)};
    } else {
      R = {turn_back<2>(c, s, R.x), turn_back<2>(c, s, R.y), turn_back<2>(c, s, R.z)};
    }
  }
  if (PrimitiveKind(link.kind) != PrimitiveKind::kHinge) {
    const double along = PrimitiveKind(link.kind) == PrimitiveKind::kSlide ? x : link.pitch * x;
    X.p = madd(along, link.X_PJ.R.column_z(), X.p);
  }
  return X;
}

/// S·u of a link.
KANSETSU_HD Motion<> chain_rate(const ChainLink& link, const ChainState& own, const double* base) {
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    const double* v = base + 7;
    return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  }
  return (link.ratio * own.v) * link.S;
}

KANSETSU_HD ChainCarry compose(const ChainCarry& a, const ChainCarry& b) {
  return {a.X * b.X, inverse_times(b.X, a.v) + b.v, 0};
}

/// Inclusive scan; `other` is memory of the same size. Returns which of the two holds the result.
template <class Block>
KANSETSU_HD ChainCarry* scan_carries(const Block& block, ChainCarry* at, ChainCarry* other, int count) {
  for (int step = 1; step < count; step *= 2) {
    block.sync();
    for (int i = block.thread(); i < count; i += block.threads()) {
      other[i] = i < step ? at[i] : compose(at[i - step], at[i]);
    }
    ChainCarry* swap = at;
    at = other;
    other = swap;
  }
  block.sync();
  return at;
}

/// The composition of all, in the first place.
template <class Block>
KANSETSU_HD void reduce_carries(const Block& block, ChainCarry* at, int count) {
  for (int step = 1; step < count; step *= 2) {
    block.sync();
    for (int i = 2 * step * block.thread(); i + step < count; i += 2 * step * block.threads()) {
      at[i] = compose(at[i], at[i + step]);
    }
  }
  block.sync();
}

/// State and poses of a piece; its carry is posted. p.links may still be loading until the block waits for the first time.
/// @param mail  post(block, where, numbers, count) and take(block, where, numbers, count), by all threads of a block
template <class Block, class Mail>
KANSETSU_HD void place_chain(const Block& block, const ChainView& chain, int piece, const double* q, const double* v,
                             const double* tau, const ChainPiece& p, const Mail& mail) {
  const int first = chain.first(piece), count = chain.size(piece);
  if (chain.free_base && (piece == 0 || (chain.closure.to_base && chain.closes(piece)))) {
    for (int k = block.thread(); k < 19; k += block.threads())
      p.base[k] = k < 7 ? q[k] : k < 13 ? v[k - 7] : tau[k - 13];
  }
  for (int i = block.thread(); i <= count && first + i < chain.count; i += block.threads()) {
    const bool is_base = chain.free_base && first + i == 0;
    const int position = chain.position(first + i), column = chain.column(first + i);
    p.state[i] = is_base ? ChainState{} : ChainState{q[position], v[column], tau[column]};
  }
  block.sync();
  ChainCarry* carry = p.carry();
  for (int i = block.thread(); i <= count && first + i < chain.count; i += block.threads()) {
    const Transform<> X = chain_pose(p.links[i], p.state[i], p.base);
    p.X[i] = X;
    if (i < count) carry[i] = {X, chain_rate(p.links[i], p.state[i], p.base), 0};
  }
  ChainCarry* scanned = scan_carries(block, carry, carry + count, count);
  if (chain.pieces > 1) {
    mail.post(block, chain.carry_post(piece), reinterpret_cast<const double*>(scanned + count - 1), kChainCarry);
  }
  if (scanned != carry) {
    for (int i = block.thread(); i < count; i += block.threads()) carry[i] = scanned[i];
    block.sync();
  }
}

/// Bias and right sides of a link. t: wrench of its own joint's torque and the next one's, gyroscopic wrench included.
KANSETSU_HD void load_chain_link(const ChainView& chain, int i, int local, const Motion<>& V_start,
                                 const ChainPiece& p) {
  const ChainLink& link = p.links[local];
  const ChainState& own = p.state[local];
  const Motion<> V = inverse_times(p.carry()[local].X, V_start) + p.carry()[local].v;
  Motion<> C = cross(V, chain_rate(link, own, p.base));
  if (i == 0) C += inverse_times(p.X[local], Motion<>{{0, 0, 0}, -chain.gravity});
  Force<> t = -cross(V, link.M * V);
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    const double* tau = p.base + 13;
    t += Force<>{{tau[0], tau[1], tau[2]}, {tau[3], tau[4], tau[5]}};
    for (int k = 0; k < 5; ++k) p.h[5 * local + k] = 0;
  } else {
    t = madd(link.ratio * own.tau, link.columns[5], t);
    for (int k = 0; k < 5; ++k) p.h[5 * local + k] = dot(C, link.columns[k]);
  }
  if (i + 1 < chain.count) {
    const ChainLink& next = p.links[local + 1];
    t -= p.X[local + 1] * ((next.ratio * p.state[local + 1].tau) * next.columns[5]);
  }
  p.C[local] = C;
  const double six[6] = {t.t.x, t.t.y, t.t.z, t.f.x, t.f.y, t.f.z};
  for (int r = 0; r < 6; ++r) {
    double sum = 0;
    for (int k = 0; k <= r; ++k) sum = msub(link.C_inv[6 * r + k], six[k], sum);
    p.y[6 * local + r] = sum;
  }
}

/// Column c of H: toward the base for c < 5, toward the tip after that, the dual of the next joint's motion for c = 10; at the
/// ends of a ring those of its closure; zero where there is neither.
KANSETSU_HD Force<> chain_wrench(const ChainView& chain, int i, int local, const ChainPiece& p, int c) {
  const Force<> none{{0, 0, 0}, {0, 0, 0}};
  if (c < 5 && i == 0 && chain.free_base) return chain.ring() && chain.closure.to_base ? p.closing->base[c] : none;
  if (c < 5) return p.links[local].columns[c];
  if (i + 1 == chain.count) return chain.ring() ? p.closing->tip[c - 5] : none;
  return -(p.X[local + 1] * p.links[local + 1].columns[c - 5]);
}

/// Front of a link as a cluster: G = Hᵀ·A⁻¹·H and −Hᵀ·A⁻¹·t. T: room for kChainRoom numbers.
template <class Lanes>
KANSETSU_HD void chain_front(const Lanes& lanes, const ChainView& chain, int i, int local, const ChainPiece& p,
                             double* T, double* out) {
  constexpr int kItems = 32 / Lanes::kSize;  // an item: half of the rows of a column
  const int last = chain.ring() ? 11 : 10;
  const bool closed = chain.ring() && i + 1 == chain.count;
  const double* C_inv = p.links[local].C_inv;
  double own[kItems][6];
  for (int item = 0; item < kItems; ++item) {
    const int c = (lanes.rank() + item * Lanes::kSize) % 16;
    if (c > last) continue;
    const Force<> F = chain_wrench(chain, i, local, p, c < 11 ? c : 10);
    const double six[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
    for (int r = 0; r < 6; ++r) {
      double sum = 0;
      for (int k = 0; k <= r; ++k) sum = madd(C_inv[6 * r + k], six[k], sum);
      own[item][r] = sum;
    }
    for (int r = 0; r < 6 && c < 11; ++r) T[6 * c + r] = own[item][r];
    for (int r = 0; r < 6 && c == 10; ++r) own[item][r] = p.y[6 * local + r];
  }
  lanes.sync();
  for (int item = 0; item < kItems; ++item) {
    const int half = (lanes.rank() + item * Lanes::kSize) / 16, c = (lanes.rank() + item * Lanes::kSize) % 16;
    if (c > last) continue;
    if (c == 11 && half == 0) continue;
    const int first = half == 0 ? 0 : 5;
    for (int r = 0; r < 5 + half; ++r) {  // the same places for all lanes of a half: one access
      double sum = closed && half == 1 && c == 10 ? p.closing->right[r] : 0.0;
      for (int k = 0; k < 6; ++k) sum = madd(T[6 * (first + r) + k], own[item][k], sum);
      out[kChainStride * (first + r) + c] = sum;
    }
  }
  for (int k = lanes.rank(); k < 5; k += Lanes::kSize) out[kChainStride * k + 11] = p.h[5 * local + k];
  lanes.sync();
}

/// Rows of the closure, computed by the threads without links.
/// @param before  carry of all pieces before this one; if this is the first of several, of all pieces
template <class Block>
KANSETSU_HD void close_chain(const Block& block, const ChainView& chain, int piece, const ChainCarry& before,
                             const ChainPiece& p) {
  for (int k = block.threads() - 1 - block.thread(); k < 6; k += block.threads()) {
    const bool is_last = piece + 1 == chain.pieces;
    const ChainLink& first = piece == 0 ? p.links[0] : chain.links[0];
    const ChainLink& last = is_last ? p.links[chain.size(piece) - 1] : chain.links[chain.count - 1];
    ChainCarry tip = is_last ? p.carry()[chain.size(piece) - 1] : before, other{};
    if (is_last && piece > 0) tip = compose(before, tip);
    if (chain.closure.to_base) {
      other = {chain_pose(first, ChainState{}, p.base), chain_rate(first, ChainState{}, p.base), 0};
    }
    close_chain_row(chain, k, first, last, tip, other, *p.closing);
  }
}

/// All steps up to the cluster of the piece, which is posted.
template <class Block, class Mail>
KANSETSU_HD void reduce_chain(const Block& block, const ChainView& chain, int piece, const ChainPiece& p,
                              const Mail& mail) {
  const int first = chain.first(piece), count = chain.size(piece);
  const int carries = piece == 0 && chain.closes(0) && chain.pieces > 1 ? chain.pieces : piece;
  ChainCarry* before = reinterpret_cast<ChainCarry*>(p.upper);
  Motion<> V_before{{0, 0, 0}, {0, 0, 0}};  // the world does not move
  if (carries > 0) {
    mail.take(block, chain.carry_post(0), p.upper, kChainCarry * carries);
    reduce_carries(block, before, carries);
    if (piece > 0) V_before = before->v;
  }
  if (chain.closes(piece)) close_chain(block, chain, piece, *before, p);
  for (int i = block.thread(); i < count; i += block.threads()) load_chain_link(chain, first + i, i, V_before, p);
  block.sync();
  for (int i = block.warp(); i < count; i += block.warps()) {
    chain_front(block.lanes, chain, first + i, i, p, p.T + kChainRoom * block.warp(), p.out + kChainOut * i);
  }
  join_all(block, chain.ring(), count, p.out, p.U);
  if (chain.pieces > 1) mail.post(block, chain.cluster_post(piece), p.out, kChainOut);
}

/// The cluster of the piece's group, posted by the first piece of it.
template <class Block, class Mail>
KANSETSU_HD void gather_chain(const Block& block, const ChainView& chain, int piece, const ChainPiece& p,
                              const Mail& mail) {
  const int begin = piece - piece % chain.group;
  const int members = chain.group < chain.pieces - begin ? chain.group : chain.pieces - begin;
  if (chain.pieces > 1) {
    mail.take(block, chain.cluster_post(begin), p.upper, kChainOut * members);
  } else {
    for (int k = block.thread(); k < kChainOut; k += block.threads()) p.upper[k] = p.out[k];
  }
  block.sync();
  if (piece > begin) {
    const double* row = p.upper + kChainOut * (piece - 1 - begin) + 10 * kChainStride;
    for (int k = block.thread(); k < 11; k += block.threads()) p.before[k] = row[k];
  }
  join_all(block, chain.ring(), members, p.upper, p.upper_U);
  if (piece == begin && chain.groups() > 1) mail.post(block, chain.group_post(piece / chain.group), p.upper, kChainOut);
}

/// Acceleration of link i, apparent. @param ends  forces of its joints
KANSETSU_HD Motion<> chain_acceleration(const ChainView& chain, int i, int local, const ChainPiece& p,
                                        const ChainEnds& ends) {
  const double* C_inv = p.links[local].C_inv;
  Force<> F{{0, 0, 0}, {0, 0, 0}};
  for (int c = 0; c < 5; ++c) F = madd(ends.base[c], chain_wrench(chain, i, local, p, c), F);
  for (int c = 0; c < 5; ++c) F = madd(ends.tip[c], chain_wrench(chain, i, local, p, 5 + c), F);
  if (chain.ring() && i + 1 == chain.count) F = madd(ends.tip[5], p.closing->tip[5], F);
  const double six[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
  double y[6], s[6];
  for (int r = 0; r < 6; ++r) {
    y[r] = -p.y[6 * local + r];
    for (int k = 0; k <= r; ++k) y[r] = madd(C_inv[6 * r + k], six[k], y[r]);
  }
  for (int r = 0; r < 6; ++r) {
    s[r] = 0;
    for (int k = r; k < 6; ++k) s[r] = madd(C_inv[6 * k + r], y[k], s[r]);
  }
  return {{s[0], s[1], s[2]}, {s[3], s[4], s[5]}};
}

/// Forces at every link of the piece, and accelerations. Thread `count` computes the contribution of the link before the piece.
/// @param vdot  out, of the whole chain   @param rank  out, of a ring: how many rows of its closure are independent; or none
template <class Block, class Mail>
KANSETSU_HD void finish_chain(const Block& block, const ChainView& chain, int piece, const ChainPiece& p,
                              const Mail& mail, double* vdot, double* rank) {
  const int first = chain.first(piece), count = chain.size(piece), groups = chain.groups();
  const int group = piece / chain.group, begin = group * chain.group;
  const int members = chain.group < chain.pieces - begin ? chain.group : chain.pieces - begin;
  double *root = p.upper, *top_U = p.upper_U + kChainForce * chain.group;
  if (groups > 1) {
    root = p.upper + kChainOut * chain.group;
    mail.take(block, chain.group_post(0), root, kChainOut * groups);
    block.sync();
    if (piece == begin && group > 0) {
      const double* row = root + kChainOut * (group - 1) + 10 * kChainStride;
      for (int k = block.thread(); k < 11; k += block.threads()) p.before[k] = row[k];
    }
    join_all(block, chain.ring(), groups, root, top_U);
  }
  const bool ring = chain.ring();
  if (ring) {
    if (block.warp() == 0) {
      const int found = ring_ends(block.lanes, chain, root, p.ring);
      if (piece == 0 && rank && block.thread() == 0) *rank = found;
    }
    block.sync();
  }
  for (int i = block.thread(); i <= count; i += block.threads()) {
    ChainEnds ends = ring ? *ring_result(p.ring) : chain_ends(root, chain.free_base);
    const bool is_before = i == count;  // the piece before, or the group before if this is the first piece of a group
    descend(ring, groups, top_U, is_before && piece == begin ? group - 1 : group, ends);
    if (!is_before || piece > begin) descend(ring, members, p.upper_U, piece - begin - (is_before ? 1 : 0), ends);
    if (is_before) {
      p.previous[0] = piece == 0 ? 0.0 : contribution(p.before, ends);
      continue;
    }
    descend(ring, count, p.U, i, ends);
    const Motion<> s = chain_acceleration(chain, first + i, i, p, ends);
    const ChainLink& link = p.links[i];
    const Motion<> A = s - p.C[i];
    if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
      vdot[0] = A.w.x, vdot[1] = A.w.y, vdot[2] = A.w.z, vdot[3] = A.v.x, vdot[4] = A.v.y, vdot[5] = A.v.z;
    } else {
      p.own[i] = dot(A, link.columns[5]);
    }
    if (i + 1 < count) p.previous[i + 1] = dot(s, chain_wrench(chain, first + i, i, p, 10));
  }
  block.sync();
  for (int i = block.thread(); i < count; i += block.threads()) {
    const ChainLink& link = p.links[i];
    if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) continue;
    vdot[chain.column(first + i)] = link.ratio * (p.own[i] + p.previous[i]);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
