#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/aligned_memory.h"
#include "base/thread_pool.h"
#include "batch/kernel_table.h"
#include "batch/orders.h"
#include "batch/stretches.h"
#include "dynamics/kernel_table.h"
#include "kansetsu/batch/batch.h"
#include "kinematics/kernel_table.h"

/// The common part of all functions of a Batch. States are processed in blocks of as many states as a pack has lanes: rows are
/// gathered into packs, a kernel runs, and results are scattered. Workers take blocks until all are done.
namespace kansetsu::batch {

/// Rows of `size` numbers that a function reads. Optional ones may be left out (null).
template <class Real>
struct Input {
  const char* name;
  Rows<const Real> rows;
  int size;
  bool optional = false;

  bool given() const { return rows.data || !optional; }
};

/// Rows of `size` numbers that a function writes, from `packs` packs in the given order (null: as they are). No packs: the kernel writes the rows itself, see Block::rows.
template <class Real>
struct Output {
  const char* name;
  Rows<Real> rows;
  int size;
  int packs;
  const int* order = nullptr;
  bool optional = false;

  bool given() const { return rows.data || !optional; }
};

/// Further arguments of a kernel besides the packs of its inputs and outputs.
template <class Real>
struct Block {
  const Real* fext = nullptr;  ///< wrenches on the bodies, in B; null if there are none
  void* varied = nullptr;      ///< the tree with the states' own inertias, for VariedKernels; null if they have none
  void* scratch = nullptr;
  std::array<kernel::BlockRows<Real>, 4> rows{};  ///< of the outputs, for kernels that write them themselves, and
  Real* spare = nullptr;                          ///< takes the place of missing rows
};

template <class Real>
class Engine {
 public:
  Engine(const Model& m, const Options& o);

  /// Calls kernel(Block, const Real* per input…, Real* per output…) for all blocks of states. The first input must be q.
  template <std::size_t I, std::size_t O, class Kernel>
  void run(const char* function, std::ptrdiff_t count, const Extras<Real>& extras, std::array<Input<Real>, I> in,
           std::array<Output<Real>, O> out, Kernel&& kernel);

  const Model model;
  const Options options;
  const kernel::BatchKernels<Real>& layout;
  const kernel::KinematicsKernels<Real>& kinematics;
  const kernel::DynamicsKernels<Real>& dynamics;
  const kernel::VariedKernels<Real>& varied;
  const int width, nq, nv, links, bodies;
  const int depth;  ///< most joints between the base and a body, the free base's included
  const Orders orders;
  const std::vector<kernel::CoordinateStretch> stretches;
  const std::vector<int> quaternions;  ///< first entry of each in q

 private:
  const kernel::ConstantCounts counts_;
  const AlignedMemory constants_;

 public:
  const TreeViewOf<Real> tree;

  int workers() const { return pool_.workers(); }

  /// Memory and orders for matrices, if they do not exist yet. Must be called before run() with outputs of nv² numbers.
  void use_matrices(const char* function);
  const MatrixOrders& matrices() const { return *matrices_; }

 private:
  /// Smallest of the numbers that workers report.
  class First {
   public:
    void report(std::ptrdiff_t number);
    bool any() const { return first_ != kNone; }
    std::ptrdiff_t number() const { return first_; }

   private:
    static constexpr std::ptrdiff_t kNone = std::numeric_limits<std::ptrdiff_t>::max();
    std::atomic<std::ptrdiff_t> first_ = kNone;
  };
  struct Problems {
    First non_finite, stray_inertia, no_rotation;  ///< blocks; of no_rotation states
  };
  struct ExtraInputs {
    Input<Real> wrenches, inertias;
  };

  /// Bytes of a worker, for outputs of so many numbers per state.
  std::size_t bytes(std::size_t outputs) const;
  void allocate(std::size_t outputs, int longest_row);

  void check(const char* function, std::ptrdiff_t count, Input<Real>& in) const;
  void check(const char* function, std::ptrdiff_t count, Output<Real>& out) const;
  /// do_block(worker, block) for all blocks.
  template <class DoBlock>
  void deal(std::ptrdiff_t blocks, DoBlock&& do_block);

  Real* take(Carver<Real>& memory, int packs) const { return memory.template take<Real>(packs * width); }
  /// Packs of a block's rows; null for null.
  Real* gather(const Input<Real>& in, std::ptrdiff_t count, std::ptrdiff_t block, Carver<Real>& memory,
               Problems& problems) const;
  Block<Real> gather_extras(const ExtraInputs& in, const Real* q, std::ptrdiff_t count, std::ptrdiff_t block,
                            int worker, Carver<Real>& memory, Problems& problems) const;
  kernel::BlockRows<Real> rows_of(const Output<Real>& out, std::ptrdiff_t count, std::ptrdiff_t block) const;
  void scatter(const Output<Real>& out, const Real* packs, std::ptrdiff_t count, std::ptrdiff_t block,
               Real* spare) const;

