#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "kansetsu/base/error.h"
#include "kansetsu/batch/cuda.h"

/// kansetsu._cuda: functions of many states on a CUDA device. kansetsu/_device.py decides what goes there and in whose tensors.
namespace kansetsu::python {
namespace {

namespace nb = nanobind;
namespace cuda = batch::cuda;

using Tensor = nb::ndarray<>;
using Readable = nb::ndarray<nb::ro>;

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw Error(fmt::format("{}: {}", call, cudaGetErrorString(status)));
}

/// The device that calls go to while this lives.
struct Turn {
  explicit Turn(int device) {
    check(cudaGetDevice(&before), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { cudaSetDevice(before); }
  int before = 0;
};

struct Freed {
  void operator()(void* data) const { cudaFree(data); }
};
using Memory = std::unique_ptr<void, Freed>;

Memory allocate(int device, size_t bytes) {
  const Turn turn(device);
  void* data = nullptr;
  check(cudaMalloc(&data, std::max<size_t>(bytes, 1)), "cudaMalloc");
  return Memory(data);
}

[[noreturn]] void fail(const std::string& function, const char* name, const std::string& what) {
  throw Error(fmt::format("{}: {} {}", function, name, what));
}

template <class Array>
std::string shape_of(const Array& a) {
  std::string text = "(";
  for (size_t i = 0; i < a.ndim(); ++i) text += fmt::format("{}{}", i ? ", " : "", a.shape(i));
  return text + (a.ndim() == 1 ? ",)" : ")");
}

/// What a function takes: q, and others of nv numbers.
struct Function {
  const char* name;
  std::vector<const char*> inputs;
};
const Function kFunctions[] = {
    {"fk", {"q"}},
    {"rnea", {"q", "v", "vdot"}},
    {"crba", {"q"}},
    {"aba", {"q", "v", "tau"}},
    {"mass_matrix_inverse", {"q"}},
    {"rnea_derivatives", {"q", "v", "vdot"}},
    {"aba_derivatives", {"q", "v", "tau"}},
};

const Function& function_named(const std::string& name) {
  for (const Function& f : kFunctions) {
    if (name == f.name) return f;
  }
  throw Error(name + ": there is no such function on a device");
}

/// The model of one device and number type, and what was last asked of it there.
template <class Real>
struct OnDevice {
  OnDevice(const Model& model, int device)
      : batch(model, {.device = device}), zeros(allocate(device, sizeof(Real) * size_t(model.nv()))) {
    const Turn turn(device);
    check(cudaMemset(zeros.get(), 0, sizeof(Real) * size_t(model.nv())), "cudaMemset");
    check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), "cudaEventCreate");
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaEventDestroy(done); }

  cuda::Batch<Real> batch;
  Memory zeros;  ///< a row of nv
  cudaEvent_t done = nullptr;
};

/// The function of that name, of a Batch or a HostBatch.
template <class AnyBatch, class In, class Out, class... Streams>
void call(AnyBatch& b, std::string_view name, std::ptrdiff_t n, const In* x, const Out* y, Streams... s) {
  if (name == "fk") return b.fk(n, x[0], y[0], s...);
  if (name == "rnea") return b.rnea(n, x[0], x[1], x[2], y[0], s...);
  if (name == "crba") return b.crba(n, x[0], y[0], s...);
  if (name == "aba") return b.aba(n, x[0], x[1], x[2], y[0], s...);
  if (name == "mass_matrix_inverse") return b.mass_matrix_inverse(n, x[0], y[0], s...);
  if (name == "rnea_derivatives") return b.rnea_derivatives(n, x[0], x[1], x[2], y[0], y[1], y[2], s...);
  b.aba_derivatives(n, x[0], x[1], x[2], y[3], y[0], y[1], y[2], s...);
}

/// A model on a device. One set of buffers: calls of several threads and streams wait for each other.
class DeviceModel {
 public:
  DeviceModel(const nb::capsule& model, int device)
      : model_(*static_cast<const Model*>(model.data("kansetsu.Model " KANSETSU_VERSION))), device_(device) {
    const int count = cuda::device_count();
    if (device < 0 || device >= count)
      throw Error(fmt::format("device: there is no device cuda:{}; there are {}", device, count));
  }

