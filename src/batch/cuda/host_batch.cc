#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "batch/cuda/device.h"
#include "kansetsu/batch/cuda.h"

namespace kansetsu::batch::cuda {
namespace {

/// States in one slot: enough to fill a device, few enough that copies overlap with computation.
constexpr std::ptrdiff_t kMostStates = 1 << 16;
constexpr std::size_t kMostBytes = std::size_t(128) << 20;

bool is_pinned(const void* p) {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess) {
    cudaGetLastError();  // an unknown pointer is not an error here
    return false;
  }
  return attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeManaged;
}

}  // namespace

/// Two slots, each with a stream, device memory, pinned memory and a Batch, so that one copies while the other computes.
template <class Real>
struct HostBatch<Real>::Impl {
  struct Argument {
    Real* host;
    std::ptrdiff_t width;  ///< numbers per state
    bool out;
    bool pinned;
  };
  struct Slot {
    Slot(const Model& model, const Options& options) : batch(model, options) {}
    Batch<Real> batch;
    OwnedStream stream;
    DeviceMemory device;
    PinnedMemory staging;
    std::ptrdiff_t first = 0, count = 0;  ///< states under way
    std::ptrdiff_t staged = 0;            ///< states that each array of the staging memory has room for
  };

  Impl(const Model& model_, Options options) : model(model_) {
    options.chunk = std::min(options.chunk, kMostStates);
    for (auto& slot : slots) slot = std::make_unique<Slot>(model, options);
  }

  static Argument in(const char* name, const Real* host, std::ptrdiff_t width) {
    return checked(name, const_cast<Real*>(host), width, false);
  }
  static Argument out(const char* name, Real* host, std::ptrdiff_t width) { return checked(name, host, width, true); }
  static Argument checked(const char* name, Real* host, std::ptrdiff_t width, bool out) {
    if (!host) throw Error(std::string("cuda::HostBatch: ") + name + " has no memory");
    return {host, width, out, is_pinned(host)};
  }

  /// body(batch, states, device arrays, stream) for chunks of states.
  template <class Body>
  void run(std::ptrdiff_t states, std::vector<Argument> arguments, Body&& body) {
    if (states < 0) throw Error("cuda::HostBatch: " + std::to_string(states) + " states");
    std::ptrdiff_t width = 0;
    for (const Argument& a : arguments) width += a.width;
    const std::ptrdiff_t fit = std::ptrdiff_t(kMostBytes / (sizeof(Real) * std::size_t(width)));
    const std::ptrdiff_t half = (states + 1) / 2;
    const std::ptrdiff_t chunk = std::max<std::ptrdiff_t>(1, std::min({half, fit, kMostStates}));
    const DeviceScope scope(slots[0]->batch.device());
    for (auto& slot : slots) reserve(*slot, sizeof(Real) * std::size_t(width * chunk));
    int turn = 0;
    for (std::ptrdiff_t first = 0; first < states; first += chunk, turn ^= 1) {
      Slot& slot = *slots[turn];
      finish(slot, arguments);
      slot.first = first;
      slot.count = std::min(chunk, states - first);
      start(slot, arguments, chunk, body);
    }
    finish(*slots[turn], arguments);
    finish(*slots[turn ^ 1], arguments);
  }

  static void reserve(Slot& slot, std::size_t bytes) {
    if (slot.device.bytes() < bytes) slot.device = DeviceMemory(bytes);
    if (slot.staging.bytes() < bytes) slot.staging = PinnedMemory(bytes);
  }

  template <class Body>
  static void start(Slot& slot, const std::vector<Argument>& arguments, std::ptrdiff_t chunk, Body&& body) {
    std::vector<Array<Real>> arrays;
    auto* device = reinterpret_cast<Real*>(slot.device.data());
    auto* staging = reinterpret_cast<Real*>(slot.staging.data());
    for (const Argument& a : arguments) {
      const std::size_t bytes = sizeof(Real) * std::size_t(slot.count * a.width);
      arrays.push_back(Array<Real>::rows(device, a.width));
      if (!a.out) {
        const Real* from = a.host + slot.first * a.width;
        if (!a.pinned) from = static_cast<const Real*>(std::memcpy(staging, from, bytes));
        check(cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, slot.stream.get()), "cudaMemcpyAsync");
      }
      device += chunk * a.width;
      staging += chunk * a.width;
    }
    body(slot.batch, slot.count, arrays.data(), slot.stream.get());
    device = reinterpret_cast<Real*>(slot.device.data());
    staging = reinterpret_cast<Real*>(slot.staging.data());
    slot.staged = chunk;
    for (const Argument& a : arguments) {
      const std::size_t bytes = sizeof(Real) * std::size_t(slot.count * a.width);
      Real* to = a.pinned ? a.host + slot.first * a.width : staging;
      if (a.out) {
        check(cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, slot.stream.get()), "cudaMemcpyAsync");
      }
      device += chunk * a.width;
      staging += chunk * a.width;
    }
  }

  /// Waits for a slot and copies its results to the caller.
  static void finish(Slot& slot, const std::vector<Argument>& arguments) {
    if (slot.count == 0) return;
    check(cudaStreamSynchronize(slot.stream.get()), "cudaStreamSynchronize");
    auto* staging = reinterpret_cast<const Real*>(slot.staging.data());
    for (const Argument& a : arguments) {
      if (a.out && !a.pinned) {
        std::memcpy(a.host + slot.first * a.width, staging, sizeof(Real) * std::size_t(slot.count * a.width));
      }
      staging += slot.staged * a.width;
    }
    slot.count = 0;
  }

  Model model;
  std::unique_ptr<Slot> slots[2];
};

