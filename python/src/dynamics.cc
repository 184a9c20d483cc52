#include <algorithm>
#include <array>

#include "device.h"
#include "inputs.h"

/// Inverse and forward dynamics, for one state and for rows of states.
namespace kansetsu::python {
namespace {

Floats py_rnea(ModelHandle& m, Like q, Like v, Like vdot, Like external, int threads, Device device, Out given) {
  if (goes_to_device(device, q)) {
    require_none("rnea", "external", external);
    require_none("rnea", "out", given);
    return call_device("rnea", m, device, q, v, vdot);
  }
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("rnea", m.model);
    const auto Q = in.q(q), V = in.tangent("v", v), A = in.tangent("vdot", vdot), W = in.wrenches(external);
    const int nv = m.model.nv();
    NewArray<Real> out = in.result({nv}, given);
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one()) {
        auto s = m.scratch();
        rnea(m.model, load(*s, Q, V), map(A.data, nv), s->work, map(out.data, nv), load(*s, W));
        return out.object;
      }
    }
    m.with_batch<Real>(threads, [&](auto& batch) { batch.rnea(in.count(), Q, V, A, out.data, {.wrenches = W}); });
    return out.object;
  });
}

Floats py_bias(ModelHandle& m, Like q, Like v, Like external, int threads, Device device, Out given) {
  if (goes_to_device(device, q)) {
    require_none("bias", "external", external);
    require_none("bias", "out", given);
    return call_device("rnea", m, device, q, v, nb::none());
  }
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("bias", m.model);
    const auto Q = in.q(q), V = in.tangent("v", v), A = in.tangent("vdot", nb::none()), W = in.wrenches(external);
    const int nv = m.model.nv();
    NewArray<Real> out = in.result({nv}, given);
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one()) {
        auto s = m.scratch();
        rnea(m.model, load(*s, Q, V), map(A.data, nv), s->work, map(out.data, nv), load(*s, W));
        return out.object;
      }
    }
    m.with_batch<Real>(threads, [&](auto& batch) { batch.bias(in.count(), Q, V, out.data, {.wrenches = W}); });
    return out.object;
  });
}

Floats py_gravity_torque(ModelHandle& m, Like q, int threads, Device device, Out given) {
  return py_bias(m, q, nb::none(), nb::none(), threads, device, given);
}

Floats py_coriolis_matrix(ModelHandle& m, Like q, Like v) {
  Inputs<double> in("coriolis_matrix", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v);
  auto s = m.scratch();
  const int nv = m.model.nv();
  return in.each({nv, nv}, [&](std::ptrdiff_t i, double* out) {
    coriolis_matrix(m.model, load(*s, Q, V, i), s->work, Eigen::Map<Eigen::MatrixXd>(out, nv, nv));
    transpose_square(out, nv);
  });
}

Floats py_crba(ModelHandle& m, Like q, Like inertias, int threads, Device device, Out given) {
  if (goes_to_device(device, q)) {
    require_none("crba", "inertias", inertias);
    require_none("crba", "out", given);
    return call_device("crba", m, device, q);
  }
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("crba", m.model);
    const auto Q = in.q(q), I = in.inertias(inertias);
    const int nv = m.model.nv();
    NewArray<Real> out = in.result({nv, nv}, given);
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one() && !I.data) {
        auto s = m.scratch();
        crba(m.model, map(Q.data, m.model.nq()), s->work, Eigen::Map<Eigen::MatrixXd>(out.data, nv, nv));  // symmetric
        return out.object;
      }
    }
    const std::ptrdiff_t count = in.one() ? 1 : in.count();
    m.with_batch<Real>(threads, [&](auto& batch) { batch.crba(count, Q, out.data, I); });
    return out.object;
  });
}

[[noreturn]] void raise_singular(const Model& model, const double* singular, std::ptrdiff_t state) {
  const std::vector<std::string> joints = singular_joints(model, map(singular, model.nv()));
  std::string names;
  for (const std::string& j : joints) names += (names.empty() ? "" : ", ") + j;
  const std::string where = state < 0 ? "" : fmt::format("state {}: ", state);
  raise_error(
      "SingularError",
      fmt::format(
          "aba: {}nothing resists the motion of {}: its acceleration is undetermined; singular='zero' sets it to zero",
          where, names));
}