  /// Tensors of the device in and out; the work is put into the stream. An input is None where it is zero.
  void run(const std::string& function, const std::vector<nb::object>& in, const std::vector<nb::object>& out,
           std::uintptr_t stream) {
    const Function& f = function_named(function);
    std::vector<std::optional<Readable>> x;
    for (const nb::object& value : in) value.is_none() ? x.emplace_back() : x.emplace_back(nb::cast<Readable>(value));
    const std::vector<Tensor> y = cast_all<Tensor>(out);
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    if (y.at(0).dtype() == nb::dtype<float>())
      run_as<float>(f, x, y, reinterpret_cast<cuda::Stream>(stream), floats_);
    else
      run_as<double>(f, x, y, reinterpret_cast<cuda::Stream>(stream), doubles_);
  }
  /// Arrays of the host, tightly packed rows; returns when the results are there.
  void run_host(const std::string& function, const std::vector<nb::object>& in, const std::vector<nb::object>& out) {
    const Function& f = function_named(function);
    const std::vector<Readable> x = cast_all<Readable>(in);
    const std::vector<Tensor> y = cast_all<Tensor>(out);
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    if (y.at(0).dtype() == nb::dtype<float>())
      run_host_as<float>(f, x, y, host_floats_);
    else
      run_host_as<double>(f, x, y, host_doubles_);
  }

 private:
  template <class Array>
  static std::vector<Array> cast_all(const std::vector<nb::object>& objects) {
    std::vector<Array> all;
    for (const nb::object& x : objects) all.push_back(nb::cast<Array>(x));
    return all;
  }

  template <class Real>
  cuda::Array<const Real> input(const Function& f, size_t k, const Readable& x, std::ptrdiff_t states) const {
    const std::ptrdiff_t width = k == 0 ? model_.nq() : model_.nv();
    if (x.dtype() != nb::dtype<Real>())
      fail(f.name, f.inputs[k],
           fmt::format("does not hold {}, as q does", sizeof(Real) == sizeof(double) ? "float64" : "float32"));
    if (x.device_type() != nb::device::cuda::value || x.device_id() != device_)
      fail(f.name, f.inputs[k], fmt::format("is not on the device cuda:{}, as q is", device_));
    const bool one = x.ndim() == 1;
    if ((x.ndim() != 2 && !one) || std::ptrdiff_t(x.shape(x.ndim() - 1)) != width ||
        (!one && std::ptrdiff_t(x.shape(0)) != states))
      fail(f.name, f.inputs[k],
           fmt::format("has shape {}, expected ({}, {}) or ({},)", shape_of(x), states, width, width));
    return {static_cast<const Real*>(x.data()), one ? 0 : std::ptrdiff_t(x.stride(0)),
            std::ptrdiff_t(x.stride(x.ndim() - 1))};
  }

  template <class Real>
  void run_as(const Function& f, const std::vector<std::optional<Readable>>& in, const std::vector<Tensor>& out,
              cuda::Stream stream, std::unique_ptr<OnDevice<Real>>& kept) {
    const auto states = std::ptrdiff_t(out[0].shape(0));
    if (!kept) kept = std::make_unique<OnDevice<Real>>(model_, device_);
    std::vector<cuda::Array<const Real>> x;
    for (size_t k = 0; k < in.size(); ++k) {
      const cuda::Array<const Real> zeros{static_cast<const Real*>(kept->zeros.get()), 0, 1};
      x.push_back(in[k] ? input<Real>(f, k, *in[k], states) : zeros);
    }
    std::vector<cuda::Array<Real>> y;
    for (const Tensor& t : out) {
      const auto width = states > 0 ? std::ptrdiff_t(t.size()) / states : 1;
      y.push_back(cuda::Array<Real>::rows(static_cast<Real*>(t.data()), width));
    }
    const Turn turn(device_);
    check(cudaStreamWaitEvent(stream, kept->done, 0), "cudaStreamWaitEvent");
    call(kept->batch, f.name, states, x.data(), y.data(), stream);
    check(cudaEventRecord(kept->done, stream), "cudaEventRecord");
  }

