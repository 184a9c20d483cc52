#pragma once

#include <cmath>

#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/sincos.h"
#include "kinematics/joint_kernel.h"

/// One long chain of 1-DOF joints over many processors: pieces of links, one per block of threads, and a tree of their
/// clusters on top. The same clusters as in front_kernel.h with a fixed shape: five rows towards the base, five towards the
/// tip. Written for teams of threads; a team of one is the CPU. spec/dynamics.md §9.4, docs/theory/assembly.md.
///
/// A chain is computed in phases between which all blocks wait for each other:
///   place     poses of the links in their carriers, and what the whole piece does to a velocity
///   reduce    velocities, fronts of the links, joins within the piece; its cluster is handed over
///   top       (one block) joins of the pieces, base and ring closed; forces between the pieces
///   expand    splits within the piece, accelerations of its links
///   finish    joint accelerations
namespace kansetsu {

inline constexpr int kChainRows = 5;
inline constexpr int kChainOut = 10 * 11;   ///< ten rows of [toward base 5, toward tip 5, right side]
inline constexpr int kChainPivot = 5 * 16;  ///< five rows of [W 10, z, closed 5]

/// Constants of a link.
struct ChainLink {
  Transform<> X_PJ;
  Inertia<> M;
  Force<> columns[6];  ///< five that its joint constrains, then the dual of its motion
  Motion<> S;
  double C_inv[36];
  double ratio, offset, pitch;
  int position, column;  ///< in q and v
  int axis;              ///< 0, 1, 2: aligned hinge; −1: any about or along z
  int kind;              ///< PrimitiveKind
};

/// The whole chain.
struct ChainView {
  const ChainLink* links;
  int count, pieces;
  bool free_base;  ///< link 0 is a free body: positions 0…6, velocities 0…5
  Vec3<> gravity;

  KANSETSU_HD int first(int piece) const { return int(long(count) * piece / pieces); }
  KANSETSU_HD int size(int piece) const { return first(piece + 1) - first(piece); }
};

/// Effect of a stretch of links on a velocity: V_end = X⁻¹·V_start + v.
struct ChainCarry {
  Transform<> X;
  Motion<> v;
};

/// Memory of a piece, one array per quantity.
struct ChainPiece {
  Transform<>* X;     ///< pose in the carrier; one more: of the first link of the next piece
  ChainCarry* carry;  ///< twice as many as links
  Motion<>* V;
  Motion<>* C;
  double* h;      ///< 5 per link, of its own joint
  double* out;    ///< kChainOut per link
  double* pivot;  ///< kChainPivot per join; the join of link i with what is before it
  double* n;      ///< 5 per link and one more: forces of the joints
  double* s;      ///< 6 per link
  double* y;      ///< 6 per link: −C⁻¹·t
};

KANSETSU_HD constexpr int chain_piece_numbers(int links) {
  return (links + 1) * 12 + 2 * links * 18 + links * (6 + 6 + 5 + kChainOut + kChainPivot + 6 + 6) + 5 * (links + 1);
}
KANSETSU_HD ChainPiece carve_chain_piece(double* block, int links) {
  const auto take = [&](int n) {
    double* here = block;
    block += n;
    return here;
  };
  ChainPiece p;
  p.X = reinterpret_cast<Transform<>*>(take(12 * (links + 1)));
  p.carry = reinterpret_cast<ChainCarry*>(take(36 * links));
  p.V = reinterpret_cast<Motion<>*>(take(6 * links));
  p.C = reinterpret_cast<Motion<>*>(take(6 * links));
  p.h = take(5 * links);
  p.out = take(kChainOut * links);
  p.pivot = take(kChainPivot * links);
  p.n = take(5 * (links + 1));
  p.s = take(6 * links);
  p.y = take(6 * links);
  return p;
}

}  // namespace kansetsu

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The CPU as a block: one thread, one team of one lane.
struct SerialBlock {
  struct Lanes {
    KANSETSU_HD int rank() const { return 0; }
    KANSETSU_HD int size() const { return 1; }
    KANSETSU_HD void sync() const {}
  };
  Lanes lanes;
  KANSETSU_HD int thread() const { return 0; }
  KANSETSU_HD int threads() const { return 1; }
  KANSETSU_HD int warp() const { return 0; }
  KANSETSU_HD int warps() const { return 1; }
  KANSETSU_HD void sync() const {}
};

KANSETSU_HD Transform<> chain_pose(const ChainView& chain, int i, const double* q) {
  const ChainLink& link = chain.links[i];
  Transform<> X = link.X_PJ;
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    X.R = X.R * to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]});
    X.p = link.X_PJ * Vec3<>{q[0], q[1], q[2]};
    return X;
  }
  const double x = madd(link.ratio, q[link.position], link.offset);
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
KANSETSU_HD Motion<> chain_rate(const ChainLink& link, const double* v) {
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
  return (link.ratio * v[link.column]) * link.S;
}

