#include "kansetsu/ik/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>

#include "ik/arm.h"
#include "ik/kernel_table.h"
#include "ik/step_rows.h"
#include "kansetsu/base/error.h"
#include "kansetsu/base/owner.h"
#include "kansetsu/ik/method.h"
#include "kansetsu/model/configuration.h"

namespace kansetsu::ik {
namespace {

/// Clearances count as kept within this [m].
constexpr double kTouch = 1e-9;

/// The frame that a task is about, if it is about one.
const FrameOn* frame_of(const AnyTask& task) {
  return std::visit(
      [](const auto& t) -> const FrameOn* {
        if constexpr (requires { t.frame.X_LF; })
          return &t.frame;
        else
          return nullptr;
      },
      task);
}

bool is_one(const Vec3<>& a) { return a.x == 1 && a.y == 1 && a.z == 1; }

/// The task, if it is the only one and a full pose task.
const PoseTask* lone_pose(const Problem& problem) {
  if (problem.items.size() != 1 || !problem.clearances.empty()) return nullptr;
  const auto* task = std::get_if<PoseTask>(&problem.items.front().task);
  return task && is_one(task->weight) && is_one(task->turn_weight) ? task : nullptr;
}

}  // namespace

/// The frame of a lone pose with the arm that carries it.
struct LoneArm {
  FrameOn frame;
  Arm arm;

  static std::optional<LoneArm> of(const Model& model, const Problem& problem, const Options& options) {
    const PoseTask* task = options.arms && options.method == Method::kTangent ? lone_pose(problem) : nullptr;
    if (!task || arm_problem(model, task->frame.link)) return {};
    return LoneArm{task->frame, make_arm(model, task->frame.link, task->frame.X_LF, options.limits)};
  }
  /// The numbers of tasks may have changed.
  bool carries(const FrameOn& f) const {
    return f.link == frame.link && !(f.X_LF.R != frame.X_LF.R) && norm(f.X_LF.p - frame.X_LF.p) == 0;
  }
};

const char* to_string(Status status) {
  static constexpr const char* kNames[] = {"solved", "limits active", "unreachable", "not converged"};
  return kNames[size_t(status)];
}

struct Solver::Impl : StepRows {
  Impl(const Model& m, Problem p, Options o)
      : StepRows(m, std::move(p), o),
        options(std::move(o)),
        numbers(m, {options.method, options.euler_order}),
        lone_arm(LoneArm::of(m, problem, options)),
        squared(size_t(rows.level_count()) + 1),
        next_squared(squared.size()) {
    dx.setZero(m.nv());
    for (auto* v : {&q, &q_next, &q_moved}) v->setZero(m.nq());
    evaluator.set_method(options.method, options.euler_order);
    set_tolerated();
  }
  /// Per level the least square of a tolerance; for clearances none.
  void set_tolerated() {
    tolerated.assign(squared.size(), kInfinity);
    tolerated[0] = 0;
    std::map<int, double> least;
    for (const Problem::Item& item : problem.items) {
      const double t = item.options.weight * item.options.tolerance;
      const auto [at, first] = least.try_emplace(item.options.level, t);
      if (!first) at->second = std::min(at->second, t);
    }
    size_t k = 1;
    goal = 0;
    for (const auto& [level, t] : least) {
      if (level >= 0 && goal == 0) goal = k;
      tolerated[k++] = t * t;
    }
    if (goal == 0) goal = squared.size() - 1;  // nothing but constraints
  }
  /// Squared error of the first level and of the constraints before it.
  double first_squared() const {
    double sum = 0;
    for (size_t k = 1; k <= goal; ++k) sum += squared[k];
    return sum;
  }

  /// Lengths of the levels' errors at x, [0] how far clearances are broken; rows are left for a step.
  void look(const VectorRef& x, std::vector<double>& out) {
    evaluator.set(x);
    rows.evaluate(evaluator, problem, x, numbers);
    out[0] = 0;
    for (size_t i = 0; i < problem.clearances.size(); ++i) {
      const double margin = set_clearance(i, 1);
      numbers.to_numbers(x, clearance_row(i), 1);
      out[0] = std::max(out[0], -margin - kTouch);
    }
    for (int k = 0; k < rows.level_count(); ++k) out[size_t(k) + 1] = rows.squared(k);
  }

