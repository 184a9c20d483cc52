#pragma once

#include "assembly/chain_kernel.h"

/// Data of the kernels for a tree of 1-DOF joints; see device_tree_kernel.h.
///
/// Bonds are joints of five rows, named by the link they carry. A cluster keeps at most three of them as ports: five rows and columns
/// each of its matrix G, and the right side in the last column. With n the forces of its rows, Hᵀ·s = G·n − r; the bias of a joint is in
/// the right side of the link that it carries.
///
/// A place is the index of a number. From 0 on it is in the memory of the block that works on it; below 0, ~place is in the posts:
/// memory shared by all blocks, where a number that has not arrived is kPending.
namespace kansetsu {

enum class TreeOperationKind : int {
  kLeaf,   ///< a link with no bond left but its own joint: a step of the articulated-body algorithm
  kBody,   ///< a link with several ports, or one that is not raked by its own joint
  kMerge,  ///< two clusters
  kSum,    ///< adds up shares
};

/// Raked clusters that one operation adds up.
inline constexpr int kMostShares = 8;
/// Six rows of [inertia, force] that a hub gains.
inline constexpr int kTreeShare = 42;
/// No place.
inline constexpr int kNowhere = -2147483647;

/// The operation of one cluster. Links and bonds are entries of its block.
struct alignas(16) TreeOperation {
  TreeOperationKind kind;
  int meeting;  ///< number of barriers of its block's teams before it
  int ports;    ///< bonds it keeps
  int bond[3];  ///< which
  int out;      ///< its matrix, 5·ports rows of 5·ports + 1
  // a body
  int link;
  int grounded;             ///< 1: the ground carries it
  int columns;              ///< place of A⁻¹·[H, t], six numbers for each column
  int share_count;          ///< clusters raked into it, or terms of a sum:
  int posted_shares;        ///< how many of them are posts; these come first
  int shares[kMostShares];  ///< places
  // a merge of two clusters
  int child[2];   ///< their matrices
  int width[2];   ///< columns of these
  int close[2];   ///< first row of the closing bond in each
  int source[2];  ///< per port: the child it comes from
  int from[2];    ///< and its first row there
  int force;      ///< place of n = u − U·(ports): five rows of [U, u]
  // a cluster with one port that is raked into a body
  int rake;    ///< the bond; −1: it is not raked
  int upward;  ///< 1: the hub is the body that this joint carries
  int share;   ///< six rows of [inertia, force] that the hub gains; a sum has them, too
  int answer;  ///< place of n = q − Q·s_hub: five rows of [Q, q]; of a leaf u̇ = q − Q·X⁻¹·s_hub: [Q, q]
  // back substitution
  int hub;                  ///< the body's acceleration s
  int known[3];             ///< forces of the ports
  int closed, closed_post;  ///< force of the bond that it closes, for this block and for others (or kNowhere)
  int raked, raked_post;    ///< that of the bond by which it is raked
  int s, s_post;            ///< acceleration of its link
};

/// A link of a block: its own, or one whose pose it needs.
struct TreeLinkPlan {
  int link, position, column;  ///< −1: the free base
  int need;                    ///< carrier of its topmost carrier in this block, in TreePart::needs; −1: the ground
  int is_leaf;                 ///< 1: see TreeOperationKind::kLeaf
};
struct TreeExit {
  int entry, post;
};
/// A link that is not a leaf: places of the accelerations from which u̇ follows.
struct TreeFinish {
  int entry, s, carrier;
};

/// The data of a block: ranges in the lists of TreeProblem.
struct TreePart {
  int entry, scanned, entries;  ///< in `entries`: first, those with a velocity (its own and guests), all
  int jump, rounds;  ///< in `jumps`: per round and scanned entry three: 1, 2, 3 times 4^round above it, −1: beyond
  int exit, exits;   ///< in `exits`: links that carry links of other blocks
  int need, needs;   ///< in `needs`: the exits between the base and its own links
  int need_jump, need_rounds;  ///< in `jumps`, likewise
  int finish, finishes;        ///< in `finishes`
};

/// Operations in the order in which each team performs them: branches, its share of the levels of its block's pieces, of the levels
/// above these, and of the narrow levels. The teams of a block synchronise before each level of its pieces and each narrow one.
struct TreeSchedule {
  const TreeOperation* operations;
  const int* team_begin;  ///< per team, of all blocks
  int count, piece_levels, narrow_levels;

  /// Barriers of the teams of a block on the way up, and back.
  KANSETSU_HD int meetings(int block) const { return piece_levels + (block == 0 ? narrow_levels : 0); }
};

/// Constants and operations of a tree.
struct TreeProblem {
  const ChainLink* links;
  const double* inertia;
  const int* parent;
  TreeSchedule schedule;
  const TreePart* parts;
  const TreeLinkPlan* entries;
  const int *jumps, *needs;
  const TreeExit* exits;
  const TreeFinish* finishes;
  int count, nq, nv;
  bool free_base;
  Vec3<> gravity;

  /// Posts of the state: q, v and tau, one after the other; then of the result.
  KANSETSU_HD int inputs() const { return nq + 2 * nv; }
};

/// A link in the memory of a block.
struct TreeEntry {
  double A[42];  ///< six rows of [inertia, wrench]
  Transform<> X;
  Motion<> S, C;
  double h[5];
  ChainState state;
  double ratio;
  int link, column;
  double unused;  ///< an odd size: neighbours lie in different banks of memory
};
static_assert(sizeof(TreeEntry) / 8 % 2 == 1);

inline constexpr int kTreeCarry = 18;
/// [inertia, force] of a body, its columns H, and A⁻¹·[H, t].
inline constexpr int kTreeNumbers = 42 + 6 * 15 + 6 * 16;
/// Memory of a team.
struct TreeRoom {
  double numbers[kTreeNumbers];
  double taken[kMostShares * kTreeShare];  ///< of other blocks; two matrices that can be joined are smaller
  TreeOperation operation;
};
inline constexpr int kOperationInts = int(sizeof(TreeOperation) / sizeof(int));

/// The phases of a launch; a grid may record their times.
enum class TreePhase : int { kPlaced, kLoaded, kReduced, kSubstituted, kFinished };
inline constexpr int kTreePhases = 5;

}  // namespace kansetsu
