#pragma once

#include <cstring>

#include "assembly/device_tree_data.h"

/// State, poses, velocities and loads of the links of each block, and the result. See device_tree_kernel.h.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Calls each(i) for i in [0, count) by the threads of a block.
template <class Grid, class Each>
KANSETSU_HD void for_threads(const Grid& grid, int count, const Each& each) {
  for (int i = grid.block.thread(); i < count; i += grid.block.threads()) each(i);
}
/// Calls each(i) for i in [0, count): a stretch for each block.
template <class Grid, class Each>
KANSETSU_HD void for_stretch(const Grid& grid, int count, const Each& each) {
  const int first = int(long(count) * grid.index() / grid.count());
  const int last = int(long(count) * (grid.index() + 1) / grid.count());
  for_threads(grid, last - first, [&](int i) { each(first + i); });
}
/// A few posts that one thread waits for.
template <class Grid, int count>
KANSETSU_HD void take_few(const Grid& grid, const int (&posts)[count], double (&to)[count]) {
  grid.take(0, 1, count, [&](int k) { return posts[k]; }, [&](int k, double x) { to[k] = x; });
}

/// Wrench of a unit force of row c of a joint on the body that it carries, and on its carrier; c = 5: the dual of its motion.
KANSETSU_HD Force<> tree_wrench(const TreeProblem& p, const TreeEntry& joint, int c) {
  return p.links[joint.link].columns[c];
}
KANSETSU_HD Force<> tree_reaction(const TreeProblem& p, const TreeEntry& joint, int c) {
  return -(joint.X * p.links[joint.link].columns[c]);
}
KANSETSU_HD void to_six(const Force<>& F, double (&out)[6]) {
  out[0] = F.t.x, out[1] = F.t.y, out[2] = F.t.z, out[3] = F.f.x, out[4] = F.f.y, out[5] = F.f.z;
}
KANSETSU_HD void to_six(const Motion<>& A, double (&out)[6]) {
  out[0] = A.w.x, out[1] = A.w.y, out[2] = A.w.z, out[3] = A.v.x, out[4] = A.v.y, out[5] = A.v.z;
}
KANSETSU_HD Motion<> tree_motion(const double* s) { return {{s[0], s[1], s[2]}, {s[3], s[4], s[5]}}; }

/// Posts the state from the host's memory to all blocks, each block a contiguous stretch, as the host's memory is fast only in order.
/// Adding zero changes a NaN that equals kPending to another NaN.
template <class Grid>
KANSETSU_HD void post_state(const Grid& grid, const TreeProblem& p, const double* q, const double* v,
                            const double* tau) {
  for_stretch(grid, p.inputs(), [&](int k) {
    const double x = k < p.nq ? q[k] : k < p.nq + p.nv ? v[k - p.nq] : tau[k - p.nq - p.nv];
    grid.post(k, x + 0.0);
  });
}

/// State and pose of an entry.
template <class Grid>
KANSETSU_HD void place_entry(const Grid& grid, const TreeProblem& p, const TreeLinkPlan& plan, TreeEntry& entry) {
  const ChainLink& link = p.links[plan.link];
  entry.link = plan.link;
  entry.column = plan.column;
  entry.ratio = link.ratio;
  entry.S = link.S;
  entry.state = {};
  if (plan.position >= 0) {
    double x[3];
    take_few(grid, {plan.position, p.nq + plan.column, p.nq + p.nv + plan.column}, x);
    entry.state = {x[0], x[1], x[2]};
  }
  entry.X = chain_pose(link, entry.state, grid.base());
}

/// Scan of carries by pointer jumping, four times as far in each round. @return which array holds the result: 0 or 1
template <class Grid>
KANSETSU_HD int scan_tree(const Grid& grid, const int* jumps, int rounds, int count, ChainCarry* const (&carry)[2]) {
  for (int round = 0; round < rounds; ++round) {
    grid.block.sync();
    const ChainCarry* from = carry[round % 2];
    for_threads(grid, count, [&](int i) {
      const int* jump = jumps + 3 * (count * round + i);
      ChainCarry own = from[i];
      for (int k = 0; k < 3; ++k) {
        if (jump[k] >= 0) own = compose(from[jump[k]], own);
      }
      carry[1 - round % 2][i] = own;
    });
  }
  grid.block.sync();
  return rounds % 2;
}

/// Number k of a carry, as a number among bytes.
KANSETSU_HD double carry_number(const ChainCarry& carry, int k) {
  double x;
  std::memcpy(&x, reinterpret_cast<const char*>(&carry) + 8 * k, 8);
  return x;
}
KANSETSU_HD void set_carry_number(ChainCarry& carry, int k, double x) {
  std::memcpy(reinterpret_cast<char*>(&carry) + 8 * k, &x, 8);
}

