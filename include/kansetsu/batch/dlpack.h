#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kansetsu/base/error.h"
#include "kansetsu/batch/cuda.h"

/// Tensors of PyTorch, CuPy, JAX and NumPy as arrays of a batch, without a copy: DLPack, ABI version 1.
/// https://dmlc.github.io/dlpack. The declarations here are the part of its ABI that is used; <dlpack/dlpack.h> is not needed,
/// but its DLTensor is accepted, too.
namespace kansetsu::batch::dlpack {

inline constexpr int kMajorVersion = 1;

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : std::uint8_t { kInt = 0, kUnsigned = 1, kFloat = 2 };

struct Device {
  std::int32_t device_type;
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: compact rows
  std::uint64_t byte_offset;
};

/// The tensor as an array of `states` states with `fields` numbers each. Its first dimension counts states; the others
/// (fields, or the rows and columns of matrices) must follow each other with one stride. Throws Error if anything else is
/// wrong: the number type, the device, the shape.
/// @param tensor  a dlpack::Tensor or a DLTensor
template <class Real, class AnyTensor>
cuda::Array<Real> to_cuda_array(const AnyTensor& tensor, std::ptrdiff_t states, std::ptrdiff_t fields) {
  const auto fail = [](const std::string& what) { throw Error("to_cuda_array: the tensor " + what); };
  const auto type = tensor.dtype;
  if (int(type.code) != kFloat || type.bits != 8 * sizeof(Real) || type.lanes != 1) {
    fail("does not hold numbers of " + std::to_string(8 * sizeof(Real)) + " bits");
  }
  const auto where = std::int32_t(tensor.device.device_type);
  if (where != kCuda && where != kCudaManaged) fail("is not on a CUDA device");
  if (tensor.ndim < 2) fail("has " + std::to_string(tensor.ndim) + " dimensions, expected states and fields");
  if (tensor.shape[0] != states) {
    fail("has " + std::to_string(tensor.shape[0]) + " states, expected " + std::to_string(states));
  }
  std::int64_t count = 1;
  for (std::int32_t d = 1; d < tensor.ndim; ++d) count *= tensor.shape[d];
  if (count != fields) fail("has " + std::to_string(count) + " numbers per state, expected " + std::to_string(fields));
  auto* data = reinterpret_cast<Real*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
  if (!tensor.strides) return {data, fields, 1};
  const std::int64_t field_stride = tensor.strides[tensor.ndim - 1];
  std::int64_t expected = field_stride;
  for (std::int32_t d = tensor.ndim - 1; d > 0; --d) {
    if (tensor.shape[d] > 1 && tensor.strides[d] != expected) fail("has numbers of a state with more than one stride");
    expected *= tensor.shape[d];
  }
  return {data, std::ptrdiff_t(tensor.strides[0]), std::ptrdiff_t(field_stride)};
}

}  // namespace kansetsu::batch::dlpack
