#pragma once

#include <functional>
#include <span>

#include "kansetsu/assembly/assembly.h"

/// Forward dynamics of a chain shared out among processes: each has a stretch of links, and only inertias and wrenches at their
/// interfaces are exchanged. [Yama01]; docs/theory/assembly.md.
namespace kansetsu {

/// How processes talk. With MPI: all_gather is MPI_Allgather.
struct ProcessGroup {
  int rank = 0, size = 1;
  /// The numbers of every process, one after the other; all call it equally often, with equally many. May be empty if size is 1.
  std::function<void(std::span<const double> mine, std::span<double> all)> all_gather{};
};

/// One process's stretch of a chain of revolute and prismatic joints.
class ChainProcess {
 public:
  /// Throws Error if the model is no such chain, or has fewer links than processes.
  ChainProcess(const Model& model, ProcessGroup group, int threads = 1);
  ChainProcess(ChainProcess&&) noexcept;
  ChainProcess& operator=(ChainProcess&&) noexcept;
  ~ChainProcess();

  /// Why a model cannot be shared out, or none.
  static std::optional<std::string> unsupported(const Model& model);

  /// Its columns of v: those that solve() writes.
  int first_column() const;
  int columns() const;

  /// State and torques of the whole chain, of which a process reads its own; all processes call it. Writes columns() numbers of
  /// vdot, from first_column() on.
  Status solve(const State& state, const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot);
  /// Numbers that a process sends in a solve.
  int exchanged() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kansetsu
