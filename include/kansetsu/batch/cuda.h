#pragma once

#include <cstddef>
#include <type_traits>

#include "kansetsu/base/owner.h"
#include "kansetsu/model/model.h"

struct CUstream_st;

/// Many states at once on a CUDA device. Only in builds that found a CUDA toolkit (KANSETSU_CUDA); link kansetsu::batch_cuda.
namespace kansetsu::batch::cuda {

/// A cudaStream_t. Null is the default stream.
using Stream = CUstream_st*;

/// Numbers of many states: number f of state s is data[s·state_stride + f·field_stride].
///
/// Two layouts are common: rows, one state after the other, as in NumPy and PyTorch; and fields, one number of all
/// states after the other, which a device reads fastest. Rows, and any other strides, are first transposed into fields.
/// For inputs, a state_stride of 0 gives all states the same numbers. Matrices are stored row by row: entry (i, j) is number
/// i·nv + j.
template <class Real>
struct Array {
  Real* data = nullptr;
  std::ptrdiff_t state_stride = 0;
  std::ptrdiff_t field_stride = 1;

  /// Each state a row of `width` numbers.
  static Array rows(Real* data, std::ptrdiff_t width) { return {data, width, 1}; }
  /// Each number a row of `states` entries.
  static Array fields(Real* data, std::ptrdiff_t states) { return {data, 1, states}; }

  /// An array may be passed where its numbers are only read.
  operator Array<const Real>() const  // NOLINT(google-explicit-constructor): as a pointer to T becomes one to const T
    requires(!std::is_const_v<Real>)
  {
    return {data, state_stride, field_stride};
  }
};

/// The distribution of the work of aba() and aba_derivatives() over threads.
enum class Mapping {
  kMeasured,  ///< the fastest for that many states, by measurement
  kState,     ///< one thread per state wherever possible
  kLimb,      ///< four threads per state, one per limb, if the model has limbs of equal structure
};

struct Options {
  int device = -1;  ///< −1: the current one
  /// Largest number of states at a time in calls that need intermediate memory: for layouts other than fields, and for
  /// derivatives of forward dynamics. It determines the device memory.
  std::ptrdiff_t chunk = 1 << 17;
  /// Launch configuration; 0: a measured default. See docs/guide/gpu.md.
  int threads_per_block = 0;
  int blocks_per_multiprocessor = 0;
  int states_per_block = 0;  ///< most, where a block of threads works on the matrices of several states
  Mapping mapping = Mapping::kMeasured;
};

/// A model on a device. Functions are those of the same name for one state, see kinematics.h, dynamics.h and derivatives.h;
/// they take pointers to device memory, enqueue their work in the stream and return: no allocation, no synchronisation, so
/// that a graph can capture them. Wrong arguments and errors of CUDA throw Error.
///
/// One Batch has one set of buffers: use it in one stream at a time, and a second one for a second stream.
/// Real is float or double. Results differ from the CPU's in rounding only.
template <class Real>
class Batch {
 public:
  using In = Array<const Real>;
  using Out = Array<Real>;

  explicit Batch(const Model& model, const Options& options = {});

  const Model& model() const;
  int device() const;

  /// @param X_WL  12 numbers per link: rotation row by row, then position
  void fk(std::ptrdiff_t states, In q, Out X_WL, Stream stream = nullptr);
  void rnea(std::ptrdiff_t states, In q, In v, In vdot, Out tau, Stream stream = nullptr);
  /// @param M  nv × nv, both triangles
  void crba(std::ptrdiff_t states, In q, Out M, Stream stream = nullptr);
  /// @param singular  nv numbers, see AbaResult; may be left out
  void aba(std::ptrdiff_t states, In q, In v, In tau, Out vdot, Stream stream = nullptr, Out singular = {});
  void mass_matrix_inverse(std::ptrdiff_t states, In q, Out M_inv, Stream stream = nullptr);
  void rnea_derivatives(std::ptrdiff_t states, In q, In v, In vdot, Out dq, Out dv, Out da, Stream stream = nullptr);
  /// @param dtau  M⁻¹
  void aba_derivatives(std::ptrdiff_t states, In q, In v, In tau, Out vdot, Out dq, Out dv, Out dtau,
                       Stream stream = nullptr);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

extern template class Batch<float>;
extern template class Batch<double>;

/// The same between arrays in host memory: copies in, computes, copies out, in chunks whose copies and computations overlap.
/// Rows only, tightly packed. Calls return when the results are complete. Pageable memory is copied through pinned buffers of
/// the object; pinned memory (cudaMallocHost, cudaHostRegister) is copied directly, which is several times faster.
template <class Real>
class HostBatch {
 public:
  explicit HostBatch(const Model& model, const Options& options = {});

  void fk(std::ptrdiff_t states, const Real* q, Real* X_WL);
  void rnea(std::ptrdiff_t states, const Real* q, const Real* v, const Real* vdot, Real* tau);
  void crba(std::ptrdiff_t states, const Real* q, Real* M);
  void aba(std::ptrdiff_t states, const Real* q, const Real* v, const Real* tau, Real* vdot);
  void mass_matrix_inverse(std::ptrdiff_t states, const Real* q, Real* M_inv);
  void rnea_derivatives(std::ptrdiff_t states, const Real* q, const Real* v, const Real* vdot, Real* dq, Real* dv,
                        Real* da);
  void aba_derivatives(std::ptrdiff_t states, const Real* q, const Real* v, const Real* tau, Real* vdot, Real* dq,
                       Real* dv, Real* dtau);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

extern template class HostBatch<float>;
extern template class HostBatch<double>;

/// Number of usable devices, 0 if there is no driver.
int device_count();

}  // namespace kansetsu::batch::cuda