  /// 1 if b is better than a, −1 if worse, 0 if neither: the first of the levels that differs decides. Errors below what
  /// the tasks of a level tolerate are alike.
  int compare(const std::vector<double>& a, const std::vector<double>& b, size_t levels) const {
    constexpr double kSame = 1e-12;  // relative, of squares
    for (size_t k = 0; k <= levels; ++k) {
      if (std::max(a[k], b[k]) <= tolerated[k]) continue;
      if (b[k] < a[k] * (1 - kSame)) return 1;
      if (b[k] > a[k] * (1 + kSame)) return -1;
    }
    return 0;
  }

  /// The step from x, whose rows and squared errors are given, into dx.
  void step(const VectorRef& x, const std::vector<double>& error2, double mu, int levels) {
    limits.bounds(x, options.largest_step, lower.data(), upper.data());
    limits.rows(x, C.data(), model.nv(), c_lower.data(), c_upper.data());
    numbers.to_numbers(x, C.data(), limits.rows());
    for (int k = 0; k < levels; ++k) rows.levels()[k].damping = mu * error2[size_t(k) + 1];
    StepRows::solve(levels, dx.data());
  }

  /// q_next = q ⊕ dx, within the limits.
  void move(const VectorRef& from) {
    numbers.advance(from, dx, q_moved);
    normalise(model, q_moved);
    limits.clamp(q_moved);
    q_next.swap(q_moved);
  }
  /// Tries the step in dx: into q_next and next_squared. Progress of a level increases the errors of those above it slightly, by
  /// curvature; where these were met, a few steps for them alone correct that before errors are compared.
  void attempt() {
    move(q);
    look(q_next, next_squared);
    int upper_levels = 0;
    while (upper_levels + 1 < rows.level_count() &&
           squared[size_t(upper_levels) + 1] <= tolerated[size_t(upper_levels) + 1]) {
      ++upper_levels;
    }
    constexpr int kMostRepairs = 6;
    for (int i = 0; i < kMostRepairs && upper_levels > 0; ++i) {
      if (compare(squared, next_squared, size_t(upper_levels)) >= 0) return;
      step(q_next, next_squared, 0, upper_levels);
      move(q_next);
      look(q_next, next_squared);
    }
  }

