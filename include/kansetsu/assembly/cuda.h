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
  int chains = 1;   ///< states that one call takes
  int pieces = 0;   ///< blocks of threads per chain; 0: by its length
  int group = 0;    ///< pieces that are joined before the rest; 0: a choice that has been measured
  int threads = 0;  ///< per block; 0: a choice that has been measured
  /// Makes a ring: holds the last link to the world, or by at most five rows to the first link of a free chain.
  std::optional<Closure> closure{};
};

/// A chain of 1-DOF joints with a fixed or free base, open or closed to a ring, in double precision: one state over the whole
/// device, or many states of a medium chain (up to some hundred links) a block each. Memory and launches are prepared once; solve() copies nothing but
/// the numbers of the state.
class ChainSolver {
 public:
  explicit ChainSolver(const Model& model, const ChainOptions& options = {});

  /// Why a model is not such a chain; nothing if it is.
  static std::optional<std::string> unsupported(const Model& model);
  /// Why a closure makes no ring of it, or none.
  static std::optional<std::string> unsupported(const Model& model, const Closure& closure);

  int chains() const;
  int pieces() const;
  /// Host memory, one row per chain: q nq, v and tau nv numbers; vdot out. Returns when the result is there.
  void solve(const double* q, const double* v, const double* tau, double* vdot);
  /// The same without copies: memory of the host that the device reads and writes itself. Write the state there, solve() and
  /// read v̇.
  struct Buffers {
    double *q, *v, *tau;
    const double* vdot;
  };
  Buffers buffers() const;
  void solve();
  /// Of the rows of a ring's closure, how many were independent in the last solve; forces of the others are zero. 0: no ring.
  int rank(int chain = 0) const;
  /// Time on the device alone, for the state of the last solve: mean of `repeats` launches [µs].
  double device_time(int repeats);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

struct TreeOptions {
  int device = -1;  ///< −1: the current one
  int blocks = 0;   ///< of threads, at most; 0: as many as the device has processors
  int branch =
      0;  ///< links of the branches that one team of threads joins link by link; 0: a choice that has been measured
};

/// A tree of 1-DOF joints with a fixed or free base, in double precision: one state over the whole device, by the clusters of
/// Assembly. Memory and launches are prepared once.
class TreeSolver {
 public:
  explicit TreeSolver(const Model& model, const TreeOptions& options = {});

  /// Why a model is not such a tree (gears, rotors, joints of several coordinates, massless links); nothing if it is.
  static std::optional<std::string> unsupported(const Model& model);

  /// How the tree is shared out, for tests and benchmarks.
  struct Shape {
    int blocks;         ///< of threads
    int rounds;         ///< of the scan of velocities, in a block and over blocks
    int piece_levels;   ///< of joining that each block does by itself
    int shared_levels;  ///< above these, shared out over all blocks
    int narrow_levels;  ///< above these, one block's work
    int block_bytes;    ///< state of a block
    bool near;          ///< in its processor's own memory
  };
  Shape shape() const;
  /// Host memory: q nq, v and tau nv numbers; vdot out. Returns when the result is there.
  void solve(const double* q, const double* v, const double* tau, double* vdot);
  /// The same without copies, as of ChainSolver.
  using Buffers = ChainSolver::Buffers;
  Buffers buffers() const;
  void solve();
  /// Time on the device alone, for the state of the last solve: mean of `repeats` launches [µs].
  double device_time(int repeats);
  /// Where that time goes, as the first block sees it [µs].
  struct Phases {
    double place, load;  ///< poses; velocities and wrenches
    double reduce;       ///< from the links to the root
    double substitute;   ///< and back
    double finish;       ///< the result
  };
  Phases phases(int repeats);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu::cuda
