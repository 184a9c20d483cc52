#include "kansetsu/constraint/constrained.h"

#include <algorithm>

#include "inputs.h"
#include "world_words.h"

/// Dynamics under constraints, without a world.
namespace kansetsu::python {
namespace {

/// Python's Constraints: the names of one model, resolved to indices.
class ConstraintsHandle {
 public:
  explicit ConstraintsHandle(const ModelHandle& m) : model(m.model) {}

  void frame(const std::string& link, Like point, const std::optional<std::string>& to, Mask mask, Like axes,
             Like acceleration, Like restitution) {
    const char* function = "Constraints.frame";
    FrameConstraint c = constraint_on(model, link, point.is_none() ? Vec3<>{} : read_vec3({function, "point"}, point));
    c.mask = read_mask("Constraints.frame: mask", mask);
    if (to) c.a = model.link_id(*to);
    if (!axes.is_none()) c.axes = read_rotation({function, "axes"}, axes);
    const auto six = [&](const char* name, nb::handle value, std::array<double, 6>& out) {
      if (!value.is_none()) std::ranges::copy(read_numbers({function, name}, value, 6), out.begin());
    };
    six("acceleration", acceleration, c.acceleration);
    six("restitution", restitution, c.restitution);
    constraints.frames.push_back(c);
  }
  void coordinates(const DictOf<double>& ratios, double acceleration, double restitution) {
    CoordinateConstraint c{.acceleration = acceleration, .restitution = restitution};
    const auto names = model.dof_names();
    for (const auto [key, value] : ratios) {
      const auto name = nb::cast<std::string>(key);
      c.terms.push_back(
          {int(find_named("Constraints.coordinates", "coordinate", name, names)), nb::cast<double>(value)});
    }
    constraints.coordinates.push_back(std::move(c));
  }

  const Model model;
  Constraints constraints;
};

/// One state, its external wrenches and a workspace.
class ConstrainedCall {
 public:
  ConstrainedCall(const char* function, ModelHandle& m, const ConstraintsHandle& c, Like q, Like v)
      : model_(m.model), in_(function, m.model), scratch_(m.scratch()), work(m.model, c.constraints) {
    if (&c.model.tree() != &m.model.tree())
      raise_value(fmt::format("{}: the constraints were made for another model", function));
    const auto Q = in_.q(q), V = in_.tangent("v", v);
    one_state(Q.one() && V.one());
    load(*scratch_, Q, V);
  }
  const State& state() { return scratch_->state; }
  Eigen::VectorXd tangent(const char* name, nb::handle value) {
    const auto x = in_.tangent(name, value);
    one_state(x.one());
    return map(x.data, model_.nv());
  }
  const ExternalForces* external(nb::handle value) {
    const auto W = in_.wrenches(value);
    one_state(!W.data || W.one());
    return load(*scratch_, W);
  }
  void check(Status status, const Eigen::VectorXd& singular) const {
    if (status == Status::kNotFinite) raise_value(fmt::format("{}: the result is not finite", in_.function()));
    if (status == Status::kSingular)
      raise_error("SingularError", fmt::format("{}: nothing resists {}", in_.function(),
                                               fmt::join(singular_joints(model_, singular), ", ")));
  }

 private:
  void one_state(bool one) const {
    if (!one) raise_value(fmt::format("{}: expected one state, not rows of states", in_.function()));
  }
  const Model& model_;
  Inputs<double> in_;
  ModelHandle::Borrowed scratch_;

