#pragma once

#include <cstdint>

#include "assembly/chain_cluster_kernel.h"
#include "kansetsu/spatial/inertia.h"

/// Data of the kernels for a long chain; see chain_kernel.h.
namespace kansetsu {

/// Marks a number that has not arrived. A signalling NaN: no arithmetic produces it.
inline constexpr std::uint64_t kPending = 0x7ff46b616e736574;

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

/// Effect of a stretch of links on a velocity: V_end = X⁻¹·V_start + v.
struct ChainCarry {
  Transform<> X;
  Motion<> v;
  double unused;  ///< an odd size: neighbours lie in different banks of memory
};
inline constexpr int kChainCarry = 19;
static_assert(sizeof(ChainCarry) == kChainCarry * sizeof(double));

/// The closure of a ring: it holds the last link to the world, or to the first link of a free chain.
struct ChainClosure {
  int rows;          ///< 0: the chain is open
  int row[6];        ///< direction of each, in the plug
  bool to_base;      ///< the other side is link 0, which is free
  bool tip_is_plug;  ///< the plug is on the last link, not on the other side
  Transform<> X_bJ;  ///< plug in its link or the world
};

/// Rows of a closure at a state, scaled so that their mobility is one if the links are free.
struct ChainClosing {
  Force<> tip[6], base[6];  ///< on the last link, on link 0; zero beyond the rows
  double right[6];
};
inline constexpr int kChainClosing = 78;
static_assert(sizeof(ChainClosing) == kChainClosing * sizeof(double));
/// Numbers in the memory of ring_ends.
inline constexpr int kRingRoom = 11 * 8 + 12;

/// The whole chain, and the places of the posts of its pieces.
struct ChainView {
  const ChainLink* links;
  int count, pieces;
  int group;       ///< pieces per group
  bool free_base;  ///< link 0 is a free body: positions 0…6, velocities 0…5
  bool in_order;   ///< positions and velocities of the links follow each other
  Vec3<> gravity;
  ChainClosure closure;

  KANSETSU_HD bool ring() const { return closure.rows > 0; }
  /// Whether a piece holds a link that the closure holds.
  KANSETSU_HD bool closes(int piece) const {
    return ring() && (piece + 1 == pieces || (piece == 0 && closure.to_base));
  }
  KANSETSU_HD int first(int piece) const { return int(unsigned(count) * unsigned(piece) / unsigned(pieces)); }
  KANSETSU_HD int size(int piece) const { return first(piece + 1) - first(piece); }
  KANSETSU_HD int groups() const { return (pieces + group - 1) / group; }
  KANSETSU_HD int position(int i) const { return in_order ? i + (free_base ? 6 : 0) : links[i].position; }
  KANSETSU_HD int column(int i) const { return in_order ? i + (free_base ? 5 : 0) : links[i].column; }
  KANSETSU_HD int carry_post(int piece) const { return kChainCarry * piece; }
  KANSETSU_HD int cluster_post(int piece) const { return (kChainCarry + 1) / 2 * 2 * pieces + kChainOut * piece; }
  KANSETSU_HD int group_post(int index) const { return cluster_post(pieces) + kChainOut * index; }
  KANSETSU_HD int posts() const { return group_post(groups()); }
};

/// Of a link with one coordinate.
struct ChainState {
  double q, v, tau;
};

/// Memory of a piece, one array per quantity.
struct ChainPiece {
  const ChainLink* links;  ///< the first of its own; one more
  Transform<>* X;          ///< pose in the carrier; one more: of the first link of the next piece
  ChainState* state;       ///< one more likewise
  double* base;            ///< of a free base: q 7, v 6, tau 6
  Motion<>* C;
  double* h;         ///< 5 per link, of its own joint
  double* y;         ///< 6 per link: −C⁻¹·t
  double* own;       ///< a link's contribution to the acceleration of its joint
  double* previous;  ///< the contribution of the link before
  double* out;       ///< clusters; before that, two carries per link
  double* U;
  double* upper;    ///< clusters of the pieces of the group, then of the groups; before that, carries of all pieces
  double* upper_U;  ///< likewise
  double* before;   ///< row 10 of the cluster before the piece
  double* T;        ///< kChainRoom per team
  ChainClosing* closing;
  double* ring;  ///< kRingRoom

  KANSETSU_HD ChainCarry* carry() const { return reinterpret_cast<ChainCarry*>(out); }
};
inline constexpr int kChainRoom = 66;

/// Sets the pointers into a block of memory (or none) and returns its size in numbers.
/// @param links  of the longest piece   @param teams  of threads in a block
KANSETSU_HD int carve_chain_piece(const ChainView& chain, int links, int teams, double* block, ChainPiece& p) {
  int taken = 0;
  const auto take = [&](int n) {
    double* here = block ? block + taken : nullptr;
    taken += n + n % 2;  // pairs stay aligned
    return here;
  };
  const int upper = kChainOut * (chain.group + chain.groups()), carries = kChainCarry * chain.pieces;
  p.out = take(kChainOut * links);
  p.U = take(kChainForce * links);
  p.upper = take(upper > carries ? upper : carries);
  p.upper_U = take(kChainForce * (chain.group + chain.groups()));
  p.links = nullptr;
  p.X = reinterpret_cast<Transform<>*>(take(12 * (links + 1)));
  p.state = reinterpret_cast<ChainState*>(take(3 * (links + 1)));
  p.base = take(19);
  p.C = reinterpret_cast<Motion<>*>(take(6 * links));
  p.h = take(5 * links);
  p.y = take(6 * links);
  p.own = take(links);
  p.previous = take(links);
  p.before = take(kChainStride);
  p.T = take(kChainRoom * teams);
  p.closing = reinterpret_cast<ChainClosing*>(take(chain.ring() ? kChainClosing : 0));
  p.ring = take(chain.ring() ? kRingRoom : 0);
  return taken;
}

}  // namespace kansetsu
