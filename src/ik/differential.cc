#include "kansetsu/ik/differential.h"

#include <algorithm>

#include "ik/step_rows.h"
#include "kansetsu/base/error.h"

namespace kansetsu::ik {

/// Unknown is the step dt·q̇: errors times the gain plus dt times the targets' own velocities.
struct Differential::Impl : StepRows {
  Impl(const Model& m, Problem p, StepOptions o)
      : StepRows(m, std::move(p), Options{.limits = o.position_limits}),
        options(o),
        feed_forward(problem.items.size()) {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      feed_forward[i].setZero(row_count(problem.items[i].task, m));
      auto* stay = std::get_if<StayTask>(&problem.items[i].task);
      if (stay && !stay->place) throw Error("Differential: a StayTask needs a place here");
    }
  }

  void set_targets(double dt) {
    rows.evaluate(evaluator, problem);
    for (size_t i = 0; i < problem.items.size(); ++i) {
      auto e = rows.e(int(i));
      e = options.gain * e + (dt * problem.items[i].options.weight) * feed_forward[i];
    }
    for (int k = 0; k < rows.level_count(); ++k) {
      Level& level = rows.levels()[k];
      double trace = 0;
      for (int i = 0; i < level.A.rows; ++i) {
        trace += Eigen::Map<const Eigen::VectorXd>(level.A[i], model.nv()).squaredNorm();
      }
      level.damping = options.damping * trace / std::max(level.A.rows, 1);
    }
  }
  void set_bounds(const VectorRef& q, double dt) {
    limits.bounds(q, kInfinity, lower.data(), upper.data());
    if (options.velocity_limits) {
      for (int k = 0; k < model.nv(); ++k) {
        const double most = dt * model.velocity_limit()[k];
        lower[k] = std::clamp(lower[k], -most, most);  // beyond a limit: back as fast as allowed
        upper[k] = std::clamp(upper[k], -most, most);
      }
    }
    limits.rows(q, C.data(), model.nv(), c_lower.data(), c_upper.data());
    for (size_t i = 0; i < problem.clearances.size(); ++i) set_clearance(i, options.clearance_gain);
  }

  StepOptions options;
  std::vector<Eigen::VectorXd> feed_forward;
};

Differential::Differential(const Model& model, Problem problem, StepOptions options)
    : impl_(std::make_unique<Impl>(model, std::move(problem), options)) {}

Problem& Differential::problem() { return impl_->problem; }

void Differential::set_feed_forward(int item, const VectorRef& rate) {
  if (item < 0 || item >= int(impl_->feed_forward.size())) {
    throw Error("Differential::set_feed_forward: no task " + std::to_string(item) + " among " +
                std::to_string(impl_->feed_forward.size()));
  }
  check_size("Differential::set_feed_forward", "rate", rate.size(), impl_->feed_forward[size_t(item)].size());
  impl_->feed_forward[size_t(item)] = rate;
}

StepReport Differential::step(const VectorRef& q, double dt, Eigen::Ref<Eigen::VectorXd> v) {
  const Model& model = impl_->model;
  check_size("Differential::step", "q", q.size(), model.nq());
  check_size("Differential::step", "v", v.size(), model.nv());
  if (!(dt > 0)) throw Error("Differential::step: dt is " + std::to_string(dt) + ", not positive");
  impl_->evaluator.set(q);
  impl_->set_targets(dt);
  impl_->set_bounds(q, dt);
  const HierarchyReport done = impl_->solve(impl_->rows.level_count(), v.data());
  v /= dt;
  using S = StepReport::Status;
  const S status = done.status == HierarchyStatus::kInfeasible ? S::kInfeasible
                   : done.active > 0                           ? S::kLimitsActive
                                                               : S::kSolved;
  return {status, done.changes};
}

}  // namespace kansetsu::ik
