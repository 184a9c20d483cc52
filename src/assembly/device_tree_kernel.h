#pragma once

#include "assembly/chain_kernel.h"
#include "assembly/factor_kernel.h"

/// One tree of 1-DOF joints over many processors: the clusters of clusters.h, level by level. A team of lanes computes a cluster,
/// all teams of all blocks meet after a level; where levels have become narrow one block goes on alone. Written for a grid of
/// blocks; a grid of one block of one thread is the CPU. docs/theory/assembly.md, "On a device".
///
/// Bonds are joints of five rows, named by the link they carry. A cluster keeps at most three of them as ports: five rows and columns
/// each of its matrix G, and the right side in the last column. With n the forces of its rows, Hᵀ·s = G·n − r.
namespace kansetsu {

enum class TreeOperationKind : int { kBody, kMerge, kSum };

/// What becomes of one cluster. Places are in TreeProblem::numbers.
struct TreeOperation {
  TreeOperationKind kind;
  int ports;    ///< bonds it keeps
  int bond[3];  ///< which
  int out;      ///< its matrix, 5·ports rows of 5·ports + 1
  // a body
  int link;
  int columns;                   ///< place of C⁻¹·H, six numbers for each column
  int shares_begin, shares_end;  ///< in TreeProblem::shares: what is raked into it, or what a sum adds up
  // a merge of two clusters
  int closes;     ///< bond between them
  int child[2];   ///< their matrices
  int width[2];   ///< columns of these
  int close[2];   ///< first row of the closing bond in each
  int source[2];  ///< per port: the child it comes from
  int from[2];    ///< and its first row there
  int force;      ///< place of n = u − U·(ports): five rows of [U, u]
  // a cluster with one port that is raked into a body
  int rake;    ///< the bond; −1: it is not
  int hub;     ///< the body
  int share;   ///< six rows of [inertia, force] that the hub gains; a sum has them, too
  int answer;  ///< place of n = q − Q·s_hub: five rows of [Q, q]
};

/// Constants, memory and operations of a tree.
struct TreeProblem {
  const ChainLink* links;
  const double* inertia;
  const int *parent, *child_begin, *children;
  const TreeOperation* operations;
  const int* level_begin;
  const int* shares;
  int count, levels, narrow, rounds;
  bool free_base;
  Vec3<> gravity;
  // memory
  Transform<>* X;        ///< per link: pose in its carrier
  ChainState* state;     ///< per link
  double* base;          ///< of a free base: q 7, v 6, tau 6
  ChainCarry* carry[2];  ///< per link
  int* ancestor[2];      ///< per link: what its carry is relative to
  Motion<>* C;           ///< per link
  double* h;             ///< 5 per link, of its joint
  double* t;             ///< 6 per link: wrench on it
  double* own;           ///< 36 per link: inverse factor of its inertia with what is raked into it
  double* y;             ///< 6 per link: −C⁻¹·t likewise
  double* n;             ///< 5 per link: force of its joint
  double* s;             ///< 6 per link: acceleration, apparent
  double* numbers;       ///< of the operations

  KANSETSU_HD bool grounded(int i) const { return parent[i] < 0 && !(free_base && i == 0); }
};

/// Room of a team: [inertia, force] of a body, then its columns.
inline constexpr int kTreeRoom = 42 + 6 * 15;

}  // namespace kansetsu

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The CPU as a grid.
struct SerialGrid {
  SerialBlock block;
  double* memory;  ///< kTreeRoom
  KANSETSU_HD int index() const { return 0; }
  KANSETSU_HD int count() const { return 1; }
  KANSETSU_HD double* room() const { return memory; }
  KANSETSU_HD void sync() const {}
};

/// Calls each(i) for i in [first, last), shared out over the threads of a grid.
template <class Grid, class Each>
KANSETSU_HD void for_threads(const Grid& grid, int first, int last, const Each& each) {
  const int step = grid.block.threads() * grid.count();
  for (int i = first + grid.block.threads() * grid.index() + grid.block.thread(); i < last; i += step) each(i);
}

