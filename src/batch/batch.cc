#include "kansetsu/batch/batch.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "batch/engine.h"
#include "kansetsu/base/error.h"
#include "kansetsu/base/owner.h"

/// Each function names its inputs, its outputs and its kernel.
namespace kansetsu::batch {
namespace {

/// Columns of v from which on M⁻¹ and the derivatives of forward dynamics are computed one state at a time. Measured with
/// AVX-512 (Zen 4) on chains of 8 and 16 joints, a quadruped of 18 columns and humanoids of 34 and more; the derivatives of
/// inverse dynamics are faster in packs.
constexpr int kInverseByStates = 12, kForwardDynamicsByStates = 18;

}  // namespace

template <class Real>
struct Batch<Real>::Impl : Engine<Real> {
  using Engine<Real>::Engine;

  Input<Real> positions(In q) const { return {"q", q, this->nq}; }
  Input<Real> vector(const char* name, In x) const { return {name, x, this->nv}; }
  Output<Real> positions(const char* name, Out x) const { return {name, x, this->nq, this->nq}; }
  Output<Real> vector(const char* name, Out x) const { return {name, x, this->nv, this->nv}; }
  Output<Real> columns(const char* name, Out x) const {
    return {name, x, 6 * this->nv, 6 * this->nv, this->orders.columns.data()};
  }
  Output<Real> matrix(const char* name, Out x) const {
    return {name, x, this->nv * this->nv, this->nv * this->nv, this->matrices().square.data()};
  }
  template <class Item>
  static Item optional(Item item) {
    item.optional = true;
    return item;
  }

  /// M⁻¹ as packs, column by column.
  void invert(const Real* q, void* scratch, Real* out) const {
    Carver<Real> memory(scratch);
    Real* singular = memory.template take<Real>(this->nv * this->width);
    this->dynamics.factorise(this->tree, q, memory.rest(), singular);
    this->dynamics.inverse(this->tree, memory.rest(), out);
  }

  /// Whether large matrices are computed one state at a time: beyond a number of columns, a register full of columns of one
  /// state is faster than a column of a register full of states, which does not fit into the nearest cache. Never with gears.
  bool by_states(int columns) const {
    return sizeof(Real) == 8 && this->nv >= columns && this->model.tree().view().columns.ordered;
  }
  /// The same output, written by the kernel itself.
  static Output<Real> as_rows(Output<Real> item) {
    item.packs = 0;
    return item;
  }
  /// The n numbers of one state.
  const Real* lane(const Real* packs, int n, int i, Carver<Real>& memory) const {
    Real* out = memory.template take<Real>(n);
    for (int k = 0; k < n; ++k) out[k] = packs[k * this->width + i];
    return out;
  }
  /// From columns to rows.
  void put_transposed(const Real* from, Real* row) const {
    const int n = this->nv;
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) row[r * n + c] = from[c * n + r];
    }
  }
  /// Calls make(i, memory) for the states i of a block.
  template <class Make>
  static void for_each_state(const Block<Real>& block, const Make& make) {
    for (int i = 0; i < block.rows[0].count; ++i) make(i, Carver<Real>(block.scratch));
  }

  static void check_time(const char* function, Real dt) {
    if (!std::isfinite(dt)) throw Error(fmt::format("batch {}: dt is {}, expected a finite time", function, dt));
  }

  /// For functions that divide by projected inertias.
  void check_depth(const char* function) const {
    if (sizeof(Real) == 8 || this->depth <= this->options.single_depth) return;
    throw Error(
        fmt::format("batch {}: the tree of '{}' is {} joints deep, and single precision is trusted to {}; use "
                    "Batch<double>, or raise Options::single_depth (docs/theory/single_precision.md)",
                    function, this->model.name(), this->depth, this->options.single_depth));
  }

  /// vdot may be left out, then zero.
  void inverse_dynamics(const char* function, std::ptrdiff_t count, In q, In v, const Input<Real>& vdot,
                        const Output<Real>& tau, const Extras<Real>& extras) {
    this->run(function, count, extras, std::array{positions(q), vector("v", v), vdot}, std::array{tau},
              [&](const Block<Real>& block, const Real* bq, const Real* bv, const Real* ba, Real* out) {
                if (block.varied) {
                  this->varied.rnea(block.varied, bq, bv, ba, block.fext, block.scratch, out);
                } else {
                  this->dynamics.rnea(this->tree, bq, bv, ba, block.fext, block.scratch, out, nullptr);
                }
              });
  }
};

