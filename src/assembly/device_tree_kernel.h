#pragma once

#include "assembly/device_tree_operations_kernel.h"

/// One tree of 1-DOF joints over many processors: the clusters of clusters.h. A team of lanes computes a cluster. A small branch is
/// computed by one team, a piece of the tree by one block, level by level; the rest is distributed over all teams, and the narrow
/// levels at the top are left to one block. There is no barrier between blocks: a team waits for the numbers it needs. On the CPU
/// the grid is one block of one thread. docs/theory/assembly.md, "On a device".
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The CPU as a grid.
struct SerialGrid {
  SerialBlock block;
  TreeRoom* team;
  TreeEntry* links;
  ChainCarry* carried;
  double *memory, *free_base, *posts;
  int index() const { return 0; }
  int count() const { return 1; }
  TreeRoom& room() const { return *team; }
  TreeEntry* entries() const { return links; }
  ChainCarry* carries() const { return carried; }
  double* numbers() const { return memory; }
  double* base() const { return free_base; }
  void note(TreePhase) const {}
  void post(int place, double x) const { posts[place] = x; }
  /// put(k, number of post from(k)) for every step-th k from `first` on; waits for it.
  template <class From, class Put>
  void take(int first, int step, int count, const From& from, const Put& put) const {
    for (int k = first; k < count; k += step) put(k, posts[from(k)]);
  }
};

/// A team and its operations: the next one is loaded while it works on one. There is one copy of the code: the instruction cache of
/// a processor is small.
template <class Grid>
class TreeTeam {
 public:
  KANSETSU_HD TreeTeam(const Grid& grid, const TreeProblem& problem)
      : grid_(grid),
        p_(problem),
        work_(grid, problem),
        begin_(problem.schedule.team_begin[number()]),
        end_(problem.schedule.team_begin[number() + 1]) {}

  /// From the links to the root.
  KANSETSU_HD void reduce() {
    int met = 0;
    fetch(begin_);
    for (int k = begin_; k < end_; ++k) {
      const TreeOperation& op = take();
      fetch(k + 1);
      for (; met < op.meeting; ++met) grid_.block.sync();
      work_.reduce(op);
    }
    for (const int all = p_.schedule.meetings(grid_.index()); met < all; ++met) grid_.block.sync();
  }
  /// From the root to the links.
  KANSETSU_HD void substitute() {
    int left = p_.schedule.meetings(grid_.index());
    fetch(end_ - 1);
    for (int k = end_; k-- > begin_;) {
      const TreeOperation& op = take();
      fetch(k - 1);
      for (; left > op.meeting; --left) grid_.block.sync();
      work_.substitute(op);
    }
    for (; left > 0; --left) grid_.block.sync();
  }

 private:
  static constexpr int kLanes = decltype(Grid::block.lanes)::kSize, kHeld = (kOperationInts + kLanes - 1) / kLanes;

  KANSETSU_HD int number() const { return grid_.block.warps() * grid_.index() + grid_.block.warp(); }
  /// Operations are copied as bytes: their fields have several types, and each lane copies a part of them.
  KANSETSU_HD void fetch(int k) {
    if (k < begin_ || k >= end_) return;
    const auto* from = reinterpret_cast<const char*>(p_.schedule.operations + k);
    for (int i = 0; i < kHeld; ++i) {
      const int place = grid_.block.lanes.rank() + i * kLanes;
      if (place < kOperationInts) std::memcpy(held_ + i, from + sizeof(int) * size_t(place), sizeof(int));
    }
  }
  /// The one that was fetched.
  KANSETSU_HD const TreeOperation& take() {
    TreeOperation& operation = grid_.room().operation;
    auto* to = reinterpret_cast<char*>(&operation);
    grid_.block.lanes.sync();
    for (int i = 0; i < kHeld; ++i) {
      const int place = grid_.block.lanes.rank() + i * kLanes;
      if (place < kOperationInts) std::memcpy(to + sizeof(int) * size_t(place), held_ + i, sizeof(int));
    }
    grid_.block.lanes.sync();
    return operation;
  }

  const Grid& grid_;
  const TreeProblem& p_;
  TreeOperations<Grid> work_;
  int begin_, end_;
  int held_[kHeld] = {};
};

/// The whole solution; all blocks of a grid call it. @param vdot  out
template <class Grid>
KANSETSU_HD void solve_tree(const Grid& grid, const TreeProblem& p, const double* q, const double* v, const double* tau,
                            double* vdot) {
  load_tree(grid, p, q, v, tau);
  grid.note(TreePhase::kLoaded);
  TreeTeam<Grid> team(grid, p);
  team.reduce();
  grid.note(TreePhase::kReduced);
  team.substitute();
  grid.block.sync();
  grid.note(TreePhase::kSubstituted);
  finish_tree(grid, p, vdot);
  grid.note(TreePhase::kFinished);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
