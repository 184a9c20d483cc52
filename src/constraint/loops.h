#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "constraint/loop_plan.h"

namespace kansetsu {

/// Bilateral rows of an island, eliminated without a matrix over all of them: what BilateralElimination does, at a cost that
/// grows with what is cut where parts of the mechanism are joined, not with the third power of the rows. For nets of loops.
///
/// The articulated-body recursion carries open rows along and closes each where both its ends are together; parts that only
/// rows connect are joined like clusters of an assembly (LoopPlan). Of rows that depend on others some carry no force: the
/// motion is the same, the split of the forces is one of many. docs/theory/loops.md.
///
/// Order of calls: begin, add_… for every row, eliminate; then hold, forces, respond as often as needed.
class LoopElimination {
 public:
  void begin(std::span<Mechanics* const> figures, int bilateral, int others);
  /// Rows from `row` on measure F·V of the body, one per wrench; F at O, world axes.
  void add_wrenches(int row, const Mechanics& figure, int body, std::span<const Force<>> F);
  void add_torque(int row, const Mechanics& figure, int column, double scale);

  /// Factorises, adds the accelerations of all rows without constraint forces to `a`, and writes G of the rows that are not
  /// bilateral with the bilateral ones held; rows are `stride` apart, padded with zeros.
  /// @param least     rows with a smaller diagonal cannot move: what is there is rounding errors
  /// @param firmness  of bilateral rows, as Island::set_firmness() has it; null: all are rigid
  void eliminate(double* a, double* G, int stride, double least, const double* firmness = nullptr);
  int rank() const { return rank_; }

  /// How far bilateral rows are from what is wanted, y_b; changes the others accordingly.
  /// @return the largest part of y_b that no force can change
  double hold(const double* y_b, double* y_r);
  /// Forces of the bilateral rows that make up for the last hold() and for forces f_r on the others, and the response to all.
  /// @param force  of all rows, bilateral ones first; those of the others are given
  void forces(double* force);
  /// Adds the response of a figure to the forces, and drive · M⁻¹·(τ − bias).
  void respond(int figure, double drive, double* out) const;
  /// Adds the accelerations of all rows by the forces alone.
  void add_rates(double* y) const;

  const LoopPlan& plan() const { return plan_; }

 private:
  void bind();
  void load(const LoopPlan::Node& node, const kernel::LoopFront& front);
  void load_whole(const LoopPlan::Node& node, const kernel::LoopFront& front);
  void sweep_in(const double* y_b);
  void sweep_out(double* force, double* response);
  void add_row_rates(const Eigen::VectorXd& rates, double* y) const;

  std::vector<Mechanics*> figures_;
  int bilateral_ = 0, others_ = 0, rank_ = 0;
  double inconsistency_ = 0;
  std::vector<RowWrench> wrenches_;
  std::vector<RowTorque> torques_;
  LoopPlan plan_;
  std::vector<kernel::LoopFront> fronts_;  ///< per node
  std::vector<int> order_;
  std::vector<int> column_, body_;  ///< per figure: its first column and body among all
  Eigen::VectorXd give_;            ///< of bilateral rows: 1/firmness; empty: all are rigid
  Eigen::VectorXd memory_, stack_[2], x_, carried_, y_, rest_, change_;
  Eigen::VectorXd free_, response_;  ///< rates of all columns of all figures
  mutable std::vector<Motion<>> motions_;
};

}  // namespace kansetsu
