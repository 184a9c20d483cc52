#pragma once

#include "ik/hierarchy.h"
#include "kansetsu/ik/method.h"
#include "kansetsu/ik/solver.h"

/// The tasks of a problem as levels of a hierarchy: contiguous errors and Jacobians, memory allocated once.
namespace kansetsu::ik {

class TaskRows {
 public:
  TaskRows(const Model& model, const Problem& problem);

  /// Errors and Jacobians at the evaluator's configuration, each times its task's weight. @param numbers  rotations in J and
  /// in the errors; task_error() is of the turn itself
  void evaluate(TaskEvaluator& evaluator, const Problem& problem);
  void evaluate(TaskEvaluator& evaluator, const Problem& problem, const VectorRef& q, const MethodCoordinates& numbers);

  int level_count() const { return int(levels_.size()); }
  Level* levels() { return levels_.data(); }
  int most_rows() const;
  /// Squared length of a level's errors; of one task's, without its weight.
  double squared(int level) const;
  double task_error(int item) const { return task_error_[size_t(item)]; }
  /// Where a task's rows begin, and how many they are; J is row-major with nv numbers a row.
  Eigen::Map<Eigen::VectorXd> e(int item);

 private:
  struct Place {
    int first, count;
  };
  int nv_;
  std::vector<Place> places_;  ///< per task
  std::vector<double> J_, e_, true_error_, task_error_;
  std::vector<Level> levels_;
};

}  // namespace kansetsu::ik