/// The first singular state and its marks; -1 if there is none. A singular coordinate gets an acceleration of exactly zero, which is
/// rare otherwise: only states with a zero are computed again, with marks.
template <class Real>
std::ptrdiff_t find_singular(batch::Batch<Real>& batch, std::ptrdiff_t count,
                             const std::array<const RowsArgument<Real>*, 4>& inputs, const Real* vdot,
                             std::vector<double>& marks) {
  constexpr std::ptrdiff_t kTogether = 256;
  const auto nv = std::ptrdiff_t(marks.size());
  const auto has_zero = [&](std::ptrdiff_t i) {
    const Real *row = vdot + i * nv, *end = row + nv;
    return std::find(row, end, Real(0)) != end;
  };
  std::vector<Real> again, found;
  for (std::ptrdiff_t first = 0; first < count; ++first) {
    if (!has_zero(first)) continue;
    std::ptrdiff_t end = first + 1;
    while (end < count && end - first < kTogether && has_zero(end)) ++end;
    const std::ptrdiff_t some = end - first;
    again.resize(size_t(some * nv)), found.resize(size_t(some * nv));
    const auto from = [&](size_t i) { return batch::Rows<const Real>(inputs[i]->row(first), inputs[i]->stride); };
    batch.aba(some, from(0), from(1), from(2), again.data(),
              {.wrenches = inputs[3]->data ? from(3) : batch::Rows<const Real>()}, found.data());
    const auto mark = std::find_if(found.begin(), found.end(), [](Real x) { return x != 0; });
    if (mark != found.end()) {
      const std::ptrdiff_t state = (mark - found.begin()) / nv;
      std::copy_n(found.begin() + state * nv, nv, marks.begin());
      return first + state;
    }
    first = end - 1;
  }
  return -1;
}

enum class Singular { kRaise, kZero };
constexpr Word<Singular> kSingularWords[] = {{"raise", Singular::kRaise}, {"zero", Singular::kZero}};

Floats py_aba(ModelHandle& m, Like q, Like v, Like tau, Like external, int threads, const char* singular, Device device,
              Out given) {
  if (goes_to_device(device, q)) {
    require_none("aba", "external", external);
    require_none("aba", "out", given);
    return call_device("aba", m, device, q, v, tau);
  }
  const Singular mode = singular[0] == 'r' && singular[1] == 'a' && std::string_view(singular) == "raise"
                            ? Singular::kRaise
                            : read_word("aba: singular", singular, kSingularWords);
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("aba", m.model);
    const auto Q = in.q(q), V = in.tangent("v", v), T = in.tangent("tau", tau), W = in.wrenches(external);
    const int nv = m.model.nv();
    NewArray<Real> out = in.result({nv}, given);
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one()) {
        auto s = m.scratch();
        aba(m.model, load(*s, Q, V), map(T.data, nv), s->work, s->aba, load(*s, W));
        if (s->aba.status == Status::kSingular && mode == Singular::kRaise)
          raise_singular(m.model, s->aba.singular.data(), -1);
        map(out.data, nv) = s->aba.vdot;
        return out.object;
      }
    }
    std::ptrdiff_t state = -1;
    std::vector<double> marks(mode == Singular::kRaise ? size_t(nv) : 0);
    m.with_batch<Real>(threads, [&](auto& batch) {
      const bool zero = batch.aba(in.count(), Q, V, T, out.data, {.wrenches = W});
      if (zero && mode == Singular::kRaise)
        state = find_singular<Real>(batch, in.count(), {&Q, &V, &T, &W}, out.data, marks);
    });
    if (state >= 0) raise_singular(m.model, marks.data(), state);
    return out.object;
  });
}

Floats py_solve_mass_matrix(ModelHandle& m, Like q, Like x) {
  Inputs<double> in("solve_mass_matrix", m.model);
  const auto Q = in.q(q), X = in.tangent("x", x, false);
  auto s = m.scratch();
  const int nq = m.model.nq(), nv = m.model.nv();
  return in.each({nv}, [&](std::ptrdiff_t i, double* out) {
    solve_mass_matrix(m.model, map(Q.row(i), nq), map(X.row(i), nv), s->work, s->aba);
    map(out, nv) = s->aba.vdot;
  });
}

Floats py_regressor(ModelHandle& m, Like q, Like v, Like vdot) {
  Inputs<double> in("regressor", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v), A = in.tangent("vdot", vdot);
  auto s = m.scratch();
  const int nv = m.model.nv(), columns = 10 * m.model.link_count();
  Eigen::MatrixXd Y(nv, columns);
  return in.each({nv, columns}, [&](std::ptrdiff_t i, double* out) {
    regressor(m.model, load(*s, Q, V, i), map(A.row(i), nv), s->work, Y);
    RowMatrixMap(out, nv, columns) = Y;
  });
}