template <class Real>
HostBatch<Real>::HostBatch(const Model& model, const Options& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

template <class Real>
void HostBatch<Real>::fk(std::ptrdiff_t states, const Real* q, Real* X_WL) {
  Impl& m = *impl_;
  m.run(states, {m.in("q", q, m.model.nq()), m.out("X_WL", X_WL, 12 * m.model.link_count())},
        [](Batch<Real>& b, std::ptrdiff_t n, Array<Real>* a, Stream s) { b.fk(n, a[0], a[1], s); });
}

template <class Real>
void HostBatch<Real>::rnea(std::ptrdiff_t states, const Real* q, const Real* v, const Real* vdot, Real* tau) {
  Impl& m = *impl_;
  const int nv = m.model.nv();
  m.run(states, {m.in("q", q, m.model.nq()), m.in("v", v, nv), m.in("vdot", vdot, nv), m.out("tau", tau, nv)},
        [](Batch<Real>& b, std::ptrdiff_t n, Array<Real>* a, Stream s) { b.rnea(n, a[0], a[1], a[2], a[3], s); });
}

template <class Real>
void HostBatch<Real>::crba(std::ptrdiff_t states, const Real* q, Real* M) {
  Impl& m = *impl_;
  const int nv = m.model.nv();
  m.run(states, {m.in("q", q, m.model.nq()), m.out("M", M, nv * nv)},
        [](Batch<Real>& b, std::ptrdiff_t n, Array<Real>* a, Stream s) { b.crba(n, a[0], a[1], s); });
}

template <class Real>
void HostBatch<Real>::aba(std::ptrdiff_t states, const Real* q, const Real* v, const Real* tau, Real* vdot) {
  Impl& m = *impl_;
  const int nv = m.model.nv();
  m.run(states, {m.in("q", q, m.model.nq()), m.in("v", v, nv), m.in("tau", tau, nv), m.out("vdot", vdot, nv)},
        [](Batch<Real>& b, std::ptrdiff_t n, Array<Real>* a, Stream s) { b.aba(n, a[0], a[1], a[2], a[3], s); });
}

template <class Real>
void HostBatch<Real>::mass_matrix_inverse(std::ptrdiff_t states, const Real* q, Real* M_inv) {
  Impl& m = *impl_;
  const int nv = m.model.nv();
  m.run(states, {m.in("q", q, m.model.nq()), m.out("M_inv", M_inv, nv * nv)},
        [](Batch<Real>& b, std::ptrdiff_t n, Array<Real>* a, Stream s) { b.mass_matrix_inverse(n, a[0], a[1], s); });
}

template <class Real>
void HostBatch<Real>::rnea_derivatives(std::ptrdiff_t states, const Real* q, const Real* v, const Real* vdot, Real* dq,
                                       Real* dv, Real* da) {
  Impl& m = *impl_;
  const int nv = m.model.nv();
  m.run(states,
        {m.in("q", q, m.model.nq()), m.in("v", v, nv), m.in("vdot", vdot, nv), m.out("dq", dq, nv * nv),
         m.out("dv", dv, nv * nv), m.out("da", da, nv * nv)},
        [](Batch<Real>& b, std::ptrdiff_t n, Array<Real>* a, Stream s) {
          b.rnea_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], s);
        });
}

template <class Real>
void HostBatch<Real>::aba_derivatives(std::ptrdiff_t states, const Real* q, const Real* v, const Real* tau, Real* vdot,
                                      Real* dq, Real* dv, Real* dtau) {
  Impl& m = *impl_;
  const int nv = m.model.nv();
  m.run(states,
        {m.in("q", q, m.model.nq()), m.in("v", v, nv), m.in("tau", tau, nv), m.out("vdot", vdot, nv),
         m.out("dq", dq, nv * nv), m.out("dv", dv, nv * nv), m.out("dtau", dtau, nv * nv)},
        [](Batch<Real>& b, std::ptrdiff_t n, Array<Real>* a, Stream s) {
          b.aba_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], a[6], s);
        });
}

template class HostBatch<float>;
template class HostBatch<double>;

}  // namespace kansetsu::batch::cuda