KANSETSU_HD ChainCarry compose(const ChainCarry& a, const ChainCarry& b) {
  return {a.X * b.X, inverse_times(b.X, a.v) + b.v};
}

/// Inclusive scan in place; `other` is room for as many. Returns where the result is.
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

/// Poses, and the carry of the piece. @param total  out
template <class Block>
KANSETSU_HD void place_chain(const Block& block, const ChainView& chain, int piece, const double* q, const double* v,
                             ChainPiece& p, ChainCarry* total) {
  const int first = chain.first(piece), count = chain.size(piece);
  for (int i = block.thread(); i <= count; i += block.threads()) {
    if (first + i < chain.count) p.X[i] = chain_pose(chain, first + i, q);
    if (i < count) p.carry[i] = {p.X[i], chain_rate(chain.links[first + i], v)};
  }
  ChainCarry* scanned = scan_carries(block, p.carry, p.carry + count, count);
  if (block.thread() == 0) *total = scanned[count - 1];
  if (scanned != p.carry) {
    for (int i = block.thread(); i < count; i += block.threads()) p.carry[i] = scanned[i];
  }
  block.sync();
}

/// Velocity, bias and right sides of a link. t_next: what the joint of the next link exerts on this one, if there is one.
KANSETSU_HD void load_chain_link(const ChainView& chain, int i, int local, const Motion<>& V_start, const double* v,
                                 const double* tau, ChainPiece& p) {
  const ChainLink& link = chain.links[i];
  const Motion<> V = inverse_times(p.carry[local].X, V_start) + p.carry[local].v;
  Motion<> C = cross(V, chain_rate(link, v));
  if (i == 0) C += inverse_times(p.X[local], Motion<>{{0, 0, 0}, -chain.gravity});
  Force<> t = -cross(V, link.M * V);
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    t += Force<>{{tau[0], tau[1], tau[2]}, {tau[3], tau[4], tau[5]}};
  } else {
    t = madd(link.ratio * tau[link.column], link.columns[5], t);
    for (int k = 0; k < 5; ++k) p.h[5 * local + k] = dot(C, link.columns[k]);
  }
  if (i + 1 < chain.count) {
    const ChainLink& next = chain.links[i + 1];
    t -= p.X[local + 1] * ((next.ratio * tau[next.column]) * next.columns[5]);
  }
  p.V[local] = V;
  p.C[local] = C;
  const double six[6] = {t.t.x, t.t.y, t.t.z, t.f.x, t.f.y, t.f.z};
  for (int r = 0; r < 6; ++r) {
    double sum = 0;
    for (int k = 0; k <= r; ++k) sum = msub(link.C_inv[6 * r + k], six[k], sum);
    p.y[6 * local + r] = sum;
  }
}

/// Column c of H: toward the base for c < 5, toward the tip after that; zero where there is no joint.
KANSETSU_HD Force<> chain_wrench(const ChainView& chain, int i, int local, const ChainPiece& p, int c) {
  const Force<> none{{0, 0, 0}, {0, 0, 0}};
  if (c < 5) return i == 0 && chain.free_base ? none : chain.links[i].columns[c];
  return i + 1 == chain.count ? none : -(p.X[local + 1] * chain.links[i + 1].columns[c - 5]);
}

