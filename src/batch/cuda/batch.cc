#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "batch/cuda/device.h"
#include "batch/cuda/launch.h"
#include "kansetsu/batch/cuda.h"

namespace kansetsu::batch::cuda {
namespace {

/// Global memory for threads with deep stacks; it limits how many run at once.
constexpr std::size_t kScratchBytes = std::size_t(256) << 20;
/// Numbers in another order than fields are transposed in a buffer of at most this size.
constexpr std::size_t kMostBuffer = std::size_t(1) << 30;
/// Columns of derivatives are passed from one kernel to the next in a buffer of at most this size.
constexpr std::size_t kMostColumns = std::size_t(256) << 20;
/// Up to this many states, forward dynamics is faster with four threads for each.
constexpr std::ptrdiff_t kFewStates = 16384;

int chosen_device(int device) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (device < 0) check(cudaGetDevice(&device), "cudaGetDevice");
  if (device >= count) {
    throw Error("cuda::Batch: device " + std::to_string(device) + " does not exist, there are " +
                std::to_string(count));
  }
  return device;
}

void check_options(const Options& o) {
  if (o.chunk < 1) throw Error("cuda::Batch: chunk is " + std::to_string(o.chunk) + ", expected at least 1");
  if (o.threads_per_block < 0 || o.threads_per_block > 128 || o.threads_per_block % 32 != 0) {
    throw Error("cuda::Batch: threads_per_block is " + std::to_string(o.threads_per_block) +
                ", expected a multiple of 32 up to 128");
  }
  if (o.blocks_per_multiprocessor < 0) {
    throw Error("cuda::Batch: blocks_per_multiprocessor is " + std::to_string(o.blocks_per_multiprocessor));
  }
  if (o.states_per_block < 0 || o.states_per_block > 32) {
    throw Error("cuda::Batch: states_per_block is " + std::to_string(o.states_per_block) + ", expected at most 32");
  }
}

}  // namespace

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

