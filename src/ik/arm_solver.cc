#include "kansetsu/ik/arm.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "base/thread_pool.h"
#include "ik/arm.h"
#include "ik/kernel_table.h"
#include "kansetsu/base/error.h"

namespace kansetsu::ik {
namespace {

/// Targets that a worker takes at once: many times the number of lanes, so that few lanes wait for the slowest target of a chunk.
constexpr std::ptrdiff_t kChunk = 4096;

/// A target that is not finite is infinitely far away.
ArmReport report_of(const ArmTask& task) {
  const bool finite = std::isfinite(task.position) && std::isfinite(task.rotation);
  return {task.solved, finite ? task.position : kInfinity, finite ? task.rotation : kInfinity, task.iterations,
          task.starts};
}

}  // namespace

struct ArmSolver::Impl {
  /// Memory of a worker for a chunk of targets.
  struct Desk {
    std::vector<ArmTask> tasks;
    std::vector<double> starts, solutions;
    explicit Desk(int n) : tasks(kChunk), starts(size_t(kChunk * n)), solutions(size_t(kChunk * n)) {}
  };

  Impl(const Model& m, const FrameOn& frame, const ArmOptions& o)
      : model(m), arm(make_arm(m, frame.link, frame.X_LF, o.limits)), n(int(arm.joints.size())), pool(workers(o)) {
    limits.rotation = o.rotation;
    limits.position = o.position;
    limits.starts = std::max(o.starts, 1);
    for (int w = 0; w < pool.workers(); ++w) desks.emplace_back(n);
  }
  static int workers(const ArmOptions& o) {
    return o.threads > 0 ? o.threads : std::max(int(std::thread::hardware_concurrency()), 1);
  }

  void solve_chunk(Desk& desk, std::ptrdiff_t first, int count, const double* X_WF, double* q, ArmReport* reports) {
    const int nq = model.nq();
    for (int i = 0; i < count; ++i) {
      double* start = desk.starts.data() + i * n;
      arm.from_model(q + (first + i) * nq, start);
      desk.tasks[size_t(i)] = {
          .target = X_WF + 12 * (first + i), .start = start, .solution = desk.solutions.data() + i * n};
    }
    arm_pack_kernels().solve(arm.view(), desk.tasks.data(), count, limits);
    for (int i = 0; i < count; ++i) {
      arm.to_model(desk.tasks[size_t(i)].solution, q + (first + i) * nq);
      reports[first + i] = report_of(desk.tasks[size_t(i)]);
    }
  }

  const Model model;
  const Arm arm;
  const int n;
  ArmLimits limits;
  ThreadPool pool;
  std::vector<Desk> desks;
};

ArmSolver::ArmSolver(const Model& model, const FrameOn& frame, const ArmOptions& options) {
  if (const auto why = problem(model, frame)) {
    throw Error("ArmSolver: link '" + model.link(frame.link).name + "': " + *why);
  }
  impl_ = std::make_unique<Impl>(model, frame, options);
}

std::optional<std::string> ArmSolver::problem(const Model& model, const FrameOn& frame) {
  return arm_problem(model, frame.link);
}

ArmReport ArmSolver::solve(const Transform<>& X_WF, Eigen::Ref<Eigen::VectorXd> q) {
  check_size("ArmSolver::solve", "q", q.size(), impl_->model.nq());
  double target[12], start[kMostArmJoints], solution[kMostArmJoints];
  to_numbers(X_WF, target);
  impl_->arm.from_model(q.data(), start);
  ArmTask task{.target = target, .start = start, .solution = solution};
  arm_kernels().solve(impl_->arm.view(), &task, 1, impl_->limits);
  impl_->arm.to_model(solution, q.data());
  return report_of(task);
}

void ArmSolver::solve(std::ptrdiff_t count, const double* X_WF, double* q, ArmReport* reports) {
  if (count < 0) throw Error("ArmSolver::solve: the count is " + std::to_string(count));
  if (count > 0 && (!X_WF || !q || !reports)) throw Error("ArmSolver::solve: an array is null");
  const std::ptrdiff_t chunks = (count + kChunk - 1) / kChunk;
  std::atomic<std::ptrdiff_t> next = 0;
  const int workers = int(std::clamp<std::ptrdiff_t>(chunks, 1, impl_->pool.workers()));
  impl_->pool.run(workers, [&](int worker) {
    for (std::ptrdiff_t c = next++; c < chunks; c = next++) {
      const int size = int(std::min(kChunk, count - c * kChunk));
      impl_->solve_chunk(impl_->desks[size_t(worker)], c * kChunk, size, X_WF, q, reports);
    }
  });
}

}  // namespace kansetsu::ik
