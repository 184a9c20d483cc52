#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kansetsu/assembly/assembly.h"
#include "kansetsu/base/owner.h"

/// Forward dynamics of a figure distributed over processes: each has a piece of its links, and only inertias and wrenches at their
/// interfaces are exchanged. [Yama01]; docs/theory/assembly.md.
namespace kansetsu {

/// Communication of processes. With MPI, all_gather is MPI_Allgather.
struct ProcessGroup {
  int rank = 0, size = 1;
  /// Gathers the numbers of every process in rank order; all call it equally often, with equally many. May be empty if size is 1.
  std::function<void(std::span<const double> mine, std::span<double> all)> all_gather{};
};

struct ProcessOptions {
  int threads = 1;
  std::vector<Closure> closures{};  ///< loops and rings, of figure 0; within a piece or between pieces
};

/// One process's piece of a tree, with or without loops. Pieces are connected and as equal as the tree allows; they are cut at
/// revolute and prismatic joints between links with mass that no gear spans. A piece may contain everything that Assembly supports.
class AssemblyProcess {
 public:
  /// All processes pass the same model and closures. Throws Error, the same in each, if the model is not supported or has too few
  /// joints where it can be cut.
  AssemblyProcess(const Model& model, ProcessGroup group, const ProcessOptions& options = {});

  /// Why a model cannot be distributed, or none.
  static std::optional<std::string> unsupported(const Model& model);
  /// The largest number of processes for a model.
  static int most_processes(const Model& model);

  int links() const;                        ///< of its piece
  const std::vector<int>& columns() const;  ///< of v, ascending, that solve() writes

  /// State and torques of the whole figure, of which a process reads its part; all processes call it. Writes columns() of vdot.
  Status solve(const State& state, const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot);
  /// Count of numbers that a process sends in a solve.
  int exchanged() const;

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
