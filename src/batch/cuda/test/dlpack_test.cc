#include "kansetsu/batch/dlpack.h"

#include <doctest/doctest.h>

using namespace kansetsu;
using namespace kansetsu::batch;

namespace {

struct Example {
  float numbers[64] = {};
  std::int64_t shape[3] = {4, 3, 2};
  std::int64_t strides[3] = {6, 2, 1};
  dlpack::Tensor tensor{numbers, {dlpack::kCuda, 0}, 3, {dlpack::kFloat, 32, 1}, shape, strides, 8};

  cuda::Array<float> array(std::ptrdiff_t states = 4, std::ptrdiff_t fields = 6) const {
    return dlpack::to_cuda_array<float>(tensor, states, fields);
  }
};

}  // namespace

TEST_CASE("a compact tensor is an array of rows") {
  const Example e;
  const cuda::Array<float> a = e.array();
  CHECK(a.data == e.numbers + 2);  // the byte offset
  CHECK(a.state_stride == 6);
  CHECK(a.field_stride == 1);
  Example without;
  without.tensor.strides = nullptr;
  CHECK(without.array().state_stride == 6);
}

TEST_CASE("a transposed tensor is an array of fields") {
  Example e;
  e.strides[0] = 1, e.strides[1] = 8, e.strides[2] = 4;
  const cuda::Array<float> a = e.array();
  CHECK(a.state_stride == 1);
  CHECK(a.field_stride == 4);
}

TEST_CASE("tensors that do not fit are refused") {
  CHECK_THROWS_WITH_AS(Example().array(5), "to_cuda_array: the tensor has 4 states, expected 5", Error);
  CHECK_THROWS_WITH_AS(Example().array(4, 7), "to_cuda_array: the tensor has 6 numbers per state, expected 7", Error);
  CHECK_THROWS_AS(dlpack::to_cuda_array<double>(Example().tensor, 4, 6), Error);
  Example on_host;
  on_host.tensor.device.device_type = dlpack::kCpu;
  CHECK_THROWS_WITH_AS(on_host.array(), "to_cuda_array: the tensor is not on a CUDA device", Error);
  Example gaps;
  gaps.strides[1] = 3;
  CHECK_THROWS_AS(gaps.array(), Error);
}
