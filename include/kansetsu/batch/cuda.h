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
/// Two layouts are common: rows, one state after the other, as NumPy and PyTorch have it; and fields, one number of all
/// states after the other, which a device reads fastest. Rows, and any other strides, are turned into fields on the way.
/// Where numbers are only read, a state_stride of 0 gives all states the same ones. Matrices are stored row by row: entry (i, j) is number
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

/// How threads share the work of aba() and aba_derivatives().
enum class Mapping {
  kMeasured,  ///< what has been measured to be fastest for that many states
  kState,     ///< one thread per state wherever possible
  kLimb,      ///< four threads per state, for limbs side by side, if the model has any
};

struct Options {
  int device = -1;  ///< −1: the current one
  /// Most states at a time of a call that needs memory in between: for numbers in other order than fields, and for
  /// derivatives of forward dynamics. Device memory follows from it.
  std::ptrdiff_t chunk = 1 << 17;
  /// How launches are cut; 0: a choice that has been measured. See docs/guide/gpu.md.
  int threads_per_block = 0;
  int blocks_per_multiprocessor = 0;
  int states_per_block = 0;  ///< most, where a block of threads works on the matrices of several states
  Mapping mapping = Mapping::kMeasured;
};

/// A model on a device. Functions are those of the same name for one state, see kinematics.h, dynamics.h and derivatives.h;
/// they take pointers to device memory, put their work into the stream and return: no allocation, no synchronisation, so
/// that a graph can capture them. Arguments are checked, and errors of CUDA are reported, as Error.
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
/// Rows only, tightly packed. Calls return when the results are there. Pageable memory goes through pinned buffers of the
/// object's own; pinned memory (cudaMallocHost, cudaHostRegister) is copied directly, which is several times faster.
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

/// Devices that can run this, 0 if there is no driver.
int device_count();

}  // namespace kansetsu::batch::cuda