template <class Real>
Batch<Real>::Batch(const Model& model, const Options& options) : impl_(std::make_unique<Impl>(model, options)) {}

template <class Real>
const Model& Batch<Real>::model() const {
  return impl_->model;
}
template <class Real>
int Batch<Real>::threads() const {
  return impl_->workers();
}

template <class Real>
void Batch<Real>::fk(std::ptrdiff_t count, In q, Out X_WL) {
  Impl& in = *impl_;
  const std::vector<int>& moved = in.orders.moved_links;
  const LinkPlacement* links = in.model.tree().links.data();
  if (in.tree.nodes && in.links > 0) {
    const kernel::LinksOfBodies of_bodies{links, in.orders.links_begin.data(), in.orders.links_of_bodies.data()};
    in.run("fk", count, {}, std::array{in.positions(q)}, std::array{Output<Real>{"X_WL", X_WL, 12 * in.links, 0}},
           [&](const Block<Real>& block, const Real* bq, Real*) {
             in.layout.link_pose_rows(in.tree, of_bodies, bq, block.scratch, block.rows[0], block.spare);
           });
    return;
  }
  const Output<Real> poses{"X_WL", X_WL, 12 * in.links, 12 * (in.bodies + int(moved.size())), in.orders.poses.data()};
  in.run("fk", count, {}, std::array{in.positions(q)}, std::array{poses},
         [&](const Block<Real>& block, const Real* bq, Real* X_WB) {
           in.kinematics.poses(in.tree, bq, block.scratch, X_WB);
           in.layout.link_poses(links, moved.data(), int(moved.size()), X_WB, X_WB + 12 * in.bodies * in.width);
         });
}

template <class Real>
void Batch<Real>::joint_axes(std::ptrdiff_t count, In q, Out S) {
  Impl& in = *impl_;
  in.run("joint_axes", count, {}, std::array{in.positions(q)}, std::array{in.columns("S", S)},
         [&](const Block<Real>& block, const Real* bq, Real* out) {
           in.kinematics.subspaces(in.tree, bq, block.scratch, out);
         });
}

template <class Real>
void Batch<Real>::jacobian(std::ptrdiff_t count, In q, LinkId link, const Transform<>& X_LF, JacobianAxes axes, Out J) {
  Impl& in = *impl_;
  if (link.value() < 0 || link.value() >= in.links) {
    throw Error("batch jacobian: the model '" + in.model.name() + "' has no link " + std::to_string(link.value()));
  }
  const LinkPlacement& placement = in.model.tree().links[size_t(link.value())];
  const Transform<> X_BF = placement.X_BL * X_LF;
  in.run("jacobian", count, {}, std::array{in.positions(q)}, std::array{in.columns("J", J)},
         [&](const Block<Real>& block, const Real* bq, Real* out) {
           in.kinematics.jacobian(in.tree, bq, nullptr, placement.body, X_BF, axes, block.scratch, out, nullptr);
         });
}

template <class Real>
void Batch<Real>::rnea(std::ptrdiff_t count, In q, In v, In vdot, Out tau, const Extras<Real>& extras) {
  impl_->inverse_dynamics("rnea", count, q, v, impl_->vector("vdot", vdot), impl_->vector("tau", tau), extras);
}
template <class Real>
void Batch<Real>::bias(std::ptrdiff_t count, In q, In v, Out c, const Extras<Real>& extras) {
  impl_->inverse_dynamics("bias", count, q, v, Impl::optional(impl_->vector("vdot", In{})), impl_->vector("c", c),
                          extras);
}

