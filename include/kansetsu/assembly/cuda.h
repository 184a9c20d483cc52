#pragma once

#include <optional>
#include <string>

#include "kansetsu/assembly/assembly.h"
#include "kansetsu/base/owner.h"

/// Forward dynamics of long chains, rings and large trees on a CUDA device. Only in builds that found a CUDA toolkit (KANSETSU_CUDA); link
/// kansetsu::assembly_cuda.
namespace kansetsu::cuda {

struct ChainOptions {
  int device = -1;  ///< −1: the current one
  int chains = 1;   ///< number of states per call
  int pieces = 0;   ///< blocks of threads per chain; 0: by its length
  int group = 0;    ///< pieces that are joined before the rest; 0: a measured default
  int threads = 0;  ///< per block; 0: a measured default
  /// Makes a ring: holds the last link to the world, or by at most five rows to the first link of a free chain.
  std::optional<Closure> closure{};
};

/// A chain of 1-DOF joints with a fixed or free base, open or closed to a ring, in double precision: one state over the whole
/// device, or many states of a medium chain (up to some hundred links), one block each. Memory and launches are prepared once; solve() copies
/// only the state and the result.
class ChainSolver {
 public:
  explicit ChainSolver(const Model& model, const ChainOptions& options = {});

  /// Why a model is not such a chain; none if it is.
  static std::optional<std::string> unsupported(const Model& model);
  /// Why a closure does not make a ring of it; none if it does.
  static std::optional<std::string> unsupported(const Model& model, const Closure& closure);

  int chains() const;
  int pieces() const;
  /// Host memory, one row per chain: q nq, v and tau nv numbers; vdot out. Returns when the result is complete.
  void solve(const double* q, const double* v, const double* tau, double* vdot);
  /// The same without copies: memory of the host that the device accesses directly. Write the state there, call solve() and
  /// read v̇.
  struct Buffers {
    double *q, *v, *tau;
    const double* vdot;
  };
  Buffers buffers() const;
  void solve();
  /// Number of independent rows of a ring's closure in the last solve; forces of the others are zero. 0: no ring.
  int rank(int chain = 0) const;
  /// Time on the device alone, for the state of the last solve: mean of `repeats` launches [µs].
  double device_time(int repeats);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

struct TreeOptions {
  int device = -1;  ///< −1: the current one
  int blocks = 0;   ///< largest number of blocks of threads; 0: the number of the device's processors
  int branch = 0;   ///< links of the branches that one team of threads joins link by link; 0: a measured default
};

/// A tree of 1-DOF joints with a fixed or free base, in double precision: one state over the whole device, by the clusters of
/// Assembly. Memory and launches are prepared once.
class TreeSolver {
 public:
  explicit TreeSolver(const Model& model, const TreeOptions& options = {});

  /// Why a model is not such a tree (gears, rotors, joints of several coordinates, massless links); none if it is.
  static std::optional<std::string> unsupported(const Model& model);

  /// The distribution of the tree, for tests and benchmarks.
  struct Shape {
    int blocks;         ///< of threads
    int rounds;         ///< of the scan of velocities, in a block and over blocks
    int piece_levels;   ///< of joining that each block does by itself
    int shared_levels;  ///< above these, distributed over all blocks
    int narrow_levels;  ///< above these, joined by one block
    int block_bytes;    ///< state of a block
    bool near;          ///< in its processor's own memory
  };
  Shape shape() const;
  /// Host memory: q nq, v and tau nv numbers; vdot out. Returns when the result is complete.
  void solve(const double* q, const double* v, const double* tau, double* vdot);
  /// The same without copies, as of ChainSolver.
  using Buffers = ChainSolver::Buffers;
  Buffers buffers() const;
  void solve();
  /// Time on the device alone, for the state of the last solve: mean of `repeats` launches [µs].
  double device_time(int repeats);
  /// The parts of that time, measured in the first block [µs].
  struct Phases {
    double place, load;  ///< poses; velocities and wrenches
    double reduce;       ///< from the links to the root
    double substitute;   ///< from the root to the links
    double finish;       ///< the result
  };
  Phases phases(int repeats);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu::cuda
