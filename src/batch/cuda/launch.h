#pragma once

#include "batch/cuda/dense_kernel.h"
#include "dynamics/lean_limb_kernel.h"

struct CUstream_st;

/// Host functions that start kernels; all else about a device is in device.h.
namespace kansetsu::batch::cuda {

/// Models up to this size are passed as a kernel argument, which threads read through the constant cache.
template <class Real>
inline constexpr std::size_t kArgumentImage = 3 * 1024 * sizeof(Real);

template <class Real>
struct ArgumentImage {
  ImageHeader<Real> header;
  alignas(16) std::byte block[kArgumentImage<Real>];
};

/// A model on a device, and the memory of threads for which the stack is too small.
template <class Real>
struct DeviceTree {
  TreeImage<Real> image;
  const ArgumentImage<Real>* argument = nullptr;  ///< host memory; null: too large
  std::byte* block = nullptr;                     ///< device memory: the image's block
  std::byte* scratch = nullptr;                   ///< device memory for models with deep stacks; may be null
  std::size_t scratch_bytes = 0;
};

/// The configuration of a launch.
struct Cut {
  int block = 64;         ///< threads
  int blocks_per_sm = 0;  ///< threads take several states in turn, so that no more blocks exist; 0: one state each
  int multiprocessors = 1;
};

/// Starts one thread per state. Throws Error if the launch is refused.
template <template <class> class Algorithm, class Real>
void launch(const DeviceTree<Real>& tree, const Cut& cut, const Algorithm<Real>& algorithm, std::ptrdiff_t states,
            CUstream_st* stream);

/// Whether the algorithm needs more memory than the stack of a thread, so that DeviceTree::scratch is used.
template <template <class> class Algorithm, class Real>
bool needs_scratch(const ModelViewOf<Real>& model);

/// Limbs of a model, whose nodes are in device memory.
template <class Real>
struct DeviceLimbs {
  LeanLimbsOf<Real> limbs;
  const std::byte* nodes = nullptr;
  int node_bytes = 0;
};
/// Whether a state fits into the memory of four threads of a block.
template <class Real>
bool fits_limbs(const LeanLimbsImage<Real>& image);
/// Forward dynamics, four threads per state.
template <class Real>
void launch_limb_aba(const DeviceLimbs<Real>& limbs, const Cut& cut, const AbaArrays<Real>& arrays,
                     std::ptrdiff_t states, CUstream_st* stream);

/// How mass matrices of n rows are inverted by blocks of threads on a device; no states if they are too large for that.
template <class Real>
DenseShape prepare_dense(int n, int device, int most_states = 8);
template <class Real>
void launch_dense(const DenseShape& shape, const DenseArguments<Real>& arguments, std::ptrdiff_t states,
                  CUstream_st* stream);

/// Numbers with any strides to and from field-major order.
template <class Real>
void gather(const Real* from, std::ptrdiff_t state_stride, std::ptrdiff_t field_stride, int fields,
            std::ptrdiff_t states, Fields<Real> to, CUstream_st* stream);
template <class Real>
void scatter(Fields<const Real> from, int fields, std::ptrdiff_t states, Real* to, std::ptrdiff_t state_stride,
             std::ptrdiff_t field_stride, CUstream_st* stream);

}  // namespace kansetsu::batch::cuda