 public:
  ConstrainedWorkspace work;
};

ConstrainedMotion py_constrained_aba(ModelHandle& m, const ConstraintsHandle& c, Like q, Like v, Like tau,
                                     Like external) {
  ConstrainedCall call("constrained_aba", m, c, q, v);
  const Eigen::VectorXd t = call.tangent("tau", tau);
  ConstrainedMotion out(m.model, c.constraints);
  constrained_aba(m.model, call.state(), t, c.constraints, call.work, out, call.external(external));
  call.check(out.status, out.singular);
  return out;
}

ConstrainedImpulse py_constrained_impulse(ModelHandle& m, const ConstraintsHandle& c, Like q, Like v) {
  ConstrainedCall call("constrained_impulse", m, c, q, v);
  ConstrainedImpulse out(m.model, c.constraints);
  constrained_impulse(m.model, call.state(), c.constraints, call.work, out);
  call.check(out.status, out.singular);
  return out;
}

ConstrainedTorque py_constrained_rnea(ModelHandle& m, const ConstraintsHandle& c, Like q, Like v, Like vdot,
                                      const std::vector<std::string>& passive, Like external) {
  ConstrainedCall call("constrained_rnea", m, c, q, v);
  const Eigen::VectorXd a = call.tangent("vdot", vdot);
  const auto names = m.model.dof_names();
  std::vector<int> columns;
  for (const std::string& name : passive)
    columns.push_back(int(find_named("constrained_rnea: passive", "coordinate", name, names)));
  ConstrainedTorque out(m.model, c.constraints);
  constrained_rnea(m.model, call.state(), a, c.constraints, columns, call.work, out, call.external(external));
  return out;
}

ConstrainedDerivatives py_constrained_derivatives(ModelHandle& m, const ConstraintsHandle& c, Like q, Like v, Like tau,
                                                  Like external) {
  ConstrainedCall call("constrained_aba_derivatives", m, c, q, v);
  const Eigen::VectorXd t = call.tangent("tau", tau);
  ConstrainedDerivatives out(m.model, c.constraints);
  constrained_aba_derivatives(m.model, call.state(), t, c.constraints, call.work, out, call.external(external));
  call.check(out.forward.status, out.forward.singular);
  return out;
}

Tuple<Floats, Floats, Floats> py_constraint_rows(ModelHandle& m, const ConstraintsHandle& c, Like q, Like v) {
  ConstrainedCall call("constraint_rows", m, c, q, v);
  ConstraintRows out(m.model, c.constraints);
  constraint_rows(m.model, call.state(), c.constraints, call.work, out);
  return nb::make_tuple(to_array(out.J), vector(out.velocity), vector(out.drift));
}

void bind_constrained_results(nb::module_& module) {
  nb::class_<ConstrainedMotion>(module, "ConstrainedMotion", "Result of constrained_aba().")
      .def_prop_ro(
          "vdot", [](const ConstrainedMotion& x) { return vector(x.vdot); }, "(nv,)")
      .def_prop_ro(
          "forces", [](const ConstrainedMotion& x) { return vector(x.lambda); },
          "Force of each row on the link [N m or N].")
      .def_ro("rank", &ConstrainedMotion::rank, "Rank: the number of independent rows.")
      .def_ro("inconsistency", &ConstrainedMotion::inconsistency,
              "Largest row acceleration that no force can produce.");
  nb::class_<ConstrainedImpulse>(module, "ConstrainedImpulse", "Result of constrained_impulse().")
      .def_prop_ro(
          "v", [](const ConstrainedImpulse& x) { return vector(x.v); }, "Velocities after.")
      .def_prop_ro(
          "impulses", [](const ConstrainedImpulse& x) { return vector(x.lambda); },
          "Of each row on the link [N m s or N s].")
      .def_ro("rank", &ConstrainedImpulse::rank, "Rank: the number of independent rows.")
      .def_ro("inconsistency", &ConstrainedImpulse::inconsistency, "Largest row velocity that no impulse can produce.")
      .def_ro("energy", &ConstrainedImpulse::energy, "Change of the kinetic energy [J].");
  nb::class_<ConstrainedTorque>(module, "ConstrainedTorque", "Result of constrained_rnea().")
      .def_prop_ro(
          "tau", [](const ConstrainedTorque& x) { return vector(x.tau); }, "(nv,): torques of the motors.")
      .def_prop_ro(
          "forces", [](const ConstrainedTorque& x) { return vector(x.lambda); },
          "Force of each row on the link [N m or N].")
      .def_ro("missing", &ConstrainedTorque::missing,
              "Largest torque of an unactuated coordinate that no constraint force can provide.")
      .def_ro("violation", &ConstrainedTorque::violation,
              "Largest deviation of the row accelerations of vdot from the prescribed ones.");
  nb::class_<ConstrainedDerivatives> d(module, "ConstrainedDerivatives", "Result of constrained_aba_derivatives().");
  d.def_ro("forward", &ConstrainedDerivatives::forward, "The value itself.");
  const auto matrix = [&](const char* name, Eigen::MatrixXd ConstrainedDerivatives::* member) {
    d.def_prop_ro(
        name, [member](const ConstrainedDerivatives& x) { return to_array(x.*member); },
        "A row per number of the result; derivatives by q in the tangent space.");
  };
  matrix("vdot_dq", &ConstrainedDerivatives::vdot_dq);
  matrix("vdot_dv", &ConstrainedDerivatives::vdot_dv);
  matrix("vdot_dtau", &ConstrainedDerivatives::vdot_dtau);
  matrix("forces_dq", &ConstrainedDerivatives::lambda_dq);
  matrix("forces_dv", &ConstrainedDerivatives::lambda_dv);
  matrix("forces_dtau", &ConstrainedDerivatives::lambda_dtau);
}

}  // namespace

void bind_constrained(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<ConstraintsHandle>(module, "Constraints",
                                "The constraints of a model: sticking contacts, loops, grips, locks, gears.\n\n"
                                "Rows are those of the frames one after the other, then one per coordinates().")
      .def(nb::init<const ModelHandle&>(), "model"_a)
      .def("frame", &ConstraintsHandle::frame, "link"_a, "point"_a.none() = nb::none(), nb::kw_only(),
           "to"_a.none() = nb::none(), "mask"_a = "weld", "axes"_a.none() = nb::none(),
           "acceleration"_a.none() = nb::none(), "restitution"_a.none() = nb::none(),
           "Fixes a point of a link or frame relative to the link `to`, or to the world.\n\n"
           "mask: a word as in World.connect(), or bits of [turn x y z, shift x y z]; one row each, in this order, "
           "along "
           "`axes` (3 x 3 or a quaternion, in the axes of `to`). acceleration, restitution: six numbers, of "
           "constrained_aba() and constrained_impulse().")
      .def("coordinates", &ConstraintsHandle::coordinates, "ratios"_a, nb::kw_only(), "acceleration"_a = 0.0,
           "restitution"_a = 0.0, "Fixes the sum of ratio * v over the named coordinates: a lock, or a gear.")
      .def_prop_ro("rows", [](const ConstraintsHandle& c) { return c.constraints.rows(); }, "Number of rows.");
  bind_constrained_results(module);
  module.def("constrained_aba", py_constrained_aba, "model"_a, "constraints"_a, "q"_a, "v"_a.none() = nb::none(),
             "tau"_a.none() = nb::none(), nb::kw_only(), "external"_a.none() = nb::none(),
             "Forward dynamics under bilateral constraints with unbounded forces: M vdot + c = tau + J' forces.");
  module.def(
      "constrained_rnea", py_constrained_rnea, "model"_a, "constraints"_a, "q"_a, "v"_a.none() = nb::none(),
      "vdot"_a.none() = nb::none(), nb::kw_only(), "passive"_a = std::vector<std::string>{},
      "external"_a.none() = nb::none(),
      "Torques and constraint forces of a motion; coordinates named in `passive` and a free base are unactuated.");
  module.def("constrained_impulse", py_constrained_impulse, "model"_a, "constraints"_a, "q"_a, "v"_a,
             "Velocities after an impact at which the constraints engage, and its impulses.");
  module.def("constrained_aba_derivatives", py_constrained_derivatives, "model"_a, "constraints"_a, "q"_a,
             "v"_a.none() = nb::none(), "tau"_a.none() = nb::none(), nb::kw_only(), "external"_a.none() = nb::none(),
             "Derivatives of vdot and of the forces by q (tangent space), v and tau.");
  module.def("constraint_rows", py_constraint_rows, "model"_a, "constraints"_a, "q"_a, "v"_a.none() = nb::none(),
             "(J, J v, dJ/dt v) of the rows.");
}

}  // namespace kansetsu::python