/// Bias, right sides and wrench of a link. Without the torque of a leaf, which enters only in the leaf's own step.
template <class Grid>
KANSETSU_HD void load_entry(const Grid& grid, const TreeProblem& p, const TreeLinkPlan& plan, const Motion<>& V,
                            TreeEntry& entry) {
  const ChainLink& link = p.links[plan.link];
  Motion<> C = cross(V, chain_rate(link, entry.state, grid.base()));
  if (p.parent[plan.link] < 0) C += inverse_times(entry.X, Motion<>{{0, 0, 0}, -p.gravity});
  Force<> t = -cross(V, link.M * V);
  if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
    const double* tau = grid.base() + 13;
    t += Force<>{{tau[0], tau[1], tau[2]}, {tau[3], tau[4], tau[5]}};
  } else if (plan.is_leaf == 0) {
    t = madd(link.ratio * entry.state.tau, link.columns[5], t);
    for (int k = 0; k < 5; ++k) entry.h[k] = dot(C, link.columns[k]);
  }
  double six[6];
  to_six(t, six);
  for (int k = 0; k < 6; ++k) entry.A[7 * k + 6] = six[k];
  entry.C = C;
}

/// Poses and velocities of the block's links, and their loads.
template <class Grid>
KANSETSU_HD void load_tree(const Grid& grid, const TreeProblem& p, const double* q, const double* v,
                           const double* tau) {
  const TreePart& part = p.parts[grid.index()];
  const TreeLinkPlan* plan = p.entries + part.entry;
  TreeEntry* entries = grid.entries();
  ChainCarry *own[2] = {grid.carries(), grid.carries() + part.scanned}, *above[2] = {own[1] + part.scanned, nullptr};
  above[1] = above[0] + part.needs;
  post_state(grid, p, q, v, tau);
  for_threads(grid, 36 * part.scanned,
              [&](int k) { entries[k / 36].A[k % 36 + k % 36 / 6] = p.inertia[36 * plan[k / 36].link + k % 36]; });
  if (p.free_base) {
    for_threads(grid, 19, [&](int k) {
      double x[1];
      take_few(grid, {k < 7 ? k : k < 13 ? p.nq + k - 7 : p.nq + p.nv + k - 13}, x);
      grid.base()[k] = x[0];
    });
    grid.block.sync();
  }
  for_threads(grid, part.entries, [&](int i) {
    place_entry(grid, p, plan[i], entries[i]);
    if (i < part.scanned)
      own[0][i] = {entries[i].X, chain_rate(p.links[plan[i].link], entries[i].state, grid.base()), 0};
  });
  const ChainCarry* carried = own[scan_tree(grid, p.jumps + part.jump, part.rounds, part.scanned, own)];
  for_threads(grid, kTreeCarry * part.exits, [&](int k) {
    const TreeExit& exit = p.exits[part.exit + k / kTreeCarry];
    grid.post(exit.post + k % kTreeCarry, carry_number(carried[exit.entry], k % kTreeCarry));
  });
  grid.note(TreePhase::kPlaced);
  grid.take(
      grid.block.thread(), grid.block.threads(), kTreeCarry * part.needs,
      [&](int k) { return p.needs[part.need + k / kTreeCarry] + k % kTreeCarry; },
      [&](int k, double x) { set_carry_number(above[0][k / kTreeCarry], k % kTreeCarry, x); });
  const ChainCarry* before = above[scan_tree(grid, p.jumps + part.need_jump, part.need_rounds, part.needs, above)];
  for_threads(grid, part.scanned, [&](int i) {
    const Motion<> V =
        plan[i].need < 0 ? carried[i].v : inverse_times(carried[i].X, before[plan[i].need].v) + carried[i].v;
    load_entry(grid, p, plan[i], V, entries[i]);
  });
  grid.block.sync();
}

/// u̇ = Eᵀ·(s − X⁻¹·s_carrier − C) of the block's links, and the result to the host's memory: each block a stretch.
template <class Grid>
KANSETSU_HD void finish_tree(const Grid& grid, const TreeProblem& p, double* vdot) {
  const TreePart& part = p.parts[grid.index()];
  for_threads(grid, part.finishes, [&](int i) {
    const TreeFinish& plan = p.finishes[part.finish + i];
    const TreeEntry& entry = grid.entries()[plan.entry];
    const ChainLink& link = p.links[entry.link];
    Motion<> A = tree_motion(grid.numbers() + plan.s) - entry.C;
    if (plan.carrier != kNowhere) {
      double s[6];
      if (plan.carrier >= 0) {
        for (int k = 0; k < 6; ++k) s[k] = grid.numbers()[plan.carrier + k];
      } else {
        grid.take(0, 1, 6, [&](int k) { return ~plan.carrier + k; }, [&](int k, double x) { s[k] = x; });
      }
      A = A - inverse_times(entry.X, tree_motion(s));
    }
    const int out = p.inputs();
    if (PrimitiveKind(link.kind) == PrimitiveKind::kFree) {
      double six[6];
      to_six(A, six);
      for (int k = 0; k < 6; ++k) grid.post(out + k, six[k]);
    } else {
      grid.post(out + entry.column, link.ratio * dot(A, link.columns[5]));
    }
  });
  for_stretch(grid, p.nv, [&](int k) {
    double x[1];
    take_few(grid, {p.inputs() + k}, x);
    vdot[k] = x[0];
  });
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
