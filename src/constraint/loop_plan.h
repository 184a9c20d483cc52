#pragma once

#include <span>
#include <vector>

#include "constraint/loop_front.h"
#include "constraint/mechanics.h"

namespace kansetsu {

/// One row as one body feels it: the wrench on the body per unit of its force, at O of the figure.
struct RowWrench {
  int row, figure, body;
  Force<> F;
};
/// A row that measures scale · v[column].
struct RowTorque {
  int row, figure, column;
  double scale;
};

/// In which order constraint rows are eliminated, and where in a front everything stands. Depends on which rows act where, not on
/// numbers: made again only when that changes, and the same whatever was there before.
///
/// Every body of a tree without gears is a part that takes in the bodies it carries; what hangs on the ground, and every
/// figure with gears as a whole, is a part of its own. Parts that bilateral rows connect are joined, those first that leave
/// fewest rows open; a row is closed where all that it acts on is together. Rows with inequalities stay open to the root.
struct LoopPlan {
  struct Node {
    int figure = -1, body = -1;  ///< body −1: a figure with gears; figure −1: parts joined
    int parent = -1, first_child = -1, next_sibling = -1;
    int kept_begin = 0, kept_end = 0;      ///< rows that stay open, in `rows`
    int closed_begin = 0, closed_end = 0;  ///< and those that are closed here
    int wrench_begin = 0, wrench_end = 0;  ///< what acts on the body, in `wrenches`
    int torque_begin = 0, torque_end = 0;  ///< and on its columns, in `torques`
    int run_begin = 0, run_end = 0;        ///< its columns in the front of its parent
    int stack = 0;                         ///< which of two stacks F is on
    long F = 0, numbers = 0;               ///< where its numbers begin: on the stack; in the memory that stays
    int head = 0, columns = 0;             ///< as in LoopFront
    int kept() const { return head + kept_end - kept_begin; }
    int closed() const { return closed_end - closed_begin; }
  };
  /// A wrench or torque by its index, and the column of its row in the front.
  struct Placed {
    int index, column;
  };

  std::vector<Node> nodes;
  std::vector<int> order;  ///< children before their parents; the root is last
  std::vector<int> rows;
  std::vector<Placed> wrenches, torques;
  std::vector<kernel::FrontRun> runs;
  long stack_size[2] = {0, 0}, numbers = 0;
  int widest = 0;  ///< most columns of a front, closed rows included

  /// @return false if nothing has changed since the last call
  bool make(std::span<Mechanics* const> figures, std::span<const RowWrench> wrenches_in,
            std::span<const RowTorque> torques_in, int bilateral, int total);

  static int padded(int n) { return kernel::padded_rows(n); }

 private:
  /// Where a row acts, as far as it is known.
  struct RowPlace {
    int part[2] = {-1, -1};  ///< the first two parts that hang on the ground
    int meet = -1;           ///< within one part: the body that carries all of it; −1: the ground
    int wrenches = 0, torques = 0;
    bool wide = false;   ///< more than two parts
    int closes_at = -1;  ///< node
  };
  struct Edge {
    int a, b, rows;
  };

  bool is_same(std::span<Mechanics* const> figures, std::span<const RowWrench> w, std::span<const RowTorque> t,
               int bilateral, int total);
  void make_parts(std::span<Mechanics* const> figures);
  void place_rows(std::span<Mechanics* const> figures, std::span<const RowWrench> w, std::span<const RowTorque> t);
  int node_of(int figure, int body) const;
  int meeting_node(int a, int b) const;
  void join_parts();
  void close_rows();
  void link(int child, int parent);
  void order_nodes();
  void sort_actions(std::span<Mechanics* const> figures, std::span<const RowWrench> w, std::span<const RowTorque> t);
  void list_rows(int n);
  void add_runs(int child, int head, int ld);
  void lay_out();
  int row_of_wrench(int k) const { return wrench_rows_[size_t(wrenches[size_t(k)].index)].row; }
  int row_of_torque(int k) const { return torque_rows_[size_t(torques[size_t(k)].index)].row; }

  std::vector<int> signature_, next_signature_;
  int bilateral_ = 0, total_ = 0, root_ = -1;
  std::vector<int> first_node_;       ///< per figure
  std::vector<char> whole_;           ///< per figure: it is one part
  std::vector<RowPlace> place_;       ///< per row
  std::vector<Edge> edges_, merged_;  ///< between tops, a < b
  std::vector<int> degree_, taken_, bound_;
  std::span<const RowWrench> wrench_rows_;  ///< of the call
  std::span<const RowTorque> torque_rows_;
  std::vector<int> mark_, at_;  ///< per row: the last node that has it, and its column there
  std::vector<int> count_, stack_;
};

}  // namespace kansetsu
