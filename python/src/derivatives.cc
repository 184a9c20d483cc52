#include "device.h"
#include "inputs.h"

/// Analytic derivatives; by q means in the tangent space, along integrate(q, d) at d = 0.
namespace kansetsu::python {
namespace {

Floats py_mass_matrix_inverse(ModelHandle& m, Like q, int threads, Device device) {
  if (goes_to_device(device, q)) return call_device("mass_matrix_inverse", m, device, q);
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("mass_matrix_inverse", m.model);
    const auto Q = in.q(q);
    const int nv = m.model.nv();
    NewArray<Real> out = in.result({nv, nv});
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one()) {
        auto s = m.scratch();
        mass_matrix_inverse(m.model, map(Q.data, m.model.nq()), s->work,
                            Eigen::Map<Eigen::MatrixXd>(out.data, nv, nv));  // symmetric
        return out.object;
      }
    }
    m.with_batch<Real>(threads, [&](auto& batch) { batch.mass_matrix_inverse(in.count(), Q, out.data); });
    return out.object;
  });
}

Tuple<Floats, Floats, Floats> py_rnea_derivatives(ModelHandle& m, Like q, Like v, Like vdot, int threads,
                                                  Device device) {
  if (goes_to_device(device, q)) return nb::cast<nb::tuple>(call_device("rnea_derivatives", m, device, q, v, vdot));
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("rnea_derivatives", m.model);
    const auto Q = in.q(q), V = in.tangent("v", v), A = in.tangent("vdot", vdot);
    const int nv = m.model.nv();
    NewArray<Real> dq = in.result({nv, nv}), dv = in.result({nv, nv}), da = in.result({nv, nv});
    const std::ptrdiff_t count = in.one() ? 1 : in.count();
    m.with_batch<Real>(threads,
                       [&](auto& batch) { batch.rnea_derivatives(count, Q, V, A, dq.data, dv.data, da.data); });
    return nb::make_tuple(dq.object, dv.object, da.object);
  });
}

Tuple<Floats, Floats, Floats, Floats> py_aba_derivatives(ModelHandle& m, Like q, Like v, Like tau, int threads,
                                                         Device device) {
  if (goes_to_device(device, q)) return nb::cast<nb::tuple>(call_device("aba_derivatives", m, device, q, v, tau));
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("aba_derivatives", m.model);
    const auto Q = in.q(q), V = in.tangent("v", v), T = in.tangent("tau", tau);
    const int nv = m.model.nv();
    NewArray<Real> dq = in.result({nv, nv}), dv = in.result({nv, nv}), dtau = in.result({nv, nv}),
                   vdot = in.result({nv});
    const std::ptrdiff_t count = in.one() ? 1 : in.count();
    m.with_batch<Real>(
        threads, [&](auto& batch) { batch.aba_derivatives(count, Q, V, T, dq.data, dv.data, dtau.data, vdot.data); });
    return nb::make_tuple(dq.object, dv.object, dtau.object, vdot.object);
  });
}

}  // namespace

void bind_derivatives(nb::module_& module) {
  module.def("mass_matrix_inverse", py_mass_matrix_inverse, nb::arg("model"), nb::arg("q"), nb::kw_only(),
             nb::arg("threads") = 0, DEVICE, "M(q)^-1 without forming M.");
  module.def("rnea_derivatives", py_rnea_derivatives, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             nb::arg("vdot").none() = nb::none(), nb::kw_only(), nb::arg("threads") = 0, DEVICE,
             "(dtau/dq, dtau/dv, dtau/dvdot = M), each nv x nv; by q in the tangent space.");
  module.def("aba_derivatives", py_aba_derivatives, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             nb::arg("tau").none() = nb::none(), nb::kw_only(), nb::arg("threads") = 0, DEVICE,
             "(dvdot/dq, dvdot/dv, dvdot/dtau = M^-1, vdot); by q in the tangent space.");
}

}  // namespace kansetsu::python
