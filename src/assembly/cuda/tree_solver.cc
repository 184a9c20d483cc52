#define KANSETSU_ISA baseline
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "assembly/cuda/status.h"
#include "assembly/cuda/tree_launch.h"
#include "assembly/cuda/watched.h"
#include "assembly/device_tree.h"
#include "kansetsu/assembly/cuda.h"

namespace kansetsu::cuda {
namespace {

/// Places in one block of memory, each beginning at a cache line.
class Layout {
 public:
  template <class T>
  std::size_t add(std::size_t count) {
    const std::size_t at = size_;
    size_ += (count * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

}  // namespace

struct TreeSolver::Impl {
  DeviceTree tree;
  int device = 0;
  bool odd = false;  ///< launches so far
  TreeArguments arguments{};
  std::byte* memory = nullptr;
  double* host = nullptr;  ///< q, v, tau, vdot; the device reads and writes it directly
  std::size_t nq = 0, nv = 0;
  long long* notes = nullptr;  ///< on the device
  cudaStream_t stream = nullptr;

  Impl(const Model& model, const TreeOptions& options) : device(options.device) {
    if (device < 0) check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
    const int processors = attribute(cudaDevAttrMultiProcessorCount, device);
    if (options.blocks < 0 || options.blocks > processors)
      throw Error("TreeSolver: blocks is " + std::to_string(options.blocks) + ", must be from 0 to " +
                  std::to_string(processors));
    TreeProcessors on{.blocks = options.blocks > 0 ? options.blocks : processors, .teams = kTreeThreads / 32};
    if (options.branch < 0) throw Error("TreeSolver: branch is " + std::to_string(options.branch));
    if (options.branch > 0) on.branch = options.branch;
    tree = make_device_tree(model, on);
    nq = size_t(tree.nq), nv = size_t(tree.nv);
    reserve();
    check(cudaHostAlloc(reinterpret_cast<void**>(&host), 8 * (nq + 3 * nv), cudaHostAllocMapped), "cudaHostAlloc");
    void* seen = nullptr;
    check(cudaHostGetDevicePointer(&seen, host, 0), "cudaHostGetDevicePointer");
    arguments.q = static_cast<double*>(seen);
    arguments.v = arguments.q + nq;
    arguments.tau = arguments.v + nv;
    arguments.vdot = static_cast<double*>(seen) + nq + 2 * nv;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (stream) cudaStreamDestroy(stream);
    cudaFree(memory);
    cudaFreeHost(host);
  }

  void reserve() {
    TreeProblem& p = arguments.tree;
    p = tree.problem();
    const std::size_t posts = size_t(tree.posts);
    arguments.entries = tree.most_entries;
    arguments.bytes = tree_bytes(tree.most_entries, tree.most_carries, tree.most_numbers);
    const bool near = prepare_tree(arguments.bytes) == cudaSuccess;
    if (!near) {
      cudaGetLastError();  // too large for a processor is not an error
      check(prepare_tree(0), "cudaFuncSetAttribute");
    }
    Layout layout;
    // a first pass computes the size, a second one sets pointers
    const auto lay_out = [&](auto&& place) {
      for (double*& post : arguments.posts) place(post, posts);
      place(arguments.far, near ? 0 : size_t(arguments.bytes) * size_t(tree.blocks));
      place(notes, 1 + kTreePhases);
    };
    const auto constants = [&](auto&& copy) {
      copy(p.links, tree.links), copy(p.inertia, tree.inertia), copy(p.parent, tree.parent);
      copy(p.parts, tree.parts), copy(p.entries, tree.entries), copy(p.jumps, tree.jumps), copy(p.needs, tree.needs);
      copy(p.exits, tree.exits), copy(p.finishes, tree.finishes), copy(p.schedule.operations, tree.operations);
      copy(p.schedule.team_begin, tree.team_begin);
    };
    lay_out([&]<class T>(T*&, std::size_t count) { layout.add<T>(count); });
    constants([&]<class T>(const T*&, const std::vector<T>& from) { layout.add<T>(from.size()); });
    check(cudaMalloc(reinterpret_cast<void**>(&memory), layout.size()), "cudaMalloc");
    Layout again;
    lay_out([&]<class T>(T*& to, std::size_t count) { to = reinterpret_cast<T*>(memory + again.add<T>(count)); });
    constants([&]<class T>(const T*& to, const std::vector<T>& from) {
      std::byte* at = memory + again.add<T>(from.size());
      to = reinterpret_cast<const T*>(at);
      if (!from.empty())
        check(cudaMemcpy(at, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    });
    if (near) arguments.far = nullptr;
    const std::vector<std::uint64_t> pending(posts, kPending);
    for (double* post : arguments.posts)
      check(cudaMemcpy(post, pending.data(), 8 * posts, cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  /// @param out  where to copy the result, or none
  void solve(double* out) {
    double* vdot = host + nq + 2 * nv;
    expect_numbers(vdot, nv);
    launch();
    await_numbers(stream, vdot, nv, out);
  }
  void launch() {
    check(launch_tree(arguments, odd, tree.blocks, stream), "cudaLaunchCooperativeKernel");
    odd = !odd;
  }
};

TreeSolver::TreeSolver(const Model& model, const TreeOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

std::optional<std::string> TreeSolver::unsupported(const Model& model) { return device_tree_problem(model); }
TreeSolver::Shape TreeSolver::shape() const {
  const DeviceTree& tree = impl_->tree;
  int rounds = 0;
  for (const TreePart& part : tree.parts) rounds = std::max(rounds, part.rounds + part.need_rounds);
  return {.blocks = tree.blocks,
          .rounds = rounds,
          .piece_levels = tree.piece_levels,
          .shared_levels = tree.shared_levels,
          .narrow_levels = tree.narrow_levels,
          .block_bytes = impl_->arguments.bytes,
          .near = impl_->arguments.far == nullptr};
}

TreeSolver::Buffers TreeSolver::buffers() const {
  double* q = impl_->host;
  const std::size_t nq = impl_->nq, nv = impl_->nv;
  return {q, q + nq, q + nq + nv, q + nq + 2 * nv};
}

void TreeSolver::solve() { impl_->solve(nullptr); }

void TreeSolver::solve(const double* q, const double* v, const double* tau, double* vdot) {
  const Buffers to = buffers();
  std::memcpy(to.q, q, 8 * impl_->nq);
  std::memcpy(to.v, v, 8 * impl_->nv);
  std::memcpy(to.tau, tau, 8 * impl_->nv);
  impl_->solve(vdot);
}

double TreeSolver::device_time(int repeats) {
  return time_launches(impl_->stream, repeats, [this] { impl_->launch(); });
}

TreeSolver::Phases TreeSolver::phases(int repeats) {
  Impl& s = *impl_;
  const double whole = device_time(repeats);
  TreeArguments& arguments = s.arguments;
  arguments.notes = s.notes;
  std::array<double, kTreePhases> sum{};
  double all = 0;
  for (int k = 0; k < repeats; ++k) {
    s.launch();
    long long notes[1 + kTreePhases];
    check(cudaMemcpyAsync(notes, s.notes, sizeof notes, cudaMemcpyDeviceToHost, s.stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(s.stream), "cudaStreamSynchronize");
    for (size_t i = 0; i < kTreePhases; ++i) sum[i] += double(notes[i + 1] - notes[i]);
    all += double(notes[kTreePhases] - notes[0]);
  }
  arguments.notes = nullptr;
  for (double& x : sum) x *= whole / all;
  return {.place = sum[0], .load = sum[1], .reduce = sum[2], .substitute = sum[3], .finish = sum[4]};
}

}  // namespace kansetsu::cuda