/// What a unit force of row c of a joint does to one of the two bodies it holds; c = 5: the dual of its motion.
KANSETSU_HD Force<> tree_wrench(const TreeProblem& p, int joint, int body, int c) {
  const Force<>& F = p.links[joint].columns[c];
  return joint == body ? F : -(p.X[joint] * F);
}
KANSETSU_HD void to_six(const Force<>& F, double (&out)[6]) {
  out[0] = F.t.x, out[1] = F.t.y, out[2] = F.t.z, out[3] = F.f.x, out[4] = F.f.y, out[5] = F.f.z;
}
KANSETSU_HD void to_six(const Motion<>& A, double (&out)[6]) {
  out[0] = A.w.x, out[1] = A.w.y, out[2] = A.w.z, out[3] = A.v.x, out[4] = A.v.y, out[5] = A.v.z;
}
KANSETSU_HD Motion<> tree_motion(const double* s) { return {{s[0], s[1], s[2]}, {s[3], s[4], s[5]}}; }

/// Poses, and velocities by jumping over twice as many links each round.
template <class Grid>
KANSETSU_HD void place_tree(const Grid& grid, const TreeProblem& p, const double* q, const double* v,
                            const double* tau) {
  for_threads(grid, 0, p.free_base ? 19 : 0, [&](int k) {
    p.base[k] = k < 7 ? q[k] : k < 13 ? v[k - 7] : tau[k - 13];
  });
  if (p.free_base) grid.sync();
  for_threads(grid, 0, p.count, [&](int i) {
    const ChainLink& link = p.links[i];
    const bool is_base = p.free_base && i == 0;
    p.state[i] = is_base ? ChainState{} : ChainState{q[link.position], v[link.column], tau[link.column]};
    p.X[i] = chain_pose(link, p.state[i], p.base);
    p.carry[0][i] = {p.X[i], chain_rate(link, p.state[i], p.base), 0};
    p.ancestor[0][i] = p.parent[i];
  });
  for (int round = 0; round < p.rounds; ++round) {
    grid.sync();
    const int from = round % 2, to = 1 - from;
    for_threads(grid, 0, p.count, [&](int i) {
      const int a = p.ancestor[from][i];
      p.carry[to][i] = a < 0 ? p.carry[from][i] : compose(p.carry[from][a], p.carry[from][i]);
      p.ancestor[to][i] = a < 0 ? -1 : p.ancestor[from][a];
    });
  }
  grid.sync();
}

/// Bias, right sides and wrench of a link.
KANSETSU_HD void load_tree_link(const TreeProblem& p, int i) {
  const ChainLink& link = p.links[i];
  const Motion<> V = p.carry[p.rounds % 2][i].v;
  Motion<> C = cross(V, chain_rate(link, p.state[i], p.base));
  if (p.parent[i] < 0) C += inverse_times(p.X[i], Motion<>{{0, 0, 0}, -p.gravity});
  Force<> t = -cross(V, link.M * V);
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    const double* tau = p.base + 13;
    t += Force<>{{tau[0], tau[1], tau[2]}, {tau[3], tau[4], tau[5]}};
  } else {
    t = madd(link.ratio * p.state[i].tau, link.columns[5], t);
  }
  for (int k = p.child_begin[i]; k < p.child_begin[i + 1]; ++k) {
    const int c = p.children[k];
    t = madd(p.links[c].ratio * p.state[c].tau, tree_wrench(p, c, i, 5), t);
  }
  for (int k = 0; k < 5; ++k) p.h[5 * i + k] = dot(C, link.columns[k]);
  double six[6];
  to_six(t, six);
  for (int k = 0; k < 6; ++k) p.t[6 * i + k] = six[k];
  p.C[i] = C;
}

