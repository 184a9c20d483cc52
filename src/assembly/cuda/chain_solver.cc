#define KANSETSU_ISA baseline
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "assembly/chain.h"
#include "assembly/cuda/chain_launch.h"
#include "kansetsu/assembly/cuda.h"
#include "kansetsu/base/error.h"

namespace kansetsu::cuda {
namespace {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Error(std::string(call) + ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}

int attribute(cudaDeviceAttr what, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, what, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

struct ChainSolver::Impl {
  Chain chain;
  int chains, device = 0, blocks = 0, threads = 0, shared_bytes = 0;
  unsigned epoch = 0;
  ChainArguments arguments{};
  std::byte *device_memory = nullptr, *host_memory = nullptr;
  double *q = nullptr, *v = nullptr, *tau = nullptr, *vdot = nullptr;
  cudaStream_t stream = nullptr;

  Impl(const Model& model, const ChainOptions& options) : chain(make_chain(model)), chains(options.chains) {
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
    threads = options.threads > 0 ? options.threads : 512;
    if (threads % 32 != 0 || threads > 512)
      throw Error("ChainSolver: threads is " + std::to_string(threads) + ", must be a multiple of 32 up to 512");
    const auto piece_bytes = [&](int pieces) {
      const int most = (links + pieces - 1) / pieces;
      const int room = std::max(60 * (threads / 32), kChainPivot + 15);
      return int(sizeof(double)) *
             std::max(chain_piece_numbers(most) + room, pieces * (kChainOut + kChainPivot + 10) + 5);
    };
    int pieces = options.pieces;
    if (pieces == 0) {
      pieces = chains > 1 && piece_bytes(1) <= most_shared ? 1 : chain_pieces(links, processors - 1);
    }
    if (pieces < 1 || pieces > links) throw Error("ChainSolver: pieces is " + std::to_string(pieces));
    shared_bytes = piece_bytes(pieces);
    if (shared_bytes > most_shared || (pieces > 1 && 36 * pieces > (kChainOut + kChainPivot) * (links / pieces)))
      throw Error("ChainSolver: " + std::to_string(links) + " links in " + std::to_string(pieces) +
                  " pieces do not fit into the memory of the device's processors");
    if (pieces > 1 && chains * (pieces + 1) > processors)
      throw Error("ChainSolver: " + std::to_string(chains) + " chains of " + std::to_string(pieces) +
                  " pieces are more than the device can hold at once");
    blocks = chains * (pieces == 1 ? 1 : pieces + 1);
    arguments.chain = chain.view(pieces);
    arguments.nq = chain.nq;
    arguments.nv = chain.nv;
    arguments.most_links = (links + pieces - 1) / pieces;
    check(prepare_chains(shared_bytes), "cudaFuncSetAttribute");
  }

  void reserve() {
    const size_t links = chain.links.size(), pieces = size_t(arguments.chain.pieces), count = size_t(chains);
    const size_t nq = size_t(chain.nq), nv = size_t(chain.nv);
    size_t size = 0;
    const auto take = [&size](size_t bytes) {
      const size_t at = size;
      size += (bytes + 255) / 256 * 256;
      return at;
    };
    const size_t at_links = take(links * sizeof(ChainLink)), at_q = take(8 * nq * count), at_v = take(8 * nv * count),
                 at_tau = take(8 * nv * count), at_totals = take(sizeof(ChainCarry) * pieces * count),
                 at_clusters = take(8 * kChainOut * pieces * count), at_h = take(40 * pieces * count),
                 at_n = take(40 * (pieces + 1) * count), at_s = take(48 * links * count), at_counters = take(4 * count);
    check(cudaMalloc(reinterpret_cast<void**>(&device_memory), size), "cudaMalloc");
    check(cudaMemset(device_memory, 0, size), "cudaMemset");
    check(cudaMemcpy(device_memory + at_links, chain.links.data(), links * sizeof(ChainLink), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    const auto numbers = [&](size_t at) { return reinterpret_cast<double*>(device_memory + at); };
    arguments.chain.links = reinterpret_cast<const ChainLink*>(device_memory + at_links);
    arguments.q_device = numbers(at_q);
    arguments.v_device = numbers(at_v);
    arguments.tau_device = numbers(at_tau);
    arguments.totals = reinterpret_cast<ChainCarry*>(device_memory + at_totals);
    arguments.clusters = numbers(at_clusters);
    arguments.h = numbers(at_h);
    arguments.n = numbers(at_n);
    arguments.s = numbers(at_s);
    arguments.counters = reinterpret_cast<unsigned*>(device_memory + at_counters);

    const size_t host_size = 8 * count * (nq + 3 * nv);
    check(cudaHostAlloc(reinterpret_cast<void**>(&host_memory), host_size, cudaHostAllocMapped), "cudaHostAlloc");
    q = reinterpret_cast<double*>(host_memory);
    v = q + nq * count;
    tau = v + nv * count;
    vdot = tau + nv * count;
    void* seen = nullptr;
    check(cudaHostGetDevicePointer(&seen, host_memory, 0), "cudaHostGetDevicePointer");
    arguments.q = static_cast<double*>(seen);
    arguments.v = arguments.q + nq * count;
    arguments.tau = arguments.v + nv * count;
    arguments.vdot = static_cast<double*>(seen) + (nq + 2 * nv) * count;
  }

  void launch() { check(launch_chains(arguments, epoch++, blocks, threads, shared_bytes, stream), "cudaLaunchKernel"); }
};

ChainSolver::ChainSolver(const Model& model, const ChainOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
ChainSolver::ChainSolver(ChainSolver&&) noexcept = default;
ChainSolver& ChainSolver::operator=(ChainSolver&&) noexcept = default;
ChainSolver::~ChainSolver() = default;

std::optional<std::string> ChainSolver::unsupported(const Model& model) { return chain_problem(model); }
int ChainSolver::chains() const { return impl_->chains; }
int ChainSolver::pieces() const { return impl_->arguments.chain.pieces; }

void ChainSolver::solve(const double* q, const double* v, const double* tau, double* vdot) {
  const size_t count = size_t(impl_->chains), nq = size_t(impl_->chain.nq), nv = size_t(impl_->chain.nv);
  std::memcpy(impl_->q, q, 8 * nq * count);
  std::memcpy(impl_->v, v, 8 * nv * count);
  std::memcpy(impl_->tau, tau, 8 * nv * count);
  impl_->launch();
  check(cudaStreamSynchronize(impl_->stream), "cudaStreamSynchronize");
  std::memcpy(vdot, impl_->vdot, 8 * nv * count);
}

double ChainSolver::device_time(int repeats) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  impl_->launch();
  check(cudaEventRecord(begin, impl_->stream), "cudaEventRecord");
  for (int k = 0; k < repeats; ++k) impl_->launch();
  check(cudaEventRecord(end, impl_->stream), "cudaEventRecord");
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return 1000.0 * double(ms) / repeats;
}

}  // namespace kansetsu::cuda