  template <class Real>
  void run_host_as(const Function& f, const std::vector<Readable>& in, const std::vector<Tensor>& out,
                   std::unique_ptr<cuda::HostBatch<Real>>& kept) {
    std::vector<const Real*> x;
    std::vector<Real*> y;
    for (const Readable& a : in) x.push_back(static_cast<const Real*>(a.data()));
    for (const Tensor& a : out) y.push_back(static_cast<Real*>(a.data()));
    if (!kept) kept = std::make_unique<cuda::HostBatch<Real>>(model_, cuda::Options{.device = device_});
    call(*kept, f.name, std::ptrdiff_t(out[0].shape(0)), x.data(), y.data());
  }

  const Model model_;
  const int device_;
  std::mutex mutex_;
  std::unique_ptr<OnDevice<float>> floats_;
  std::unique_ptr<OnDevice<double>> doubles_;
  std::unique_ptr<cuda::HostBatch<float>> host_floats_;
  std::unique_ptr<cuda::HostBatch<double>> host_doubles_;
};

/// Memory of a device as a tensor that gives it back at its end.
template <class Real>
nb::object new_tensor(const std::vector<size_t>& shape, int device) {
  size_t count = 1;
  for (const size_t n : shape) count *= n;
  void* data = allocate(device, sizeof(Real) * count).release();
  const nb::capsule owner(data, [](void* p) noexcept { Freed()(p); });
  return nb::cast(nb::ndarray<Real, nb::device::cuda, nb::array_api>(
      data, shape.size(), shape.data(), owner, nullptr, nb::dtype<Real>(), nb::device::cuda::value, device));
}

}  // namespace
}  // namespace kansetsu::python

NB_MODULE(_cuda, module) {
  using namespace kansetsu::python;
  using namespace nb::literals;
  module.doc() = "Functions of many states on a CUDA device; use kansetsu with device='cuda' instead.";
  module.attr("version") = KANSETSU_VERSION;
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const kansetsu::Error& error) {
      PyErr_SetString(nb::module_::import_("kansetsu._errors").attr("Error").ptr(), error.what());
    }
  });
  module.def("device_count", cuda::device_count, "Devices that can run this, 0 if there is no driver.");
  module.def(
      "empty",
      [](const std::vector<size_t>& shape, bool is_double, int device) {
        return is_double ? new_tensor<double>(shape, device) : new_tensor<float>(shape, device);
      },
      "shape"_a, "is_double"_a, "device"_a,
      nb::sig("def empty(shape: list[int], is_double: bool, device: int) -> object"),
      "A tensor on a device, to be taken over by DLPack.");
  module.def(
      "synchronize",
      [](int device, std::uintptr_t stream) {
        const nb::gil_scoped_release release;
        const Turn turn(device);
        check(cudaStreamSynchronize(reinterpret_cast<cuda::Stream>(stream)), "cudaStreamSynchronize");
      },
      "device"_a, "stream"_a, "Waits for a stream.");
  nb::class_<DeviceModel>(module, "DeviceModel", "A model on a device.")
      .def(nb::init<const nb::capsule&, int>(), "model"_a, "device"_a)
      .def("run", &DeviceModel::run, "function"_a, "inputs"_a, "outputs"_a, "stream"_a)
      .def("run_host", &DeviceModel::run_host, "function"_a, "inputs"_a, "outputs"_a);
}
