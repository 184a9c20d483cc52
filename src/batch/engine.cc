#include "batch/engine.h"

#include <fmt/format.h>

#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/is_rotation.h"
#include "model/limbs.h"

namespace kansetsu::batch {
namespace {

int worker_count(int threads) {
  if (threads < 0) throw Error(fmt::format("batch: threads is {}, expected 0 (all cores) or more", threads));
  return threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()));
}

kernel::ConstantCounts count_constants(const Tree& tree) {
  return {tree.body_count(), int(tree.rows.size()), int(tree.terms.size()), int(tree.group_gamma.size()),
          tree.nodes ? int(tree.nodes->whole.nodes.size()) : 0};
}

int depth_of(const Tree& tree) {
  std::vector<int> depth;
  for (const Body& body : tree.bodies) depth.push_back(body.parent < 0 ? 1 : 1 + depth[size_t(body.parent)]);
  return depth.empty() ? 0 : *std::ranges::max_element(depth);
}

/// Up to this size of a worker's memory, matrices included, all of it is allocated at once, so that no call allocates: models of up to
/// some 500 columns. It takes no physical memory before it is used. Beyond, memory for matrices waits for the first call with one:
/// forward dynamics of 10 000 links must not need gigabytes.
constexpr std::size_t kReadyBytes = std::size_t(64) << 20;

/// The numbers of a matrix in packs of up to 16 states are counted in int: 16·nv² < 2³¹. A matrix of doubles then has 1 GB.
constexpr int kMostMatrixColumns = 11585;

/// Outputs of derivatives of forward dynamics: three matrices, v̇ and inputs of single states.
std::size_t matrix_numbers(int nv) {
  const std::size_t n = size_t(nv);
  return 3 * n * n + 3 * n;
}

std::vector<int> quaternions_of(const std::vector<kernel::CoordinateStretch>& stretches) {
  std::vector<int> out;
  for (const kernel::CoordinateStretch& s : stretches) {
    if (s.kind != s.kVector) out.push_back(s.kind == s.kFree ? s.q + 3 : s.q);
  }
  return out;
}

/// The stride in numbers, if rows of that size can have it.
template <class T>
std::ptrdiff_t checked_stride(const char* function, const char* name, const Rows<T>& rows, int size,
                              std::ptrdiff_t count) {
  if (count < 0) throw Error(fmt::format("batch {}: the count is {}, expected 0 or more", function, count));
  if (size == 0 || count == 0) return size;
  if (!rows.data) {
    throw Error(fmt::format("batch {}: {} is null, expected {} rows of {} numbers", function, name, count, size));
  }
  if (rows.stride == Rows<T>::kContiguous) return size;
  const bool one_for_all = std::is_const_v<T> && rows.stride == 0;
  if (count == 1 || one_for_all || rows.stride >= size || rows.stride <= -size) return rows.stride;
  throw Error(fmt::format("batch {}: {} has row stride {}, but rows of {} numbers must not overlap", function, name,
                          rows.stride, size));
}

}  // namespace

template <class Real>
Engine<Real>::Engine(const Model& m, const Options& o)
    : model(m),
      options(o),
      layout(kernel::batch_packs<Real>()),
      kinematics(kernel::kinematics_packs<Real>()),
      dynamics(kernel::dynamics_packs<Real>()),
      varied(kernel::varied_packs<Real>()),
      width(layout.width),
      nq(m.nq()),
      nv(m.nv()),
      links(m.link_count()),
      bodies(m.tree().body_count()),
      depth(depth_of(m.tree())),
      orders(m, width),
      stretches(coordinate_stretches(m)),
      quaternions(quaternions_of(stretches)),
      counts_(count_constants(m.tree())),
      constants_(make_aligned(kernel::copied_size<Real>(counts_))),
      tree(kernel::copy_tree<Real>(m.tree().view(), counts_, constants_.get())),
      pool_(worker_count(o.threads)) {
  for (int w = 0; w < pool_.workers(); ++w) {
    varied_trees_.push_back(make_aligned(varied.tree_size(counts_)));
    varied.make_tree(model.tree().view(), counts_, varied_trees_.back().get());
  }
  if (bytes(matrix_numbers(nv)) <= kReadyBytes) {
    use_matrices("Batch");
  } else {  // the largest outputs: columns of a Jacobian, or a configuration and velocities
    allocate(7 * std::size_t(nv), std::max({nq, 12 * links, 6 * nv}));
  }
}

template <class Real>
void Engine<Real>::use_matrices(const char* function) {
  if (matrices_) return;
  if (nv > kMostMatrixColumns) {
    throw Error(fmt::format("batch {}: the model '{}' has {} velocities, but matrices are limited to {}", function,
                            model.name(), nv, kMostMatrixColumns));
  }
  matrices_.emplace(model, width);
  allocate(matrix_numbers(nv), std::max({nq, 12 * links, 6 * nv, nv * nv}));
}

template <class Real>
std::size_t Engine<Real>::bytes(std::size_t outputs) const {
  const std::size_t b = size_t(bodies), l = size_t(links), n = size_t(nv);
  const std::size_t in = size_t(nq) + 3 * n + 16 * l;  // of the functions with the most inputs
  const std::size_t out = outputs + 12 * (b + l) + 1;
  const std::size_t between = 18 * b;  // poses and wrenches of the bodies
  const std::size_t packs = in + out + between + scratch_size(model.tree());
  constexpr std::size_t kLines = 32 * 64;  // arrays begin on cache lines
  return packs * size_t(width) * sizeof(Real) + kLines;
}

