#pragma once

#include <algorithm>

#include "ik/hierarchy.h"
#include "ik/limits.h"
#include "ik/rows.h"

namespace kansetsu::ik {

/// The inputs of a step of any solver: the rows of tasks, limits and clearances, memory allocated once.
struct StepRows {
  StepRows(const Model& m, Problem p, const Options& o)
      : model(m),
        problem(std::move(p)),
        evaluator(m),
        rows(m, problem),
        limits(m, o),
        hierarchy({m.nv(), rows.most_rows(), constraint_rows()}),
        C(size_t(std::max(constraint_rows(), 1)) * size_t(m.nv()) + 1),
        c_lower(size_t(constraint_rows()) + 1),
        c_upper(c_lower.size()) {
    for (auto* v : {&lower, &upper, &gradient}) v->setZero(m.nv());
  }

  int constraint_rows() const { return limits.rows() + int(problem.clearances.size()); }
  double* clearance_row(size_t i) { return C.data() + (size_t(limits.rows()) + i) * size_t(model.nv()); }
  /// The row of a clearance, closed by this part of it at most. Returns the margin that is left.
  double set_clearance(size_t i, double gain) {
    const double margin = evaluator.distance(problem.clearances[i], gradient) - problem.clearances[i].least;
    std::copy(gradient.data(), gradient.data() + model.nv(), clearance_row(i));
    c_lower[size_t(limits.rows()) + i] = -gain * margin;
    c_upper[size_t(limits.rows()) + i] = kInfinity;
    return margin;
  }
  HierarchyReport solve(int levels, double* x) {
    const HierarchyProblem p{model.nv(),     rows.levels(), levels,
                             lower.data(),   upper.data(),  {C.data(), constraint_rows(), model.nv()},
                             c_lower.data(), c_upper.data()};
    return hierarchy.solve(p, x);
  }

  Model model;
  Problem problem;
  TaskEvaluator evaluator;
  TaskRows rows;
  Limits limits;
  Hierarchy hierarchy;
  std::vector<double> C, c_lower, c_upper;
  Eigen::VectorXd lower, upper, gradient;
};

}  // namespace kansetsu::ik
