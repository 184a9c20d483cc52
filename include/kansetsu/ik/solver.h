#pragma once

#include <optional>
#include <string>

#include "kansetsu/base/owner.h"
#include "kansetsu/ik/task.h"

/// Inverse kinematics of any model: tasks with weights and strict priorities, under limits.
///
///     ik::Problem problem;
///     problem.add(ik::PoseTask{ik::frame_on(model, "hand"), X_WH});
///     problem.add(ik::PostureTask{rest}, {.level = 1});        // as far as the hand allows
///     ik::Solver solver(model, problem);
///     const ik::Report report = solver.solve(q_start);         // report.q, report.status, …
namespace kansetsu::ik {

struct TaskOptions {
  int level = 0;            ///< 0 first; a level never disturbs those before it. Below 0: constraints, e.g. loops
  double weight = 1;        ///< against the other tasks of its level
  double tolerance = 1e-8;  ///< the task is met when the length of its error is at most this [m, rad]
  std::string name{};       ///< in reports; "task 0" and so on if empty
};

struct Problem {
  struct Item {
    AnyTask task;
    TaskOptions options{};
  };
  std::vector<Item> items{};
  std::vector<Clearance> clearances{};

  Problem& add(AnyTask task, TaskOptions options = {}) {
    items.push_back({std::move(task), std::move(options)});
    return *this;
  }
  /// The loops of a figure as constraints: a solution closes them.
  Problem& add_loops(const Model& model, const std::vector<LoopClosure>& loops);
};

/// Limits of a ball joint: swing within an ellipse, (x/swing_x)² + (y/swing_y)² ≤ 1 of the swing's rotation vector, and twist.
struct BallLimit {
  JointId joint{0};
  double swing_x = kInfinity, swing_y = kInfinity;
  double twist_lower = -kInfinity, twist_upper = kInfinity;
};

struct Options {
  Method method = Method::kTangent;           ///< parameters of rotations, of joints and of tasks
  EulerOrder euler_order = EulerOrder::kZYX;  ///< of kEuler
  bool limits = true;                         ///< keep the model's position limits
  std::vector<BallLimit> ball_limits{};       ///< replace those of the model
  int iterations = 100;                       ///< limit per start
  int starts = 1;             ///< above 1: further starting points if the first does not lead to a solution
  double largest_step = 0.5;  ///< of a coordinate in one iteration [rad, m]
  double damping = 0.05;      ///< relative to the squared error
  double still = 1e-11;       ///< a shorter step counts as converged [rad, m]
  /// A shorter step is the last one [rad, m]; errors in the report are those before it. Near a solution each step is shorter by at least the
  /// ratio of the residuals to the distances between joints and targets, so that tracking markers needs no further step as a check.
  double last = 0;
  bool arms =
      true;  ///< a single pose task on an arm, by tangents, tries ArmSolver first: ten times as fast, but Report::errors stays empty
};

enum class Status {
  kSolved,        ///< every task of the first level and all constraints are met, later levels as far as these allow
  kLimitsActive,  ///< as near as the limits allow; without them the error could decrease further
  kUnreachable,   ///< as near as the mechanism reaches from its start; see report.distance
  kNotConverged,  ///< out of iterations while the error still decreases
};
const char* to_string(Status status);

struct TaskReport {
  std::string name;
  double error = 0;  ///< unweighted by TaskOptions::weight [m, rad]
  bool met = false;
};

struct Report {
  Status status = Status::kNotConverged;
  Eigen::VectorXd q;
  int iterations = 0;  ///< of all starts
  int starts = 0;
  double distance = 0;             ///< length of the error of the first level and the constraints [m, rad]
  std::vector<TaskReport> tasks;   ///< in the order of the problem
  std::vector<int> active_limits;  ///< coordinates of v that are at a limit
  double manipulability = 0;       ///< of the first task's frame; 0 if it has none
  std::vector<double> errors;      ///< length of all errors before each iteration of the best start

  bool solved() const { return status == Status::kSolved; }
};

/// Memory for one problem on one model; one thread at a time. Targets may be changed between calls.
class Solver {
 public:
  Solver(const Model& model, Problem problem, Options options = {});

  /// Numbers of tasks may change, their types and numbers of frames may not.
  Problem& problem();

  /// From a configuration (quaternions are normalised; clamped to the limits first). Throws Error if it is not finite.
  Report solve(const VectorRef& start);
  /// The same with a reused report: does not allocate once the same solver has filled it.
  void solve(const VectorRef& start, Report& report);

  /// All solutions found from `starts` starting points that differ by more than `apart` in some coordinate, nearest to the start
  /// first.
  std::vector<Report> solve_all(const VectorRef& start, int starts, double apart = 0.1);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

/// Options of follow(): a frame along a path of poses, without jumps between configurations.
struct PathOptions {
  double largest_change = 0.2;  ///< of a coordinate between two poses [rad, m]
  double finest = 1.0 / 64;     ///< smallest part of the way between two poses that is tried
};
struct PathReport {
  std::vector<Eigen::VectorXd> q;  ///< one per pose that was reached
  int reached = 0;                 ///< poses
  bool complete = false;
  std::string reason;  ///< why it ended early
};
/// Follows the poses with the frame; between them straight lines and slerps. @param start  its pose should be the first one
PathReport follow(const Model& model, const FrameOn& frame, const std::vector<Transform<>>& path,
                  const VectorRef& start, const Options& options = {}, const PathOptions& path_options = {});

}  // namespace kansetsu::ik