/// Front of a link: G = Hᵀ·A⁻¹·H and −Hᵀ·A⁻¹·t. T: room for 60 numbers.
template <class Lanes>
KANSETSU_HD void chain_front(const Lanes& lanes, const ChainView& chain, int i, int local, const ChainPiece& p,
                             double* T, double* out) {
  const double* C_inv = chain.links[i].C_inv;
  for (int c = lanes.rank(); c < 10; c += lanes.size()) {
    const Force<> F = chain_wrench(chain, i, local, p, c);
    const double six[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
    for (int r = 0; r < 6; ++r) {
      double sum = 0;
      for (int k = 0; k <= r; ++k) sum = madd(C_inv[6 * r + k], six[k], sum);
      T[6 * c + r] = sum;
    }
  }
  lanes.sync();
  for (int n = lanes.rank(); n < kChainOut; n += lanes.size()) {
    const int row = n / 11, column = n % 11;
    const double* b = column < 10 ? T + 6 * column : p.y + 6 * local;
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum = madd(T[6 * row + k], b[k], sum);
    out[n] = sum;
  }
  lanes.sync();
}

/// Factors five pivot rows whose closed columns begin at 11.
template <class Lanes>
KANSETSU_HD void factor_chain_rows(const Lanes& lanes, double* P) {
  for (int p = 0; p < 5; ++p) {
    const double pivot = P[16 * p + 11 + p];
    const double inverse = pivot > 0 ? 1 / std::sqrt(pivot) : 0.0;
    lanes.sync();
    for (int c = lanes.rank(); c < 16; c += lanes.size()) P[16 * p + c] = P[16 * p + c] * inverse;
    lanes.sync();
    for (int n = lanes.rank(); n < 16 * (4 - p); n += lanes.size()) {
      const int i = p + 1 + n / 16, c = n % 16;
      P[16 * i + c] = msub(P[16 * p + 11 + i], P[16 * p + c], P[16 * i + c]);
    }
    lanes.sync();
    if (lanes.rank() == 0) P[16 * p + 11 + p] = inverse;
  }
  lanes.sync();
}

/// Joins B (toward the tip) to A; the result takes A's place.
template <class Lanes>
KANSETSU_HD void join_chain(const Lanes& lanes, const double* h, double* A, const double* B, double* P) {
  for (int n = lanes.rank(); n < kChainPivot; n += lanes.size()) {
    const int j = n / 16, c = n % 16;
    const double *a = A + 11 * (5 + j), *b = B + 11 * j;
    P[n] = c < 5 ? a[c] : c < 10 ? b[c] : c == 10 ? a[10] + b[10] + h[j] : a[c - 6] + b[c - 11];
  }
  lanes.sync();
  factor_chain_rows(lanes, P);
  for (int n = lanes.rank(); n < kChainOut; n += lanes.size()) {
    const int r = n / 11, c = n % 11;
    double sum = r < 5 ? (c < 5 || c == 10 ? A[n] : 0.0) : (c >= 5 ? B[n] : 0.0);
    for (int j = 0; j < 5; ++j) sum = msub(P[16 * j + r], P[16 * j + c], sum);
    A[n] = sum;
  }
  lanes.sync();
}

/// Forces of the joint that a join has closed, from those at its two ends.
template <class Lanes>
KANSETSU_HD void split_chain(const Lanes& lanes, const double* P, const double* base, const double* tip, double* n) {
  if (lanes.rank() == 0) {
    for (int j = 4; j >= 0; --j) {
      double x = P[16 * j + 10];
      for (int k = 0; k < 5; ++k) x = msub(P[16 * j + k], base[k], msub(P[16 * j + 5 + k], tip[k], x));
      for (int i = j + 1; i < 5; ++i) x = msub(P[16 * j + 11 + i], n[i], x);
      n[j] = x * P[16 * j + 11 + j];
    }
  }
  lanes.sync();
}

/// Joins neighbours level by level; cluster i of a level begins at link i·stride.
template <class Block>
KANSETSU_HD void join_all(const Block& block, int count, const double* h, int h_stride, double* out, double* pivot) {
  for (int stride = 1; stride < count; stride *= 2) {
    block.sync();
    for (int a = 2 * stride * block.warp(); a + stride < count; a += 2 * stride * block.warps()) {
      const int b = a + stride;
      join_chain(block.lanes, h + h_stride * b, out + kChainOut * a, out + kChainOut * b, pivot + kChainPivot * b);
    }
  }
  block.sync();
}
/// The way back. n[i]: forces of the joint before cluster i; n[0] and n[count] are known.
template <class Block>
KANSETSU_HD void split_all(const Block& block, int count, const double* pivot, double* n) {
  int stride = 1;
  while (stride < count) stride *= 2;
  for (stride /= 2; stride >= 1; stride /= 2) {
    block.sync();
    for (int a = 2 * stride * block.warp(); a + stride < count; a += 2 * stride * block.warps()) {
      const int b = a + stride, end = b + stride < count ? b + stride : count;
      split_chain(block.lanes, pivot + kChainPivot * b, n + 5 * a, n + 5 * end, n + 5 * b);
    }
  }
  block.sync();
}

/// Velocity of the link before a piece, from the carries of all pieces before it. @param room  carries, two per piece
template <class Block>
KANSETSU_HD Motion<> velocity_before(const Block& block, int piece, const ChainCarry* totals, ChainCarry* room) {
  Motion<> none{{0, 0, 0}, {0, 0, 0}};
  if (piece == 0) return none;
  for (int i = block.thread(); i < piece; i += block.threads()) room[i] = totals[i];
  const ChainCarry* scanned = scan_carries(block, room, room + piece, piece);
  return scanned[piece - 1].v;  // the world does not move
}

/// Everything up to the cluster of the piece.
/// @param T  60 numbers per team   @param cluster  out, kChainOut numbers   @param h_first  out, 5: of the first joint
template <class Block>
KANSETSU_HD void reduce_chain(const Block& block, const ChainView& chain, int piece, const Motion<>& V_before,
                              const double* v, const double* tau, ChainPiece& p, double* T, double* cluster,
                              double* h_first) {
  const int first = chain.first(piece), count = chain.size(piece);
  for (int i = block.thread(); i < count; i += block.threads()) {
    load_chain_link(chain, first + i, i, V_before, v, tau, p);
  }
  block.sync();
  for (int i = block.warp(); i < count; i += block.warps()) {
    chain_front(block.lanes, chain, first + i, i, p, T + 60 * block.warp(), p.out + kChainOut * i);
  }
  join_all(block, count, p.h, 5, p.out, p.pivot);
  for (int n = block.thread(); n < kChainOut; n += block.threads()) cluster[n] = p.out[n];
  for (int k = block.thread(); k < 5; k += block.threads()) h_first[k] = p.h[k];
}

/// Joins the pieces and closes the base. @param out, pivot  room for all pieces; out holds their clusters
/// @param n  out, 5 per piece and one more: forces of the joints before the pieces; the last is zero
template <class Block>
KANSETSU_HD void top_chain(const Block& block, const ChainView& chain, const double* h, double* out, double* pivot,
                           double* n) {
  join_all(block, chain.pieces, h, 5, out, pivot);
  for (int k = block.thread(); k < 5; k += block.threads()) n[k] = n[5 * chain.pieces + k] = 0;
  block.sync();
  if (!chain.free_base && block.warp() == 0) {  // the first joint: only its own side moves
    double* P = pivot;
    for (int i = block.lanes.rank(); i < kChainPivot; i += block.lanes.size()) {
      const int j = i / 16, c = i % 16;
      P[i] = c < 10 ? 0.0 : c == 10 ? out[11 * j + 10] + h[j] : out[11 * j + c - 11];
    }
    block.lanes.sync();
    factor_chain_rows(block.lanes, P);
    split_chain(block.lanes, P, n + 5 * chain.pieces, n + 5 * chain.pieces, n);
  }
  split_all(block, chain.pieces, pivot, n);
}

/// Forces within the piece and accelerations (apparent) of its links. @param n  of the top   @param s  out, all links
template <class Block>
KANSETSU_HD void expand_chain(const Block& block, const ChainView& chain, int piece, const double* n, ChainPiece& p,
                              double* s) {
  const int first = chain.first(piece), count = chain.size(piece);
  for (int k = block.thread(); k < 5; k += block.threads()) {
    p.n[k] = n[5 * piece + k];
    p.n[5 * count + k] = n[5 * (piece + 1) + k];
  }
  split_all(block, count, p.pivot, p.n);
  for (int i = block.thread(); i < count; i += block.threads()) {
    const double* C_inv = chain.links[first + i].C_inv;
    Force<> F{{0, 0, 0}, {0, 0, 0}};
    for (int c = 0; c < 10; ++c) F = madd(p.n[5 * i + c], chain_wrench(chain, first + i, i, p, c), F);
    const double six[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
    double y[6];
    for (int r = 0; r < 6; ++r) {
      y[r] = -p.y[6 * i + r];
      for (int k = 0; k <= r; ++k) y[r] = madd(C_inv[6 * r + k], six[k], y[r]);
    }
    for (int r = 0; r < 6; ++r) {
      double sum = 0;
      for (int k = r; k < 6; ++k) sum = madd(C_inv[6 * k + r], y[k], sum);
      p.s[6 * i + r] = sum;
      s[6 * (first + i) + r] = sum;
    }
  }
  block.sync();
}

/// v̇, once all accelerations are there.
template <class Block>
KANSETSU_HD void finish_chain(const Block& block, const ChainView& chain, int piece, const ChainPiece& p,
                              const double* s, double* vdot) {
  const int first = chain.first(piece), count = chain.size(piece);
  const auto motion = [&](int i) {
    const double* a = s + 6 * i;
    return Motion<>{{a[0], a[1], a[2]}, {a[3], a[4], a[5]}};
  };
  for (int i = block.thread(); i < count; i += block.threads()) {
    const ChainLink& link = chain.links[first + i];
    Motion<> A = motion(first + i) - p.C[i];
    if (first + i > 0) A = A - inverse_times(p.X[i], motion(first + i - 1));
    if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
      vdot[0] = A.w.x, vdot[1] = A.w.y, vdot[2] = A.w.z, vdot[3] = A.v.x, vdot[4] = A.v.y, vdot[5] = A.v.z;
    } else {
      vdot[link.column] = link.ratio * dot(A, link.columns[5]);
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
