#define KANSETSU_ISA baseline
#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include "assembly/cuda/status.h"
#include "assembly/cuda/tree_launch.h"
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
  int device = 0, blocks = 0;
  unsigned long long arrived = 0;
  TreeArguments arguments{};
  std::byte* memory = nullptr;
  double* host = nullptr;  ///< q, v, tau, vdot
  std::byte* state = nullptr;
  std::size_t nq, nv;
  cudaStream_t stream = nullptr;

  Impl(const Model& model, const TreeOptions& options)
      : tree(make_device_tree(model)), device(options.device), nq(size_t(tree.nq)), nv(size_t(tree.nv)) {
    if (device < 0) check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
    const int processors = attribute(cudaDevAttrMultiProcessorCount, device);
    if (options.blocks < 0 || options.blocks > processors)
      throw Error("TreeSolver: blocks is " + std::to_string(options.blocks) + ", must be from 0 to " +
                  std::to_string(processors));
    blocks = options.blocks > 0 ? options.blocks : processors;
    reserve();
    check(cudaHostAlloc(reinterpret_cast<void**>(&host), 8 * (nq + 3 * nv), cudaHostAllocDefault), "cudaHostAlloc");
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
    const std::size_t n = tree.links.size();
    TreeProblem& p = arguments.tree;
    p = tree.problem();
    Layout layout;
    // a first pass asks for places, a second one sets pointers
    const auto lay_out = [&](auto&& place) {
      place(p.X, n), place(p.state, n), place(p.base, 19);
      for (int k = 0; k < 2; ++k) place(p.carry[k], n), place(p.ancestor[k], n);
      place(p.C, n), place(p.h, 5 * n), place(p.t, 6 * n), place(p.own, 36 * n), place(p.y, 6 * n);
      place(p.n, 5 * n), place(p.s, 6 * n), place(p.numbers, size_t(tree.numbers));
    };
    const auto constants = [&](auto&& copy) {
      copy(p.links, tree.links), copy(p.inertia, tree.inertia), copy(p.parent, tree.parent);
      copy(p.child_begin, tree.child_begin), copy(p.children, tree.children), copy(p.operations, tree.operations);
      copy(p.level_begin, tree.level_begin), copy(p.shares, tree.shares);
    };
    lay_out([&]<class T>(T*&, std::size_t count) { layout.add<T>(count); });
    constants([&]<class T>(const T*&, const std::vector<T>& from) { layout.add<T>(from.size()); });
    const std::size_t numbers = layout.add<double>(nq + 3 * nv), counter = layout.add<unsigned long long>(1);
    check(cudaMalloc(reinterpret_cast<void**>(&memory), layout.size()), "cudaMalloc");
    check(cudaMemset(memory + counter, 0, sizeof(unsigned long long)), "cudaMemset");
    Layout again;
    lay_out([&]<class T>(T*& to, std::size_t count) { to = reinterpret_cast<T*>(memory + again.add<T>(count)); });
    constants([&]<class T>(const T*& to, const std::vector<T>& from) {
      std::byte* at = memory + again.add<T>(from.size());
      to = reinterpret_cast<const T*>(at);
      if (!from.empty())
        check(cudaMemcpy(at, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    });
    state = memory + numbers;
    arguments.q = reinterpret_cast<double*>(state);
    arguments.v = arguments.q + nq;
    arguments.tau = arguments.v + nv;
    arguments.vdot = reinterpret_cast<double*>(state) + nq + 2 * nv;
    arguments.arrivals = reinterpret_cast<unsigned long long*>(memory + counter);
  }

  void launch() {
    check(launch_tree(arguments, arrived, blocks, stream), "cudaLaunchCooperativeKernel");
    arrived += static_cast<unsigned long long>(blocks) * static_cast<unsigned long long>(tree_meetings(arguments.tree));
  }
};

TreeSolver::TreeSolver(const Model& model, const TreeOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
TreeSolver::TreeSolver(TreeSolver&&) noexcept = default;
TreeSolver& TreeSolver::operator=(TreeSolver&&) noexcept = default;
TreeSolver::~TreeSolver() = default;

std::optional<std::string> TreeSolver::unsupported(const Model& model) { return device_tree_problem(model); }
int TreeSolver::levels() const { return impl_->arguments.tree.levels; }
int TreeSolver::shared_levels() const { return impl_->arguments.tree.narrow; }

void TreeSolver::solve(const double* q, const double* v, const double* tau, double* vdot) {
  Impl& s = *impl_;
  const std::size_t in = s.nq + 2 * s.nv;
  std::memcpy(s.host, q, 8 * s.nq);
  std::memcpy(s.host + s.nq, v, 8 * s.nv);
  std::memcpy(s.host + s.nq + s.nv, tau, 8 * s.nv);
  check(cudaMemcpyAsync(s.state, s.host, 8 * in, cudaMemcpyHostToDevice, s.stream), "cudaMemcpyAsync");
  s.launch();
  check(cudaMemcpyAsync(s.host + in, s.arguments.vdot, 8 * s.nv, cudaMemcpyDeviceToHost, s.stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(s.stream), "cudaStreamSynchronize");
  std::memcpy(vdot, s.host + in, 8 * s.nv);
}

double TreeSolver::device_time(int repeats) {
  return time_launches(impl_->stream, repeats, [this] { impl_->launch(); });
}

}  // namespace kansetsu::cuda