/// Inverse factor of a body's inertia and −C⁻¹·t, with what is raked into it. A body on the ground has one coordinate: its
/// factor is one row Sᵀ/√(Sᵀ·A·S), and t is without A·C.
template <class Lanes>
KANSETSU_HD void factor_body(const Lanes& lanes, const TreeProblem& p, const TreeOperation& op, double* room,
                             double (&C_inv)[36], double (&y)[6]) {
  const bool grounded = p.grounded(op.link);
  for (int k = lanes.rank(); k < 42; k += Lanes::kSize) {
    const int row = k / 7, column = k % 7;
    double sum = column < 6 ? p.inertia[36 * op.link + 6 * row + column] : p.t[6 * op.link + row];
    for (int i = op.shares_begin; i < op.shares_end; ++i) sum += p.numbers[p.shares[i] + k];
    room[k] = sum;
  }
  lanes.sync();
  double t[6], A[36];
  for (int r = 0; r < 6; ++r) {
    for (int c = 0; c < 6; ++c) A[6 * r + c] = room[7 * r + c];
    t[r] = room[7 * r + 6];
  }
  if (grounded) {
    double S[6], C[6], d = 0;
    to_six(p.links[op.link].S, S);
    to_six(p.C[op.link], C);
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < 6; ++c) {
        d = madd(S[r] * A[6 * r + c], S[c], d);
        t[r] = msub(A[6 * r + c], C[c], t[r]);
      }
    }
    const double scale = 1 / std::sqrt(d);
    for (int k = 0; k < 36; ++k) C_inv[k] = k < 6 ? scale * S[k % 6] : 0.0;
  } else if (op.shares_begin == op.shares_end) {
    for (int k = 0; k < 36; ++k) C_inv[k] = p.links[op.link].C_inv[k];
  } else {
    invert_factor(A, 0.0, C_inv);
  }
  for (int r = 0; r < 6; ++r) {
    y[r] = 0;
    for (int k = 0; k < 6; ++k) y[r] = msub(C_inv[6 * r + k], t[k], y[r]);
  }
  for (int k = lanes.rank(); k < 42; k += Lanes::kSize) {  // for the way down
    if (k >= 36) p.y[6 * op.link + k - 36] = y[k - 36];
    if (k < 36) p.own[36 * op.link + k] = C_inv[k];
  }
}

/// Front of a body: G = Hᵀ·A⁻¹·H, r = −Hᵀ·A⁻¹·t; a body on the ground adds −Hᵀ·C.
template <class Lanes>
KANSETSU_HD void reduce_body(const Lanes& lanes, const TreeProblem& p, const TreeOperation& op, double* room) {
  double C_inv[36], y[6];
  factor_body(lanes, p, op, room, C_inv, y);
  const int columns = 5 * op.ports, width = columns + 1;
  double* T = p.numbers + op.columns;
  double* out = p.numbers + op.out;
  const Motion<> free = p.grounded(op.link) ? p.C[op.link] : Motion<>{{0, 0, 0}, {0, 0, 0}};
  for (int c = lanes.rank(); c < columns; c += Lanes::kSize) {
    const Force<> F = tree_wrench(p, op.bond[c / 5], op.link, c % 5);
    double six[6], right = -dot(free, F);
    to_six(F, six);
    for (int r = 0; r < 6; ++r) {
      double sum = 0;
      for (int k = 0; k < 6; ++k) sum = madd(C_inv[6 * r + k], six[k], sum);
      T[6 * c + r] = room[42 + 6 * c + r] = sum;
      right = madd(sum, y[r], right);
    }
    out[width * c + columns] = right;
  }
  lanes.sync();
  for (int c = lanes.rank(); c < columns; c += Lanes::kSize) {
    const double* own = room + 42 + 6 * c;
    for (int r = 0; r < columns; ++r) {
      double sum = 0;
      for (int k = 0; k < 6; ++k) sum = madd(room[42 + 6 * r + k], own[k], sum);
      out[width * r + c] = sum;
    }
  }
}