  bool all_met() const {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      if (!(rows.task_error(int(i)) <= problem.items[i].options.tolerance)) return false;
    }
    return squared[0] <= 0;
  }
  bool first_level_met() const {
    int first = std::numeric_limits<int>::max();
    for (const Problem::Item& item : problem.items) {
      if (item.options.level >= 0) first = std::min(first, item.options.level);
    }
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const TaskOptions& o = problem.items[i].options;
      if (o.level <= first && !(rows.task_error(int(i)) <= o.tolerance)) return false;
    }
    return squared[0] <= 0;
  }

  /// Whether the last iterations brought no progress in an unmet first level: at the end of its reach a mechanism creeps.
  bool stagnates() const {
    constexpr size_t kWindow = 20;
    constexpr double kCreep = 1e-6;  // of the error
    if (first_errors.size() <= kWindow || first_level_met()) return false;
    return first_errors[first_errors.size() - 1 - kWindow] - first_errors.back() <= kCreep * first_errors.back();
  }

  /// From q to a configuration that cannot be improved. Returns the iterations; rows and squared are those of q.
  int descend(bool& still, std::vector<double>& errors) {
    errors.clear();
    first_errors.clear();
    look(q, squared);
    double mu = options.damping;
    still = false;
    int rejected = 0;
    for (int iteration = 0; iteration < options.iterations; ++iteration) {
      double total = 0;
      for (size_t k = 1; k < squared.size(); ++k) total += squared[k];
      errors.push_back(std::sqrt(total));
      if (all_met()) return iteration;
      first_errors.push_back(std::sqrt(first_squared()));
      if (stagnates()) {
        still = true;
        return iteration;
      }
      step(q, squared, mu, rows.level_count());
      const double size = dx.size() > 0 ? dx.lpNorm<Eigen::Infinity>() : 0;
      if (size < options.still) {
        still = true;
        return iteration;
      }
      if (size < options.last && rejected == 0) {
        move(q);
        q.swap(q_next);
        still = true;
        return iteration + 1;
      }
      attempt();
      const int better = compare(squared, next_squared, size_t(rows.level_count()));
      constexpr int kMostRejected = 12;
      if (better > 0 || (better == 0 && rejected == 0)) {
        q.swap(q_next);
        squared.swap(next_squared);
        mu = std::max(mu / 4, 1e-7);
        rejected = 0;
        if (better == 0) ++rejected;
        continue;
      }
      look(q, squared);
      mu = std::max(mu * 8, 1e-3);
      if (++rejected > kMostRejected) {
        still = true;
        return iteration + 1;
      }
    }
    still = all_met();
    return options.iterations;
  }

  /// Moves q to the solution if the problem is a pose of an arm and ArmSolver finds it; else q stays. Adds to the counts.
  void reach_as_arm(int most_starts, int& iterations, int& starts) {
    const PoseTask* pose = lone_arm ? lone_pose(problem) : nullptr;
    if (!pose || !lone_arm->carries(pose->frame)) return;
    const double tolerance =
        problem.items.front().options.tolerance / std::numbers::sqrt2;  // of rotation and position each
    const ArmLimits how{
        .rotation = tolerance, .position = tolerance, .starts = most_starts, .largest_step = options.largest_step};
    double target[12], y[kMostArmJoints], solution[kMostArmJoints];
    to_numbers(pose->target, target);
    lone_arm->arm.from_model(q.data(), y);
    ArmTask task{.target = target, .start = y, .solution = solution};
    arm_kernels().solve(lone_arm->arm.view(), &task, 1, how);
    if (!task.solved) return;
    lone_arm->arm.to_model(solution, q.data());
    iterations += task.iterations;
    starts = task.starts;
  }

  Status status(bool still, const std::vector<int>& active) const {
    if (first_level_met()) return Status::kSolved;
    if (!still) return Status::kNotConverged;
    return !active.empty() || clearance_active() ? Status::kLimitsActive : Status::kUnreachable;
  }
  bool clearance_active() const {
    for (size_t i = 0; i < problem.clearances.size(); ++i) {
      if (c_lower[size_t(limits.rows()) + i] >= -1e-6) return true;
    }
    return false;
  }

  void fill(Report& report, bool still) {
    report.q = q;
    report.active_limits.reserve(size_t(model.nv()) + size_t(constraint_rows()));
    limits.active(q, report.active_limits);
    report.status = status(still, report.active_limits);
    report.distance = std::sqrt(first_squared());
    report.tasks.resize(problem.items.size());
    for (size_t i = 0; i < problem.items.size(); ++i) {
      TaskReport& t = report.tasks[i];
      t.error = rows.task_error(int(i));
      t.met = t.error <= problem.items[i].options.tolerance;
    }
    const FrameOn* frame = problem.items.empty() ? nullptr : frame_of(problem.items.front().task);
    report.manipulability = frame ? evaluator.manipulability(*frame) : 0;
  }
  void name_tasks(Report& report) const {
    report.tasks.resize(problem.items.size());
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const std::string& name = problem.items[i].options.name;
      if (name.empty() && report.tasks[i].name.empty()) report.tasks[i].name = "task " + std::to_string(i);
      if (!name.empty()) report.tasks[i].name = name;
    }
  }

  void begin(const VectorRef& start) {
    check_size("Solver::solve", "start", start.size(), model.nq());
    if (!start.allFinite()) throw Error("Solver::solve: the start has numbers that are not finite");
    q = start;
    normalise(model, q);
    limits.clamp(q);
    evaluator.set(q);
    stays.clear();
    for (Problem::Item& item : problem.items) {
      auto* stay = std::get_if<StayTask>(&item.task);
      if (stay && !stay->place) {
        stay->place = evaluator.pose(stay->frame);
        stays.push_back(stay);
      }
    }
  }
  void end() {
    for (StayTask* stay : stays) stay->place.reset();
  }

  /// Another starting point: within the limits, the base where it is. The same for the same number.
  void restart(const VectorRef& start, int number) {
    std::mt19937_64 rng(std::uint64_t(number) * 0x9e3779b97f4a7c15u);
    q = random_configuration(model, rng);
    const CoordinateRange base = model.base_coordinates();
    for (int i = base.q; i < base.q + base.nq; ++i) q[i] = start[i];
    normalise(model, q);
    limits.clamp(q);
  }

  /// One start after the other until one leads to a solution; the best is kept.
  void solve(const VectorRef& start, Report& report) {
    begin(start);
    int iterations = 0, s = 0, starts_of_arm = 1;
    double best = 0;
    name_tasks(report);
    report.errors.reserve(size_t(options.iterations) + 1);
    path.reserve(size_t(options.iterations) + 1);
    first_errors.reserve(size_t(options.iterations) + 1);
    reach_as_arm(std::max(options.starts, 1), iterations, starts_of_arm);
    for (; s < std::max(options.starts, 1); ++s) {
      if (s > 0) restart(start, s);
      bool still;
      iterations += descend(still, path);
      if (s == 0 || first_level_met() || first_squared() < best) {
        best = first_squared();
        fill(report, still);
        report.errors.assign(path.begin(), path.end());
      }
      if (report.status == Status::kSolved) break;
    }
    report.iterations = iterations;
    report.starts = std::max(std::min(s + 1, std::max(options.starts, 1)), starts_of_arm);
    end();
  }

  Options options;
  MethodCoordinates numbers;
  std::optional<LoneArm> lone_arm;
  std::vector<double> squared, next_squared, tolerated, path, first_errors;
  Eigen::VectorXd dx, q, q_next, q_moved;
  std::vector<StayTask*> stays;
  size_t goal = 0;  ///< the first level that is not a constraint, in `squared`
};

