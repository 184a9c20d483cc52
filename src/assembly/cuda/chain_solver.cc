#define KANSETSU_ISA baseline
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "assembly/chain.h"
#include "assembly/cuda/chain_launch.h"
#include "assembly/cuda/status.h"
#include "kansetsu/assembly/cuda.h"
#include "kansetsu/base/error.h"

namespace kansetsu::cuda {

struct ChainSolver::Impl {
  Chain chain;
  int chains, device = 0;
  bool odd = false;
  ChainLaunch how{};
  ChainArguments arguments{};
  std::byte *device_memory = nullptr, *host_memory = nullptr;
  double *q = nullptr, *v = nullptr, *tau = nullptr, *vdot = nullptr, *rank = nullptr;
  cudaStream_t stream = nullptr;

  Impl(const Model& model, const ChainOptions& options)
      : chain(make_chain(model, options.closure)), chains(options.chains) {
    if (chains < 1) throw Error("ChainSolver: chains is " + std::to_string(chains) + ", must be at least 1");
    device = options.device;
    if (device < 0) check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
    cut(options);
    reserve();
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~Impl() {
    if (stream) cudaStreamDestroy(stream);
    cudaFree(device_memory);
    cudaFreeHost(host_memory);
  }

  void cut(const ChainOptions& options) {
    const int links = int(chain.links.size());
    const int processors = attribute(cudaDevAttrMultiProcessorCount, device);
    const int most_shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    const int threads = options.threads > 0 ? options.threads : 512;
    if (threads % 32 != 0 || threads > 512)
      throw Error("ChainSolver: threads is " + std::to_string(threads) + ", must be a multiple of 32 up to 512");
    const auto piece_bytes = [&](int pieces, int group, bool with_links) {
      return int(sizeof(double)) *
             chain_memory(chain.view(pieces, group), (links + pieces - 1) / pieces, threads, with_links);
    };
    int pieces = options.pieces;
    if (pieces == 0)
      pieces = chains > 1 && piece_bytes(1, 1, false) <= most_shared ? 1 : chain_pieces(links, processors);
    if (pieces < 1 || pieces > links) throw Error("ChainSolver: pieces is " + std::to_string(pieces));
    const int group = options.group == 0 ? chain_group(pieces) : options.group;
    if (group < 1 || group > pieces) throw Error("ChainSolver: group is " + std::to_string(group));
    how.with_links = piece_bytes(pieces, group, true) <= most_shared;
    how.shared_bytes = piece_bytes(pieces, group, how.with_links);
    if (how.shared_bytes > most_shared)
      throw Error("ChainSolver: " + std::to_string(links) + " links in " + std::to_string(pieces) +
                  " pieces do not fit into the memory of the device's processors");
    if (pieces > 1 && chains * pieces > processors)
      throw Error("ChainSolver: " + std::to_string(chains) + " chains of " + std::to_string(pieces) +
                  " pieces are more than the device can hold at once");
    how.ring = chain.closure.rows > 0;
    how.blocks = chains * pieces;
    how.threads = threads;
    arguments.chain = chain.view(pieces, group);
    arguments.nq = chain.nq;
    arguments.nv = chain.nv;
    arguments.most_links = (links + pieces - 1) / pieces;
    check(prepare_chains(how), "cudaFuncSetAttribute");
  }

  void reserve() {
    const size_t count = size_t(chains), nq = size_t(chain.nq), nv = size_t(chain.nv);
    const size_t link_bytes = (chain.links.size() * sizeof(ChainLink) + 255) / 256 * 256,
                 posts = size_t(arguments.chain.posts() + 1) / 2 * 2 * count;
    const std::vector<std::uint64_t> pending(2 * posts, kPending);
    check(cudaMalloc(reinterpret_cast<void**>(&device_memory), link_bytes + 16 * posts), "cudaMalloc");
    check(cudaMemcpy(device_memory, chain.links.data(), chain.links.size() * sizeof(ChainLink), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaMemcpy(device_memory + link_bytes, pending.data(), 16 * posts, cudaMemcpyHostToDevice), "cudaMemcpy");
    arguments.chain.links = reinterpret_cast<const ChainLink*>(device_memory);
    arguments.posts[0] = reinterpret_cast<double*>(device_memory + link_bytes);
    arguments.posts[1] = arguments.posts[0] + posts;

    const size_t host_size = 8 * count * (nq + 3 * nv + 1);
    check(cudaHostAlloc(reinterpret_cast<void**>(&host_memory), host_size, cudaHostAllocMapped), "cudaHostAlloc");
    q = reinterpret_cast<double*>(host_memory);
    v = q + nq * count;
    tau = v + nv * count;
    vdot = tau + nv * count;
    rank = vdot + nv * count;
    std::fill_n(rank, count, 0.0);
    void* seen = nullptr;
    check(cudaHostGetDevicePointer(&seen, host_memory, 0), "cudaHostGetDevicePointer");
    arguments.q = static_cast<double*>(seen);
    arguments.v = arguments.q + nq * count;
    arguments.tau = arguments.v + nv * count;
    arguments.vdot = static_cast<double*>(seen) + (nq + 2 * nv) * count;
    arguments.rank = arguments.vdot + nv * count;
  }

  void launch() {
    check(launch_chains(arguments, odd, how, stream), "cudaLaunchKernel");
    odd = !odd;
  }

  std::size_t result_size() const { return size_t(chains) * size_t(chain.nv); }
  void expect() {
    expect_numbers(vdot, result_size());
    if (how.ring && result_size() <= kMostWatched) expect_numbers(rank, size_t(chains));
  }
  /// @param out  where to copy the result, or none
  void wait(double* out) {
    await_numbers(stream, vdot, result_size(), out);
    if (how.ring && result_size() <= kMostWatched) await_numbers(stream, rank, size_t(chains), nullptr);
  }
};

ChainSolver::ChainSolver(const Model& model, const ChainOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

std::optional<std::string> ChainSolver::unsupported(const Model& model) { return chain_problem(model); }
std::optional<std::string> ChainSolver::unsupported(const Model& model, const Closure& closure) {
  if (auto problem = chain_problem(model)) return problem;
  return ring_problem(model, closure);
}
int ChainSolver::chains() const { return impl_->chains; }
int ChainSolver::pieces() const { return impl_->arguments.chain.pieces; }

ChainSolver::Buffers ChainSolver::buffers() const { return {impl_->q, impl_->v, impl_->tau, impl_->vdot}; }

void ChainSolver::solve() {
  impl_->expect();
  impl_->launch();
  impl_->wait(nullptr);
}

void ChainSolver::solve(const double* q, const double* v, const double* tau, double* vdot) {
  const size_t count = size_t(impl_->chains), nq = size_t(impl_->chain.nq), nv = size_t(impl_->chain.nv);
  std::memcpy(impl_->q, q, 8 * nq * count);
  std::memcpy(impl_->v, v, 8 * nv * count);
  std::memcpy(impl_->tau, tau, 8 * nv * count);
  impl_->expect();
  impl_->launch();
  impl_->wait(vdot);
}

int ChainSolver::rank(int chain) const {
  if (chain < 0 || chain >= impl_->chains)
    throw Error("ChainSolver: rank of chain " + std::to_string(chain) + " of " + std::to_string(impl_->chains));
  return int(impl_->rank[chain]);
}

double ChainSolver::device_time(int repeats) {
  return time_launches(impl_->stream, repeats, [this] { impl_->launch(); });
}

}  // namespace kansetsu::cuda