/// Joins two clusters: the bond between them is closed.
template <class Lanes>
KANSETSU_HD void reduce_merge(const Lanes& lanes, const TreeProblem& p, const TreeOperation& op) {
  const double* child[2] = {p.numbers + op.child[0], p.numbers + op.child[1]};
  const auto closing = [&](int side, int j) { return child[side] + op.width[side] * (op.close[side] + j); };
  double Y[15];
  for (int j = 0; j < 5; ++j) {
    for (int k = 0; k <= j; ++k)
      Y[j * (j + 1) / 2 + k] = closing(0, j)[op.close[0] + k] + closing(1, j)[op.close[1] + k];
  }
  const ChainRows rows(Y);
  const int columns = 5 * op.ports, width = columns + 1;
  double *out = p.numbers + op.out, *U = p.numbers + op.force;
  for (int item = lanes.rank(); item < 32; item += Lanes::kSize) {  // an item: half of the rows of a column
    const int half = item / 16, c = item % 16;
    if (c > columns || (half > 0 && op.ports < 2)) continue;
    const bool right = c == columns;
    const int side = right ? -1 : op.source[c / 5], at = right ? 0 : op.from[c / 5] + c % 5;
    double u[5];
    for (int j = 0; j < 5; ++j) {
      u[j] = right ? closing(0, j)[op.width[0] - 1] + closing(1, j)[op.width[1] - 1] + p.h[5 * op.closes + j]
                   : closing(side, j)[at];
    }
    rows.solve(u);
    for (int j = 0; j < 5 && half == 0; ++j) U[width * j + c] = u[j];
    if (half >= op.ports) continue;
    const int of = op.source[half];
    for (int r = 0; r < 5; ++r) {
      const double* row = child[of] + op.width[of] * (op.from[half] + r);
      double sum = right ? row[op.width[of] - 1] : side == of ? row[at] : 0.0;
      for (int j = 0; j < 5; ++j) sum = msub(row[op.close[of] + j], u[j], sum);
      out[width * (5 * half + r) + c] = sum;
    }
  }
}

/// A cluster with one port as its hub sees it: inertia H·G⁻¹·Hᵀ and force H·G⁻¹·(r + h).
template <class Lanes>
KANSETSU_HD void rake_cluster(const Lanes& lanes, const TreeProblem& p, const TreeOperation& op) {
  const double* G = p.numbers + op.out;
  double Y[15], H[5][6];
  for (int j = 0; j < 5; ++j) {
    for (int k = 0; k <= j; ++k) Y[j * (j + 1) / 2 + k] = G[6 * j + k];
    to_six(tree_wrench(p, op.rake, op.hub, j), H[j]);
  }
  const ChainRows rows(Y);
  for (int c = lanes.rank(); c < 7; c += Lanes::kSize) {
    double u[5];
    for (int j = 0; j < 5; ++j) {
      u[j] = G[6 * j + 5] + p.h[5 * op.rake + j];
      for (int k = 0; k < 6; ++k) u[j] = c == k ? H[j][k] : u[j];
    }
    rows.solve(u);
    for (int j = 0; j < 5; ++j) p.numbers[op.answer + 7 * j + c] = u[j];
    for (int r = 0; r < 6; ++r) {
      double sum = 0;
      for (int j = 0; j < 5; ++j) sum = madd(H[j][r], u[j], sum);
      p.numbers[op.share + 7 * r + c] = sum;
    }
  }
}

template <class Lanes>
KANSETSU_HD void reduce_operation(const Lanes& lanes, const TreeProblem& p, const TreeOperation& op, double* room) {
  if (op.kind == TreeOperationKind::kSum) {
    for (int k = lanes.rank(); k < 42; k += Lanes::kSize) {
      double sum = 0;
      for (int i = op.shares_begin; i < op.shares_end; ++i) sum += p.numbers[p.shares[i] + k];
      p.numbers[op.share + k] = sum;
    }
  } else if (op.kind == TreeOperationKind::kBody) {
    reduce_body(lanes, p, op, room);
  } else {
    reduce_merge(lanes, p, op);
  }
  lanes.sync();
  if (op.rake < 0) return;
  rake_cluster(lanes, p, op);
  lanes.sync();
}

