#pragma once

#include <span>
#include <vector>

#include "constraint/mechanics.h"
#include "constraint/tree_rows_table.h"

/// Constraint rows on the bodies and joints of trees without a matrix over rows. A row that acts on one body (a contact with what does not
/// move) or on one coordinate (a limit, dry friction) is part of the articulated-body recursion: whatever stiffness H a Newton step gives
/// it is added to the inertia of its body, or to the pivot of its column, and one recursion solves
///
///     (M + Jᵀ·H·J)·dv = Jᵀ·q
///
/// in O(n), however many rows there are. Rows that join two bodies are few; they are kept as rows of a small system on top of it.
namespace kansetsu {

/// The rows of an island, all of whose figures go by the recursion. Order of calls: begin, add_… for every row, finish.
class TreeRows {
 public:
  void begin(std::span<Mechanics* const> figures, int rows);
  /// As Mechanics has them; `figure` is its number in the island.
  void add_wrenches(int row, const Mechanics& figure, int body, std::span<const Force<>> F);
  void add_torque(int row, const Mechanics& figure, int column, double scale);
  /// a += accelerations of the rows without forces
  void finish(double* a);

  const kernel::TreeRowsView& view() const { return view_; }
  void add_rates(int figure, const double* half, double* a) const { kernels_->add_rates(view_, figure, half, a); }
  void answer(const double* r, double* w) const { kernels_->answer(view_, r, w); }
  void respond(int figure, const double* r, double share, double* out) const {
    kernels_->respond(view_, figure, r, share, out);
  }

 private:
  /// What a figure keeps from step to step.
  struct Memory {
    const TreeView* tree = nullptr;
    std::vector<kernel::TreeBody> bodies;
    std::vector<unsigned char> state;
    Eigen::VectorXd numbers;
  };
  void place_figure(Memory& memory, kernel::TreeFigure& figure) const;
  void find_joining();

  const kernel::TreeRowsKernels* kernels_ = &kernel::tree_rows_kernels();
  kernel::TreeRowsView view_;
  std::vector<Memory> memory_;
  std::vector<kernel::TreeFigure> figures_;
  std::vector<kernel::TreeEnd> ends_;
  std::vector<kernel::TreeTorque> torques_;
  std::vector<int> end_of_, torque_of_, place_, row_of_, order_;
  std::vector<unsigned char> joins_;
  Eigen::VectorXd own_, system_;
};

}  // namespace kansetsu
