#include <cmath>

#include "inputs.h"
#include "kansetsu/model/configuration.h"

/// The configuration space: adding velocities to positions, differences, rates.
namespace kansetsu::python {
namespace {

Floats py_integrate(ModelHandle& m, Like q, Like v, double dt, int threads) {
  if (!std::isfinite(dt)) raise_value(fmt::format("integrate: dt is {}, expected a finite number", dt));
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("integrate", m.model);
    const auto Q = in.q(q), V = in.tangent("v", v, false);
    NewArray<Real> out = in.result({m.model.nq()});
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one()) {
        const Eigen::VectorXd step = dt * map(V.data, m.model.nv());
        integrate(m.model, map(Q.data, m.model.nq()), step, map(out.data, m.model.nq()));
        return out.object;
      }
    }
    m.with_batch<Real>(threads, [&](auto& batch) { batch.integrate(in.count(), Q, V, Real(dt), out.data); });
    return out.object;
  });
}

Floats py_difference(ModelHandle& m, Like a, Like b) {
  Inputs<double> in("difference", m.model);
  const auto A = in.q(a, "a"), B = in.q(b, "b");
  const int nq = m.model.nq(), nv = m.model.nv();
  return in.each({nv}, [&](std::ptrdiff_t i, double* out) {
    difference(m.model, map(A.row(i), nq), map(B.row(i), nq), map(out, nv));
  });
}

Floats py_interpolate(ModelHandle& m, Like a, Like b, double s) {
  if (!std::isfinite(s)) raise_value(fmt::format("interpolate: s is {}, expected a finite number", s));
  Inputs<double> in("interpolate", m.model);
  const auto A = in.q(a, "a"), B = in.q(b, "b");
  const int nq = m.model.nq();
  return in.each({nq}, [&](std::ptrdiff_t i, double* out) {
    map(out, nq) = interpolate(m.model, map(A.row(i), nq), map(B.row(i), nq), s);
  });
}

Floats py_normalise(ModelHandle& m, Like q) {
  Inputs<double> in("normalise", m.model);
  const auto Q = in.any_q(q);
  const int nq = m.model.nq();
  return in.each({nq}, [&](std::ptrdiff_t i, double* out) {
    VectorMap x = map(out, nq);
    x = map(Q.row(i), nq);
    normalise(m.model, x);
  });
}

Floats py_position_rate(ModelHandle& m, Like q, Like v) {
  Inputs<double> in("position_rate", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v, false);
  const int nq = m.model.nq(), nv = m.model.nv();
  return in.each({nq}, [&](std::ptrdiff_t i, double* out) {
    position_rate(m.model, map(Q.row(i), nq), map(V.row(i), nv), map(out, nq));
  });
}

std::optional<std::string> py_configuration_problem(const ModelHandle& m, Like q) {
  const auto Q = read_rows<double>({"configuration_problem", "q", nullptr, &m.model}, q, m.model.nq());
  if (!Q.one()) raise_value("configuration_problem: q has rows, expected one configuration");
  return configuration_problem(m.model, map(Q.data, m.model.nq()));
}

}  // namespace

void bind_configuration(nb::module_& module) {
  module.def("integrate", py_integrate, nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("dt") = 1.0,
             nb::kw_only(), nb::arg("threads") = 0,
             "The configuration reached from q by the constant velocity v after the time dt.");
  module.def("difference", py_difference, nb::arg("model"), nb::arg("a"), nb::arg("b"),
             "The velocity v with integrate(a, v) = b.");
  module.def("interpolate", py_interpolate, nb::arg("model"), nb::arg("a"), nb::arg("b"), nb::arg("s"),
             "Between two configurations: a at s = 0, b at s = 1, along the shortest path.");
  module.def("normalise", py_normalise, nb::arg("model"), nb::arg("q"),
             "A copy with quaternions of unit length; zero quaternions become the identity.");
  module.def("position_rate", py_position_rate, nb::arg("model"), nb::arg("q"), nb::arg("v"),
             "Time derivative of the stored q for the velocity v, the four numbers of quaternions included.");
  module.def("configuration_problem", py_configuration_problem, nb::arg("model"), nb::arg("q"),
             "Why q is not a valid configuration (not finite, or a quaternion that is not of unit length); None if it "
             "is valid.");
}

}  // namespace kansetsu::python