template <class Real>
void Batch<Real>::crba(std::ptrdiff_t count, In q, Out M, In inertias) {
  Impl& in = *impl_;
  in.use_matrices("crba");
  const int values = in.matrices().values;
  const int* slot = in.matrices().slots.data();
  const Output<Real> matrix{"M", M, in.nv * in.nv, values + 1, in.matrices().mass_matrix.data()};
  in.run("crba", count, {.inertias = inertias}, std::array{in.positions(q)}, std::array{matrix},
         [&](const Block<Real>& block, const Real* bq, Real* out) {
           std::fill_n(out + values * in.width, in.width, Real(0));
           if (block.varied) {
             in.varied.crba_sparse(block.varied, bq, block.scratch, slot, values, out);
           } else {
             in.dynamics.crba_sparse(in.tree, bq, block.scratch, slot, values, out);
           }
         });
}

template <class Real>
bool Batch<Real>::aba(std::ptrdiff_t count, In q, In v, In tau, Out vdot, const Extras<Real>& extras, Out singular) {
  Impl& in = *impl_;
  in.check_depth("aba");
  std::atomic<bool> zero = false;
  in.run("aba", count, extras, std::array{in.positions(q), in.vector("v", v), in.vector("tau", tau)},
         std::array{in.vector("vdot", vdot), Impl::optional(in.vector("singular", singular))},
         [&](const Block<Real>& block, const Real* bq, const Real* bv, const Real* bt, Real* out, Real* flags) {
           if (!singular.data) flags = nullptr;
           if (block.varied) {
             in.varied.aba(block.varied, bq, bv, bt, block.fext, block.scratch, out, flags);
           } else {
             in.dynamics.aba(in.tree, bq, bv, bt, block.fext, block.scratch, out, flags);
           }
           if (in.layout.has_zero(out, in.nv)) zero.store(true, std::memory_order_relaxed);  // still in the cache
         });
  return zero;
}

template <class Real>
void Batch<Real>::mass_matrix_inverse(std::ptrdiff_t count, In q, Out out) {
  Impl& in = *impl_;
  in.check_depth("mass_matrix_inverse");
  in.use_matrices("mass_matrix_inverse");
  if constexpr (sizeof(Real) == 8) {
    if (in.by_states(kInverseByStates)) {
      in.run("mass_matrix_inverse", count, {}, std::array{in.positions(q)},
             std::array{Impl::as_rows(in.matrix("the result", out))},
             [&](const Block<Real>& block, const Real* bq, Real*) {
               Impl::for_each_state(block, [&](int i, Carver<Real> memory) {
                 const Real* q_i = in.lane(bq, in.nq, i, memory);
                 kernel::dynamics().mass_matrix_inverse(in.model.tree().view(), q_i, memory.rest(),
                                                        block.rows[0].at(i));
               });
             });
      return;
    }
  }
  in.run("mass_matrix_inverse", count, {}, std::array{in.positions(q)}, std::array{in.matrix("the result", out)},
         [&](const Block<Real>& block, const Real* bq, Real* M_inv) { in.invert(bq, block.scratch, M_inv); });
}

template <class Real>
void Batch<Real>::rnea_derivatives(std::ptrdiff_t count, In q, In v, In vdot, Out dq, Out dv, Out da) {
  Impl& in = *impl_;
  in.use_matrices("rnea_derivatives");
  in.run(
      "rnea_derivatives", count, {}, std::array{in.positions(q), in.vector("v", v), in.vector("vdot", vdot)},
      std::array{in.matrix("dq", dq), in.matrix("dv", dv), Impl::optional(in.matrix("da", da))},
      [&](const Block<Real>& block, const Real* bq, const Real* bv, const Real* ba, Real* by_q, Real* by_v, Real* M) {
        in.dynamics.rnea_derivatives(in.tree, bq, bv, ba, nullptr, block.scratch, by_q, by_v, da.data ? M : nullptr);
      });
}

