#define KANSETSU_ISA baseline
#include <cuda_runtime.h>

#include "assembly/chain_kernel.h"
#include "assembly/cuda/chain_launch.h"

namespace kansetsu::cuda {
namespace {

struct WarpLanes {
  __device__ int rank() const { return int(threadIdx.x & 31); }
  __device__ int size() const { return 32; }
  __device__ void sync() const { __syncwarp(); }
};
struct DeviceBlock {
  WarpLanes lanes;
  __device__ int thread() const { return int(threadIdx.x); }
  __device__ int threads() const { return int(blockDim.x); }
  __device__ int warp() const { return int(threadIdx.x >> 5); }
  __device__ int warps() const { return int(blockDim.x >> 5); }
  __device__ void sync() const { __syncthreads(); }
};

/// All blocks of a chain wait for each other. The counter only grows: nothing has to be reset between launches.
__device__ void wait_for_all(unsigned* counter, unsigned target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(counter, 1u);
    while (int(*reinterpret_cast<volatile unsigned*>(counter) - target) < 0) {
    }
    __threadfence();
  }
  __syncthreads();
}

/// Copies what a piece needs of the state from the host's memory.
__device__ void fetch(const DeviceBlock& block, const ChainView& chain, int piece, const ChainArguments& a, long row,
                      double* q, double* v, double* tau) {
  const int first = chain.first(piece), count = chain.size(piece);
  if (chain.free_base && piece == 0) {
    for (int k = block.thread(); k < 7; k += block.threads()) q[k] = a.q[row * a.nq + k];
    for (int k = block.thread(); k < 6; k += block.threads()) {
      v[k] = a.v[row * a.nv + k];
      tau[k] = a.tau[row * a.nv + k];
    }
  }
  for (int i = first + block.thread(); i <= first + count && i < chain.count; i += block.threads()) {
    const ChainLink& link = chain.links[i];
    if (chain.free_base && i == 0) continue;
    const double x = a.q[row * a.nq + link.position], rate = a.v[row * a.nv + link.column],
                 torque = a.tau[row * a.nv + link.column];
    q[link.position] = x;
    v[link.column] = rate;
    tau[link.column] = torque;
  }
  block.sync();
}

__global__ void __launch_bounds__(512) solve_chains(const __grid_constant__ ChainArguments a, unsigned epoch) {
  extern __shared__ __align__(16) double memory[];
  const DeviceBlock block;
  const ChainView& chain = a.chain;
  const int per_chain = chain.pieces == 1 ? 1 : chain.pieces + 1;
  const long row = blockIdx.x / per_chain;
  const int piece = int(blockIdx.x % per_chain);
  const bool top_block = piece == chain.pieces;
  unsigned* counter = a.counters + row;
  unsigned target = epoch * 4u * unsigned(per_chain);
  const auto next_phase = [&] {
    target += unsigned(per_chain);
    if (per_chain > 1)
      wait_for_all(counter, target);
    else
      block.sync();
  };
  ChainCarry* totals = a.totals + row * chain.pieces;
  double* clusters = a.clusters + row * chain.pieces * kChainOut;
  double* h = a.h + row * chain.pieces * 5;
  double* n = a.n + row * (chain.pieces + 1) * 5;
  double* s = a.s + row * chain.count * 6;
  // each block of a chain has its own copy of what it reads: neighbours write the same numbers to the same places
  double *q = a.q_device + row * a.nq, *v = a.v_device + row * a.nv, *tau = a.tau_device + row * a.nv;

  ChainPiece p;
  double* T = nullptr;
  if (!top_block) {
    p = carve_chain_piece(memory, a.most_links);
    T = memory + chain_piece_numbers(a.most_links);
    fetch(block, chain, piece, a, row, q, v, tau);
    kernel::place_chain(block, chain, piece, q, v, p, totals + piece);
  }
  if (per_chain > 1) next_phase();
  if (!top_block) {
    const Motion<> V = kernel::velocity_before(block, piece, totals, reinterpret_cast<ChainCarry*>(p.out));
    block.sync();
    kernel::reduce_chain(block, chain, piece, V, v, tau, p, T, clusters + piece * kChainOut, h + 5 * piece);
  }
  next_phase();
  if (top_block || per_chain == 1) {
    double* out = top_block ? memory : p.out;  // the only piece's own cluster is no longer needed
    double* pivot = top_block ? memory + kChainOut * chain.pieces : T;
    double* forces = top_block ? pivot + kChainPivot * chain.pieces : T + kChainPivot;
    for (int k = block.thread(); k < kChainOut * chain.pieces; k += block.threads()) out[k] = clusters[k];
    double* right = forces + 5 * (chain.pieces + 1);
    for (int k = block.thread(); k < 5 * chain.pieces; k += block.threads()) right[k] = h[k];
    kernel::top_chain(block, chain, right, out, pivot, forces);
    for (int k = block.thread(); k < 5 * (chain.pieces + 1); k += block.threads()) n[k] = forces[k];
  }
  next_phase();
  if (!top_block) kernel::expand_chain(block, chain, piece, n, p, s);
  next_phase();
  if (!top_block) kernel::finish_chain(block, chain, piece, p, s, a.vdot + row * a.nv);
}

}  // namespace

cudaError_t prepare_chains(int shared_bytes) {
  return cudaFuncSetAttribute(solve_chains, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
}

cudaError_t launch_chains(const ChainArguments& arguments, unsigned epoch, int blocks, int threads, int shared_bytes,
                          cudaStream_t stream) {
  if (arguments.chain.pieces == 1) {
    solve_chains<<<unsigned(blocks), unsigned(threads), size_t(shared_bytes), stream>>>(arguments, epoch);
    return cudaGetLastError();
  }
  void* values[] = {const_cast<ChainArguments*>(&arguments), &epoch};  // blocks wait for each other: all must be there
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(solve_chains), dim3(unsigned(blocks)),
                                     dim3(unsigned(threads)), values, size_t(shared_bytes), stream);
}

}  // namespace kansetsu::cuda
