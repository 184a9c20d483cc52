#include "ik/rows.h"

#include <algorithm>
#include <set>

#include "kansetsu/base/error.h"

namespace kansetsu::ik {

TaskRows::TaskRows(const Model& model, const Problem& problem)
    : nv_(model.nv()), places_(problem.items.size()), task_error_(problem.items.size()) {
  std::set<int> numbers;
  for (const Problem::Item& item : problem.items) numbers.insert(item.options.level);
  std::vector<int> first, count;
  int rows = 0;
  for (const int level : numbers) {
    first.push_back(rows);
    for (size_t i = 0; i < problem.items.size(); ++i) {
      if (problem.items[i].options.level != level) continue;
      places_[i] = {rows, row_count(problem.items[i].task, model)};
      rows += places_[i].count;
    }
    count.push_back(rows - first.back());
  }
  J_.assign(size_t(rows) * size_t(nv_) + 1, 0);
  e_.assign(size_t(rows) + 1, 0);
  true_error_.assign(size_t(rows) + 1, 0);
  for (size_t k = 0; k < first.size(); ++k) {
    levels_.push_back({{J_.data() + first[k] * nv_, count[k], nv_}, e_.data() + first[k], 0});
  }
}

int TaskRows::most_rows() const {
  int most = 0;
  for (const Level& level : levels_) most = std::max(most, level.A.rows);
  return most;
}

Eigen::Map<Eigen::VectorXd> TaskRows::e(int item) {
  const Place& place = places_[size_t(item)];
  return {e_.data() + place.first, place.count};
}

void TaskRows::evaluate(TaskEvaluator& evaluator, const Problem& problem) {
  for (size_t i = 0; i < problem.items.size(); ++i) {
    const Place& place = places_[i];
    Eigen::Map<Eigen::VectorXd> error(e_.data() + place.first, place.count);
    Eigen::Map<TaskEvaluator::RowMajor> J(J_.data() + place.first * nv_, place.count, nv_);
    evaluator.rows(problem.items[i].task, error, J);
    task_error_[i] = error.norm();
    if (const double weight = problem.items[i].options.weight; weight != 1) {
      error *= weight;
      J *= weight;
    }
  }
}

void TaskRows::evaluate(TaskEvaluator& evaluator, const Problem& problem, const VectorRef& q,
                        const MethodCoordinates& numbers) {
  evaluate(evaluator, problem);
  if (numbers.same()) return;
  for (size_t i = 0; i < problem.items.size(); ++i) {
    Eigen::Map<Eigen::VectorXd> error(true_error_.data(), places_[i].count);
    evaluator.error(problem.items[i].task, error);
    task_error_[i] = error.norm();
  }
  numbers.to_numbers(q, J_.data(), int(J_.size()) / std::max(nv_, 1));
}

double TaskRows::squared(int level) const {
  const Level& l = levels_[size_t(level)];
  return Eigen::Map<const Eigen::VectorXd>(l.b, l.A.rows).squaredNorm();
}

}  // namespace kansetsu::ik