template <class Real>
void Batch<Real>::aba_derivatives(std::ptrdiff_t count, In q, In v, In tau, Out dq, Out dv, Out dtau, Out vdot) {
  Impl& in = *impl_;
  in.check_depth("aba_derivatives");
  in.use_matrices("aba_derivatives");
  if constexpr (sizeof(Real) == 8) {
    if (in.by_states(kForwardDynamicsByStates)) {
      in.run(
          "aba_derivatives", count, {}, std::array{in.positions(q), in.vector("v", v), in.vector("tau", tau)},
          std::array{Impl::as_rows(in.matrix("dq", dq)), Impl::as_rows(in.matrix("dv", dv)),
                     Impl::as_rows(Impl::optional(in.matrix("dtau", dtau))), Impl::optional(in.vector("vdot", vdot))},
          [&](const Block<Real>& block, const Real* bq, const Real* bv, const Real* bt, Real*, Real*, Real*, Real* a) {
            in.dynamics.aba(in.tree, bq, bv, bt, nullptr, block.scratch, a, nullptr);
            Impl::for_each_state(block, [&](int i, Carver<Real> memory) {
              const Real *q_i = in.lane(bq, in.nq, i, memory), *v_i = in.lane(bv, in.nv, i, memory),
                         *a_i = in.lane(a, in.nv, i, memory);
              Real *by_q = memory.template take<Real>(in.nv * in.nv), *by_v = memory.template take<Real>(in.nv * in.nv);
              Real* M_inv = dtau.data ? block.rows[2].at(i) : memory.template take<Real>(in.nv * in.nv);
              kernel::dynamics().aba_derivatives(in.model.tree().view(), q_i, v_i, a_i, nullptr, memory.rest(), by_q,
                                                 by_v, M_inv);
              in.put_transposed(by_q, block.rows[0].at(i));
              in.put_transposed(by_v, block.rows[1].at(i));
            });
          });
      return;
    }
  }
  in.run("aba_derivatives", count, {}, std::array{in.positions(q), in.vector("v", v), in.vector("tau", tau)},
         std::array{in.matrix("dq", dq), in.matrix("dv", dv), Impl::optional(in.matrix("dtau", dtau)),
                    Impl::optional(in.vector("vdot", vdot))},
         [&](const Block<Real>& block, const Real* bq, const Real* bv, const Real* bt, Real* by_q, Real* by_v,
             Real* M_inv, Real* a) {
           in.dynamics.aba(in.tree, bq, bv, bt, nullptr, block.scratch, a, nullptr);
           in.invert(bq, block.scratch, M_inv);
           in.dynamics.rnea_derivatives(in.tree, bq, bv, a, nullptr, block.scratch, by_q, by_v, nullptr);
           in.dynamics.apply_inverse(in.tree, M_inv, block.scratch, by_q, by_v);
         });
}

template <class Real>
void Batch<Real>::integrate(std::ptrdiff_t count, In q, In v, Real dt, Out out) {
  Impl& in = *impl_;
  Impl::check_time("integrate", dt);
  in.run("integrate", count, {}, std::array{in.positions(q), in.vector("v", v)},
         std::array{in.positions("the result", out)},
         [&](const Block<Real>&, const Real* bq, const Real* bv, Real* to) {
           in.layout.integrate(in.stretches.data(), int(in.stretches.size()), bq, bv, dt, to);
         });
}

template <class Real>
void Batch<Real>::step(std::ptrdiff_t count, In q, In v, In vdot, Real dt, Out q_next, Out v_next) {
  Impl& in = *impl_;
  Impl::check_time("step", dt);
  in.run("step", count, {}, std::array{in.positions(q), in.vector("v", v), in.vector("vdot", vdot)},
         std::array{in.positions("q_next", q_next), in.vector("v_next", v_next)},
         [&](const Block<Real>&, const Real* bq, const Real* bv, const Real* ba, Real* to_q, Real* to_v) {
           in.layout.advance(in.nv, bv, ba, dt, to_v);
           in.layout.integrate(in.stretches.data(), int(in.stretches.size()), bq, to_v, dt, to_q);
         });
}

template class Batch<double>;
template class Batch<float>;

}  // namespace kansetsu::batch
