#pragma once

#include <span>
#include <vector>

#include "constraint/contact_law.h"
#include "kansetsu/constraint/contact_solver.h"

namespace kansetsu {

/// In which order the figures of a heap are eliminated: always one that meets the fewest others, so that few blocks are made.
class BodyPlanner {
 public:
  /// @param figures  by ascending offset, each with whole packs of velocities
  /// @param rows     blocks of rows; each begins at the row where the one before ends
  const kernel::BodyPlan& plan(std::span<const BodyMass> figures, std::span<const kernel::SweepRows> rows);

 private:
  void order_figures();
  void place_blocks(std::span<const kernel::SweepRows> rows);

  kernel::BodyPlan plan_;
  std::vector<int> offset_, size_, padded_, order_, position_, begin_, neighbour_, row_, figure_;
  std::vector<long> diagonal_, upper_, lower_, inverse_at_, place_;
  std::vector<const double*> M_;
  std::vector<std::vector<int>> meets_, ordered_;  ///< whom each figure touches: now, and when they were ordered
  std::vector<int> merged_;
  std::vector<double> numbers_;
};

}  // namespace kansetsu