Floats py_reactions(ModelHandle& m, Like q, Like v, Like vdot, Like external) {
  Inputs<double> in("reactions", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v), A = in.tangent("vdot", vdot), W = in.wrenches(external);
  auto s = m.scratch();
  Reactions reaction(m.model);
  const int nv = m.model.nv(), links = m.model.link_count();
  return in.each({links, 6}, [&](std::ptrdiff_t i, double* out) {
    reactions(m.model, load(*s, Q, V, i), map(A.row(i), nv), s->work, reaction, load(*s, W, i));
    for (int k = 0; k < links; ++k)
      put(reaction.wrench[size_t(k)].t, out + 6 * k), put(reaction.wrench[size_t(k)].f, out + 6 * k + 3);
  });
}

}  // namespace

void bind_dynamics(nb::module_& module) {
  module.def("rnea", py_rnea, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             nb::arg("vdot").none() = nb::none(), nb::kw_only(), nb::arg("external").none() = nb::none(),
             nb::arg("threads") = 0, DEVICE, OUT,
             "Inverse dynamics: tau = M(q) vdot + c(q, v) - J^T f, by the recursive Newton-Euler algorithm.\n\n"
             "q is (nq,) or (N, nq), the others (nv,) or (N, nv); omitted ones are zero. external: wrenches "
             "[torque, force] on the links\n"
             "at their origins in world axes, (links, 6) or (N, links, 6). Rows of float32 are computed in float32. "
             "threads: 0 is one per core.\n"
             "device: 'cuda' computes rows there; tensors of a CUDA device always are, and give such tensors. out: an "
             "array for "
             "the result, which is\nreturned then: loops over many rows save the time that new memory takes.");
  module.def("bias", py_bias, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(), nb::kw_only(),
             nb::arg("external").none() = nb::none(), nb::arg("threads") = 0, DEVICE, OUT,
             "c(q, v): the torque that holds vdot = 0.");
  module.def("gravity_torque", py_gravity_torque, nb::arg("model"), nb::arg("q"), nb::kw_only(), nb::arg("threads") = 0,
             DEVICE, OUT, "The torque that holds the configuration at rest.");
  module.def("coriolis_matrix", py_coriolis_matrix, nb::arg("model"), nb::arg("q"), nb::arg("v"),
             "C(q, v), nv x nv, with C v = c - gravity_torque and dM/dt - 2C skew.");
  module.def(
      "crba", py_crba, nb::arg("model"), nb::arg("q"), nb::kw_only(), nb::arg("inertias").none() = nb::none(),
      nb::arg("threads") = 0, DEVICE, OUT,
      "Mass matrix, nv x nv, by the composite-rigid-body algorithm.\n\n"
      "inertias: other mass properties, (links, 10) or (N, links, 10), ordered as inertial_parameters() has them.");
  module.def("aba", py_aba, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             nb::arg("tau").none() = nb::none(), nb::kw_only(), nb::arg("external").none() = nb::none(),
             nb::arg("threads") = 0, nb::arg("singular") = "raise", DEVICE, OUT,
             "Forward dynamics: the acceleration vdot for given torques, by the articulated-body algorithm; gears "
             "exact, O(n).\n\n"
             "Arguments as in rnea(). If nothing resists a coordinate, SingularError is raised; with singular='zero', "
             "and on a device, its vdot is zero.");
  module.def("solve_mass_matrix", py_solve_mass_matrix, nb::arg("model"), nb::arg("q"), nb::arg("x"),
             "M(q)^-1 x in O(n), without M.");
  module.def("regressor", py_regressor, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             nb::arg("vdot").none() = nb::none(),
             "Y with rnea(q, v, vdot) = Y pi (rotors apart): nv x 10 links, pi = inertial_parameters(model).");
  module.def("reactions", py_reactions, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             nb::arg("vdot").none() = nb::none(), nb::kw_only(), nb::arg("external").none() = nb::none(),
             "The wrench [torque, force] that its parent exerts on each link through the joint, in the link's frame: "
             "(links, 6).");
  module.def(
      "inertial_parameters",
      [](const ModelHandle& m) {
        const Eigen::VectorXd pi = inertial_parameters(m.model);
        NewArray<double> out = new_array({m.model.link_count(), 10});
        map(out.data, pi.size()) = pi;
        return out.object;
      },
      nb::arg("model"), "Per link [m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about and in its frame: (links, 10).");
}

}  // namespace kansetsu::python