template <class Real>
void Engine<Real>::allocate(std::size_t outputs, int longest_row) {
  spare_size_ = longest_row;
  memory_.clear();
  for (int w = 0; w < pool_.workers(); ++w)
    memory_.push_back(make_aligned(bytes(outputs) + size_t(longest_row) * sizeof(Real)));
}

template <class Real>
void Engine<Real>::First::report(std::ptrdiff_t number) {
  std::ptrdiff_t known = first_.load();
  while (number < known && !first_.compare_exchange_weak(known, number)) {
  }
}

template <class Real>
void Engine<Real>::check(const char* function, std::ptrdiff_t count, Input<Real>& in) const {
  if (in.given()) in.rows.stride = checked_stride(function, in.name, in.rows, in.size, count);
}
template <class Real>
void Engine<Real>::check(const char* function, std::ptrdiff_t count, Output<Real>& out) const {
  if (out.given()) out.rows.stride = checked_stride(function, out.name, out.rows, out.size, count);
}

template <class Real>
Real* Engine<Real>::gather(const Input<Real>& in, std::ptrdiff_t count, std::ptrdiff_t block, Carver<Real>& memory,
                           Problems& problems) const {
  if (!in.given()) return nullptr;
  Real* packs = take(memory, in.size);
  const std::ptrdiff_t first = block * width;
  const int states = int(std::min<std::ptrdiff_t>(width, count - first));
  const bool finite = layout.gather({in.rows.data + first * in.rows.stride, in.rows.stride, states}, in.size, packs);
  if (!finite) problems.non_finite.report(block);
  return packs;
}

template <class Real>
Block<Real> Engine<Real>::gather_extras(const ExtraInputs& in, const Real* q, std::ptrdiff_t count,
                                        std::ptrdiff_t block, int worker, Carver<Real>& memory,
                                        Problems& problems) const {
  Block<Real> out;
  if (const Real* wrenches = gather(in.wrenches, count, block, memory, problems)) {
    Real* fext = take(memory, 6 * bodies);
    Real* X_WB = take(memory, 12 * bodies);
    kinematics.poses(tree, q, memory.rest(), X_WB);
    layout.body_wrenches(model.tree().links.data(), links, bodies, X_WB, wrenches, fext);
    out.fext = fext;
  }
  if (const Real* parameters = gather(in.inertias, count, block, memory, problems)) {
    out.varied = varied_trees_[size_t(worker)].get();
    const bool accepted = varied.set_inertias(model.tree().links.data(), links, parameters, out.varied);
    if (!accepted) problems.stray_inertia.report(block);
  }
  return out;
}

template <class Real>
kernel::BlockRows<Real> Engine<Real>::rows_of(const Output<Real>& out, std::ptrdiff_t count,
                                              std::ptrdiff_t block) const {
  if (!out.given()) return {nullptr, 0, 0};
  const std::ptrdiff_t first = block * width;
  const int states = int(std::min<std::ptrdiff_t>(width, count - first));
  return {out.rows.data + first * out.rows.stride, out.rows.stride, states};
}

template <class Real>
void Engine<Real>::scatter(const Output<Real>& out, const Real* packs, std::ptrdiff_t count, std::ptrdiff_t block,
                           Real* spare) const {
  if (out.given() && out.packs > 0) {
    layout.scatter(packs, out.order, out.size, rows_of(out, count, block), spare);
  }
}

template <class Real>
void Engine<Real>::throw_non_finite(const char* function, const Input<Real>& in, std::ptrdiff_t count,
                                    std::ptrdiff_t block) const {
  if (!in.given()) return;
  for (std::ptrdiff_t s = block * width; s < std::min(count, (block + 1) * width); ++s) {
    const Real* row = in.rows.data + s * in.rows.stride;
    for (int k = 0; k < in.size; ++k) {
      if (std::isfinite(row[k])) continue;
      throw Error(
          fmt::format("batch {}: {}[{}] of state {} is {}, expected finite numbers; all other states are computed",
                      function, in.name, k, s, row[k]));
    }
  }
}

template <class Real>
void Engine<Real>::throw_no_rotation(const char* function, const Input<Real>& q, std::ptrdiff_t state) const {
  const Real* row = q.rows.data + state * q.rows.stride;
  std::string which = "a quaternion";  // results may have overwritten it, usually by nan
  for (const int at : quaternions) {
    if (is_rotation(Quaternion<Real>{row[at], row[at + 1], row[at + 2], row[at + 3]})) continue;
    which = fmt::format("the quaternion q[{}:{}]", at, at + 4);
    break;
  }
  throw Error(
      fmt::format("batch {}: {} of state {} is no rotation: its length is zero, or no number holds its "
                  "square; all other states are computed",
                  function, which, state));
}

template <class Real>
void Engine<Real>::throw_stray_inertia(const char* function, const Input<Real>& in, std::ptrdiff_t count,
                                       std::ptrdiff_t block) const {
  const Tree& t = model.tree();
  for (std::ptrdiff_t s = block * width; s < std::min(count, (block + 1) * width); ++s) {
    for (int l = 0; l < links; ++l) {
      const int body = t.links[size_t(l)].body;
      if (body < 0 || !t.bodies[size_t(body)].massless) continue;
      const Real* p = in.rows.data + s * in.rows.stride + 10 * l;
      if (std::all_of(p, p + 10, [](Real x) { return x == 0; })) continue;
      throw Error(
          fmt::format("batch {}: the inertias of state {} give a mass to link '{}', which has none in the model "
                      "'{}' and is merged with others; give it one there, however small",
                      function, s, model.link(LinkId(l)).name, model.name()));
    }
  }
}

template class Engine<double>;
template class Engine<float>;

}  // namespace kansetsu::batch