  void throw_non_finite(const char* function, const Input<Real>& in, std::ptrdiff_t count, std::ptrdiff_t block) const;
  void throw_no_rotation(const char* function, const Input<Real>& q, std::ptrdiff_t state) const;
  void throw_stray_inertia(const char* function, const Input<Real>& in, std::ptrdiff_t count,
                           std::ptrdiff_t block) const;

  std::optional<MatrixOrders> matrices_;
  int spare_size_;  ///< numbers of the longest row
  ThreadPool pool_;
  std::vector<AlignedMemory> memory_, varied_trees_;  ///< one per worker
};

template <class Real>
template <class DoBlock>
void Engine<Real>::deal(std::ptrdiff_t blocks, DoBlock&& do_block) {
  // Waking a thread takes as long as a few blocks. Chunks are small enough to balance the load and large enough to cost little.
  constexpr std::ptrdiff_t kBlocksPerWorker = 4, kChunksPerWorker = 8, kLargestChunk = 32;
  const int workers = int(std::clamp<std::ptrdiff_t>(blocks / kBlocksPerWorker, 1, pool_.workers()));
  const std::ptrdiff_t chunk = std::clamp<std::ptrdiff_t>(blocks / (workers * kChunksPerWorker), 1, kLargestChunk);
  std::atomic<std::ptrdiff_t> next = 0;
  pool_.run(workers, [&](int worker) {
    for (;;) {
      const std::ptrdiff_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= blocks) return;
      for (std::ptrdiff_t b = begin; b < std::min(blocks, begin + chunk); ++b) do_block(worker, b);
    }
  });
}

template <class Real>
template <std::size_t I, std::size_t O, class Kernel>
void Engine<Real>::run(const char* function, std::ptrdiff_t count, const Extras<Real>& extras,
                       std::array<Input<Real>, I> in, std::array<Output<Real>, O> out, Kernel&& kernel) {
  ExtraInputs extra{{"wrenches", extras.wrenches, 6 * links, true}, {"inertias", extras.inertias, 10 * links, true}};
  for (Input<Real>& x : in) check(function, count, x);
  for (Output<Real>& x : out) check(function, count, x);
  check(function, count, extra.wrenches);
  check(function, count, extra.inertias);

  Problems problems;
  deal((count + width - 1) / width, [&](int worker, std::ptrdiff_t b) {
    Carver<Real> memory(memory_[size_t(worker)].get());
    Real* spare = memory.template take<Real>(spare_size_);
    std::array<const Real*, I> packs_in;
    std::array<Real*, O> packs_out;
    for (std::size_t i = 0; i < I; ++i) packs_in[i] = gather(in[i], count, b, memory, problems);
    const int lane = layout.find_no_rotation(quaternions.data(), int(quaternions.size()), packs_in[0]);
    if (lane >= 0) problems.no_rotation.report(b * width + lane);
    for (std::size_t i = 0; i < O; ++i) packs_out[i] = take(memory, out[i].packs);
    Block<Real> block = gather_extras(extra, packs_in[0], count, b, worker, memory, problems);
    block.scratch = memory.rest();
    block.spare = spare;
    static_assert(O <= 4);
    for (std::size_t i = 0; i < O; ++i) block.rows[i] = rows_of(out[i], count, b);
    [&]<std::size_t... i, std::size_t... o>(std::index_sequence<i...>, std::index_sequence<o...>) {
      kernel(block, packs_in[i]..., packs_out[o]...);
    }(std::make_index_sequence<I>(), std::make_index_sequence<O>());
    for (std::size_t i = 0; i < O; ++i) scatter(out[i], packs_out[i], count, b, spare);
  });

  if (problems.stray_inertia.any()) {
    throw_stray_inertia(function, extra.inertias, count, problems.stray_inertia.number());
  }
  if (options.non_finite == NonFinite::kAllow) return;
  if (problems.non_finite.any()) {
    for (const Input<Real>& x : in) throw_non_finite(function, x, count, problems.non_finite.number());
    throw_non_finite(function, extra.wrenches, count, problems.non_finite.number());
    throw_non_finite(function, extra.inertias, count, problems.non_finite.number());
  }
  if (problems.no_rotation.any()) throw_no_rotation(function, in[0], problems.no_rotation.number());
}

}  // namespace kansetsu::batch