Problem& Problem::add_loops(const Model& model, const std::vector<LoopClosure>& loops) {
  for (const LoopClosure& loop : loops) {
    add(loop_task(model, loop), {.level = -1, .name = loop.name.empty() ? "loop" : loop.name});
  }
  return *this;
}

Solver::Solver(const Model& model, Problem problem, Options options)
    : impl_(std::make_unique<Impl>(model, std::move(problem), std::move(options))) {}

Problem& Solver::problem() { return impl_->problem; }

Report Solver::solve(const VectorRef& start) {
  Report report;
  impl_->solve(start, report);
  return report;
}
void Solver::solve(const VectorRef& start, Report& report) { impl_->solve(start, report); }

std::vector<Report> Solver::solve_all(const VectorRef& start, int starts, double apart) {
  std::vector<Report> found;
  impl_->begin(start);
  const Eigen::VectorXd home = impl_->q;
  for (int s = 0; s < starts; ++s) {
    if (s > 0) impl_->restart(home, s);
    Report report;
    bool still;
    impl_->reach_as_arm(1, report.iterations, report.starts);
    report.iterations += impl_->descend(still, report.errors);
    report.starts = 1;
    impl_->name_tasks(report);
    impl_->fill(report, still);
    if (!report.solved()) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const Report& other) {
      return difference(impl_->model, other.q, report.q).lpNorm<Eigen::Infinity>() <= apart;
    });
    if (!known) found.push_back(std::move(report));
  }
  impl_->end();
  std::stable_sort(found.begin(), found.end(), [&](const Report& a, const Report& b) {
    return difference(impl_->model, home, a.q).squaredNorm() < difference(impl_->model, home, b.q).squaredNorm();
  });
  return found;
}

}  // namespace kansetsu::ik