/// The way back: forces of the bond that a cluster closes, acceleration of a body. Its ports, or its hub, are known.
template <class Lanes>
KANSETSU_HD void substitute_operation(const Lanes& lanes, const TreeProblem& p, const TreeOperation& op, double* room) {
  if (op.kind == TreeOperationKind::kSum) return;
  if (op.rake >= 0) {
    const double* s = p.s + 6 * op.hub;
    for (int j = lanes.rank(); j < 5; j += Lanes::kSize) {
      const double* row = p.numbers + op.answer + 7 * j;
      double sum = row[6];
      for (int k = 0; k < 6; ++k) sum = msub(row[k], s[k], sum);
      p.n[5 * op.rake + j] = sum;
    }
    lanes.sync();
  }
  const int columns = 5 * op.ports;
  const auto force = [&](int c) { return p.n[5 * op.bond[c / 5] + c % 5]; };
  if (op.kind == TreeOperationKind::kMerge) {
    for (int j = lanes.rank(); j < 5; j += Lanes::kSize) {
      const double* row = p.numbers + op.force + (columns + 1) * j;
      double sum = row[columns];
      for (int c = 0; c < columns; ++c) sum = msub(row[c], force(c), sum);
      p.n[5 * op.closes + j] = sum;
    }
    lanes.sync();
    return;
  }
  for (int r = lanes.rank(); r < 6; r += Lanes::kSize) {
    double sum = -p.y[6 * op.link + r];
    for (int c = 0; c < columns; ++c) sum = madd(p.numbers[op.columns + 6 * c + r], force(c), sum);
    room[r] = sum;
  }
  lanes.sync();
  double free[6] = {0, 0, 0, 0, 0, 0};
  if (p.grounded(op.link)) to_six(p.C[op.link], free);
  for (int r = lanes.rank(); r < 6; r += Lanes::kSize) {
    double sum = 0;
    for (int k = 0; k < 6; ++k) {
      sum = madd(p.own[36 * op.link + 6 * k + r], room[k], sum);
      if (k == r) sum += free[k];
    }
    p.s[6 * op.link + r] = sum;
  }
  lanes.sync();
}

/// u̇ = Eᵀ·(s − X⁻¹·s_carrier − C)
KANSETSU_HD void finish_tree_link(const TreeProblem& p, int i, double* vdot) {
  const ChainLink& link = p.links[i];
  Motion<> A = tree_motion(p.s + 6 * i) - p.C[i];
  if (p.parent[i] >= 0) A = A - inverse_times(p.X[i], tree_motion(p.s + 6 * p.parent[i]));
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    vdot[0] = A.w.x, vdot[1] = A.w.y, vdot[2] = A.w.z, vdot[3] = A.v.x, vdot[4] = A.v.y, vdot[5] = A.v.z;
  } else {
    vdot[link.column] = link.ratio * dot(A, link.columns[5]);
  }
}

/// One level of clusters by the teams of `blocks` blocks.
template <class Grid, class Each>
KANSETSU_HD void for_level(const Grid& grid, const TreeProblem& p, int level, int blocks, const Each& each) {
  const int teams = grid.block.warps() * blocks, first = grid.block.warps() * grid.index() + grid.block.warp();
  for (int k = p.level_begin[level] + first; k < p.level_begin[level + 1]; k += teams) each(p.operations[k]);
}

/// Everything; all blocks of a grid call it. @param vdot  out
template <class Grid>
KANSETSU_HD void solve_tree(const Grid& grid, const TreeProblem& p, const double* q, const double* v, const double* tau,
                            double* vdot) {
  place_tree(grid, p, q, v, tau);
  for_threads(grid, 0, p.count, [&](int i) { load_tree_link(p, i); });
  grid.sync();
  const auto up = [&](const TreeOperation& op) { reduce_operation(grid.block.lanes, p, op, grid.room()); };
  const auto down = [&](const TreeOperation& op) { substitute_operation(grid.block.lanes, p, op, grid.room()); };
  for (int level = 0; level < p.narrow; ++level) {
    for_level(grid, p, level, grid.count(), up);
    grid.sync();
  }
  if (grid.index() == 0) {
    for (int level = p.narrow; level < p.levels; ++level) {
      for_level(grid, p, level, 1, up);
      grid.block.sync();
    }
    for (int level = p.levels; level-- > p.narrow;) {
      for_level(grid, p, level, 1, down);
      grid.block.sync();
    }
  }
  for (int level = p.narrow; level-- > 0;) {
    grid.sync();
    for_level(grid, p, level, grid.count(), down);
  }
  grid.sync();
  for_threads(grid, 0, p.count, [&](int i) { finish_tree_link(p, i, vdot); });
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