template <class Real>
struct Batch<Real>::Impl {
  Impl(const Model& model_, const Options& options)
      : model(model_), device(chosen_device(options.device)), chunk(options.chunk), mapping(options.mapping) {
    check_options(options);
    const DeviceScope scope(device);
    tree.image = make_tree_image<Real>(model.tree());
    model_view = tree.image.view();
    view = model_view.tree;
    const std::vector<std::byte>& block = tree.image.block;
    image = DeviceMemory(block.size());
    check(cudaMemcpy(image.data(), block.data(), block.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    tree.block = image.data();
    if (block.size() <= kArgumentImage<Real>) {
      argument = std::make_unique<ArgumentImage<Real>>();
      argument->header = tree.image.header;
      std::memcpy(argument->block, block.data(), block.size());
      tree.argument = argument.get();
    }
    prepare_limbs();
    prepare_columns(options);
    if (needs_scratch<Fk, Real>(model_view) || needs_scratch<Rnea, Real>(model_view) ||
        needs_scratch<Crba, Real>(model_view) ||
        (is_lean() ? needs_scratch<LeanAba, Real>(model_view) : needs_scratch<Aba, Real>(model_view)) ||
        needs_scratch<MassMatrixInverse, Real>(model_view) || needs_scratch<RneaDerivatives, Real>(model_view) ||
        needs_scratch<ApplyInverse, Real>(model_view) || needs_scratch<DerivativeColumns, Real>(model_view)) {
      scratch = DeviceMemory(kScratchBytes);
      tree.scratch = scratch.data();
      tree.scratch_bytes = scratch.bytes();
    }
    check(cudaDeviceGetAttribute(&cut.multiprocessors, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    if (options.threads_per_block > 0) cut.block = options.threads_per_block;
    cut.blocks_per_sm = options.blocks_per_multiprocessor;
    // The widest call: all arrays of aba_derivatives.
    const std::size_t per_state = sizeof(Real) * most_fields();
    const std::size_t most = std::max<std::size_t>(1, kMostBuffer / per_state);
    buffer = DeviceMemory(per_state * std::min(std::size_t(chunk), most));
  }

  /// Copies items to the device.
  template <class Item>
  static DeviceMemory uploaded(const std::vector<Item>& items) {
    DeviceMemory out(items.size() * sizeof(Item));
    if (!items.empty()) {
      check(cudaMemcpy(out.data(), items.data(), out.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    return out;
  }
  void prepare_limbs() {
    const auto& from = tree.image.limbs;
    if (!from || !fits_limbs<Real>(*from)) return;
    limb_nodes = uploaded(from->nodes);
    limbs.limbs = from->limbs;
    limbs.nodes = limb_nodes.data();
    limbs.node_bytes = int(from->nodes.size());
  }
  void prepare_columns(const Options& options) {
    dense = prepare_dense<Real>(view.nv, device, options.states_per_block > 0 ? options.states_per_block : 8);
    if (dense.states == 0 || tree.image.columns.empty() || options.mapping == Mapping::kState) return;
    column_tree = uploaded(tree.image.columns);
    const std::size_t per_state = sizeof(Real) * std::size_t(kColumnNumbers) * std::size_t(view.nv);
    columns =
        DeviceMemory(per_state * std::min(std::size_t(chunk), std::max<std::size_t>(1, kMostColumns / per_state)));
  }

  bool is_lean() const { return model_view.lean.node_count > 0; }

  void start_aba(const AbaArrays<Real>& arrays, std::ptrdiff_t states, Stream stream) {
    const bool few = mapping == Mapping::kMeasured ? states <= kFewStates : mapping == Mapping::kLimb;
    if (few && limbs.nodes)
      launch_limb_aba<Real>(limbs, cut, arrays, states, stream);
    else if (is_lean())
      start<LeanAba>({arrays}, states, stream);
    else
      start<Aba>({arrays}, states, stream);
  }

  void start_inverse(const Fields<const Real>& q, const Fields<Real>& M_inv, std::ptrdiff_t states, Stream stream) {
    if (dense.states == 0) return start<MassMatrixInverse>({q, M_inv}, states, stream);
    start<Crba>({q, M_inv}, states, stream);
    launch_dense<Real>(dense, DenseArguments<Real>::of_matrices(read(M_inv), M_inv, {}, {}), states, stream);
  }

  /// Derivatives of forward dynamics, where v̇ is known.
  void start_derivatives(const Fields<const Real>& q, const Fields<const Real>& v, const Fields<const Real>& vdot,
                         const Fields<Real>& dq, const Fields<Real>& dv, const Fields<Real>& M_inv,
                         std::ptrdiff_t states, Stream stream) {
    if (dense.states == 0) {
      start<MassMatrixInverse>({q, M_inv}, states, stream);
      start<RneaDerivatives>({q, v, vdot, dq, dv, {}}, states, stream);
      start<ApplyInverse>({read(M_inv), dq, dv}, states, stream);
      return;
    }
    if (columns.bytes() == 0) {
      start<RneaDerivatives>({q, v, vdot, dq, dv, M_inv}, states, stream);
      launch_dense<Real>(dense, DenseArguments<Real>::of_matrices(read(M_inv), M_inv, dq, dv), states, stream);
      return;
    }
    const auto per_state = std::ptrdiff_t(sizeof(Real)) * kColumnNumbers * view.nv;
    std::ptrdiff_t step = std::ptrdiff_t(columns.bytes()) / per_state;
    if (step > kTile) step -= step % kTile;
    const auto from = [](const auto& f, std::ptrdiff_t first) {
      return std::decay_t<decltype(f)>{f.data + first, f.stride};
    };
    for (std::ptrdiff_t first = 0; first < states; first += step) {
      const std::ptrdiff_t count = std::min(step, states - first);
      const Fields<Real> between{reinterpret_cast<Real*>(columns.data()), count};
      start<DerivativeColumns>({from(q, first), from(v, first), from(vdot, first), between}, count, stream);
      const auto* columns_of_tree = reinterpret_cast<const ColumnOf<Real>*>(column_tree.data());
      launch_dense<Real>(dense,
                         DenseArguments<Real>::of_columns(columns_of_tree, read(between), from(M_inv, first),
                                                          from(dq, first), from(dv, first)),
                         count, stream);
    }
  }

  std::size_t most_fields() const {
    const auto n = std::size_t(view.nv);
    return std::max(std::size_t(view.nq) + 3 * n + 3 * n * n,
                    std::size_t(view.nq) + 12 * std::size_t(tree.image.header.link_count));
  }

  /// An argument of a call: its array, how many numbers a state has there, and where the kernel finds it.
  struct Argument {
    const char* name;
    Array<Real> array;
    int fields;
    bool in, out;
    bool direct() const { return array.state_stride == 1; }
  };

  void check_argument(const char* function, const Argument& a, std::ptrdiff_t states) const {
    if (!a.array.data) throw Error(std::string(function) + ": " + a.name + " has no memory");
    const std::ptrdiff_t s = std::abs(a.array.state_stride), f = std::abs(a.array.field_stride);
    const bool overlap = a.out && states > 1 && a.fields > 1 && !(s >= f * a.fields || f >= s * states);
    if ((s == 0 && a.out && states > 1) || f == 0 || overlap) {  // read, one row may serve all states
      throw Error(std::string(function) + ": " + a.name + " has strides " + std::to_string(a.array.state_stride) +
                  " between states and " + std::to_string(a.array.field_stride) + " between fields, too small for " +
                  std::to_string(states) + " states of " + std::to_string(a.fields));
    }
  }

  /// Calls body(states, fields…) for chunks of states with every argument in field-major order.
  template <std::size_t N, class Body>
  void for_chunks(const char* function, std::ptrdiff_t states, const Argument (&arguments)[N], Stream stream,
                  Body&& body) {
    if (states < 0) throw Error(std::string(function) + ": " + std::to_string(states) + " states");
    if (states == 0) return;
    std::ptrdiff_t turned = 0;  // numbers per state in the buffer
    for (const Argument& a : arguments) {
      check_argument(function, a, states);
      if (!a.direct()) turned += a.fields;
    }
    const DeviceScope scope(device);
    std::ptrdiff_t step = states;
    if (turned > 0) {
      step = std::min(chunk, std::ptrdiff_t(buffer.bytes() / (sizeof(Real) * std::size_t(turned))));
      if (step > kTile) step -= step % kTile;
    }
    for (std::ptrdiff_t first = 0; first < states; first += step) {
      const std::ptrdiff_t count = std::min(step, states - first);
      Fields<Real> fields[N];
      Real* next = reinterpret_cast<Real*>(buffer.data());
      for (std::size_t i = 0; i < N; ++i) {
        const Argument& a = arguments[i];
        if (a.direct()) {
          fields[i] = {a.array.data + first, a.array.field_stride};
          continue;
        }
        fields[i] = {next, count};
        next += count * a.fields;
        if (!a.in) continue;
        gather<Real>(a.array.data + first * a.array.state_stride, a.array.state_stride, a.array.field_stride, a.fields,
                     count, fields[i], stream);
      }
      body(count, fields);
      for (std::size_t i = 0; i < N; ++i) {
        const Argument& a = arguments[i];
        if (a.direct() || !a.out) continue;
        scatter<Real>(read(fields[i]), a.fields, count, a.array.data + first * a.array.state_stride,
                      a.array.state_stride, a.array.field_stride, stream);
      }
    }
  }

  static Fields<const Real> read(const Fields<Real>& f) { return {f.data, f.stride}; }
  static Argument in(const char* name, const In& a, int fields) {
    return {name, {const_cast<Real*>(a.data), a.state_stride, a.field_stride}, fields, true, false};
  }
  static Argument out(const char* name, const Out& a, int fields) { return {name, a, fields, false, true}; }

  template <template <class> class Algorithm>
  void start(const Algorithm<Real>& algorithm, std::ptrdiff_t states, Stream stream) {
    launch<Algorithm, Real>(tree, cut, algorithm, states, stream);
  }

  static constexpr std::ptrdiff_t kTile = 32;

  Model model;
  int device;
  std::ptrdiff_t chunk;
  DeviceTree<Real> tree;
  TreeViewOf<Real> view;
  ModelViewOf<Real> model_view;
  std::unique_ptr<ArgumentImage<Real>> argument;
  Mapping mapping;
  DeviceLimbs<Real> limbs;
  DeviceMemory image, scratch, buffer, limb_nodes, column_tree, columns;
  Cut cut;
  DenseShape dense;
};

template <class Real>
Batch<Real>::Batch(const Model& model, const Options& options) : impl_(std::make_unique<Impl>(model, options)) {}

template <class Real>
const Model& Batch<Real>::model() const {
  return impl_->model;
}
template <class Real>
int Batch<Real>::device() const {
  return impl_->device;
}

template <class Real>
void Batch<Real>::fk(std::ptrdiff_t states, In q, Out X_WL, Stream stream) {
  Impl& m = *impl_;
  m.for_chunks("cuda::Batch::fk", states,
               {m.in("q", q, m.view.nq), m.out("X_WL", X_WL, 12 * m.tree.image.header.link_count)}, stream,
               [&](std::ptrdiff_t n, const Fields<Real>* f) { m.template start<Fk>({m.read(f[0]), f[1]}, n, stream); });
}

template <class Real>
void Batch<Real>::rnea(std::ptrdiff_t states, In q, In v, In vdot, Out tau, Stream stream) {
  Impl& m = *impl_;
  const int nv = m.view.nv;
  m.for_chunks("cuda::Batch::rnea", states,
               {m.in("q", q, m.view.nq), m.in("v", v, nv), m.in("vdot", vdot, nv), m.out("tau", tau, nv)}, stream,
               [&](std::ptrdiff_t n, const Fields<Real>* f) {
                 m.template start<Rnea>({m.read(f[0]), m.read(f[1]), m.read(f[2]), f[3]}, n, stream);
               });
}

template <class Real>
void Batch<Real>::crba(std::ptrdiff_t states, In q, Out M, Stream stream) {
  Impl& m = *impl_;
  m.for_chunks(
      "cuda::Batch::crba", states, {m.in("q", q, m.view.nq), m.out("M", M, m.view.nv * m.view.nv)}, stream,
      [&](std::ptrdiff_t n, const Fields<Real>* f) { m.template start<Crba>({m.read(f[0]), f[1]}, n, stream); });
}

template <class Real>
void Batch<Real>::aba(std::ptrdiff_t states, In q, In v, In tau, Out vdot, Stream stream, Out singular) {
  Impl& m = *impl_;
  const int nv = m.view.nv;
  const auto run = [&](std::ptrdiff_t n, const Fields<Real>* f, const Fields<Real>& flags) {
    m.start_aba({m.read(f[0]), m.read(f[1]), m.read(f[2]), f[3], flags}, n, stream);
  };
  if (!singular.data) {
    m.for_chunks("cuda::Batch::aba", states,
                 {m.in("q", q, m.view.nq), m.in("v", v, nv), m.in("tau", tau, nv), m.out("vdot", vdot, nv)}, stream,
                 [&](std::ptrdiff_t n, const Fields<Real>* f) { run(n, f, {}); });
    return;
  }
  m.for_chunks("cuda::Batch::aba", states,
               {m.in("q", q, m.view.nq), m.in("v", v, nv), m.in("tau", tau, nv), m.out("vdot", vdot, nv),
                m.out("singular", singular, nv)},
               stream, [&](std::ptrdiff_t n, const Fields<Real>* f) { run(n, f, f[4]); });
}

template <class Real>
void Batch<Real>::mass_matrix_inverse(std::ptrdiff_t states, In q, Out M_inv, Stream stream) {
  Impl& m = *impl_;
  m.for_chunks("cuda::Batch::mass_matrix_inverse", states,
               {m.in("q", q, m.view.nq), m.out("M_inv", M_inv, m.view.nv * m.view.nv)}, stream,
               [&](std::ptrdiff_t n, const Fields<Real>* f) { m.start_inverse(m.read(f[0]), f[1], n, stream); });
}

template <class Real>
void Batch<Real>::rnea_derivatives(std::ptrdiff_t states, In q, In v, In vdot, Out dq, Out dv, Out da, Stream stream) {
  Impl& m = *impl_;
  const int nv = m.view.nv;
  m.for_chunks("cuda::Batch::rnea_derivatives", states,
               {m.in("q", q, m.view.nq), m.in("v", v, nv), m.in("vdot", vdot, nv), m.out("dq", dq, nv * nv),
                m.out("dv", dv, nv * nv), m.out("da", da, nv * nv)},
               stream, [&](std::ptrdiff_t n, const Fields<Real>* f) {
                 m.template start<RneaDerivatives>({m.read(f[0]), m.read(f[1]), m.read(f[2]), f[3], f[4], f[5]}, n,
                                                   stream);
               });
}

template <class Real>
void Batch<Real>::aba_derivatives(std::ptrdiff_t states, In q, In v, In tau, Out vdot, Out dq, Out dv, Out dtau,
                                  Stream stream) {
  Impl& m = *impl_;
  const int nv = m.view.nv;
  m.for_chunks("cuda::Batch::aba_derivatives", states,
               {m.in("q", q, m.view.nq), m.in("v", v, nv), m.in("tau", tau, nv), m.out("vdot", vdot, nv),
                m.out("dq", dq, nv * nv), m.out("dv", dv, nv * nv), m.out("dtau", dtau, nv * nv)},
               stream, [&](std::ptrdiff_t n, const Fields<Real>* f) {
                 const auto state = [&](int i) { return m.read(f[i]); };
                 m.start_aba({state(0), state(1), state(2), f[3], {}}, n, stream);
                 m.start_derivatives(state(0), state(1), state(3), f[4], f[5], f[6], n, stream);
               });
}

template class Batch<float>;
template class Batch<double>;

}  // namespace kansetsu::batch::cuda
