#include "device.h"
#include "inputs.h"
#include "kansetsu/ik/task.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/jacobian.h"

/// Poses and motions of links. Poses are returned as 12 numbers (R row by row, then p), which kansetsu.Poses wraps.
namespace kansetsu::python {
namespace {

constexpr Word<JacobianAxes> kAxes[] = {{"local_world_aligned", JacobianAxes::kLocalWorldAligned},
                                        {"local", JacobianAxes::kLocal},
                                        {"world", JacobianAxes::kWorld}};

Floats py_fk(ModelHandle& m, Like q, int threads, Device device) {
  if (goes_to_device(device, q)) return call_device("fk", m, device, q);
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("fk", m.model);
    const auto Q = in.q(q);
    const int links = m.model.link_count();
    NewArray<Real> out = in.result({links, 12});
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one()) {
        auto s = m.scratch();
        fk(m.model, map(Q.data, m.model.nq()), s->work, s->poses);
        for (int i = 0; i < links; ++i) put(s->poses.X_WL[size_t(i)], out.data + 12 * i);
        return out.object;
      }
    }
    m.with_batch<Real>(threads, [&](auto& batch) { batch.fk(in.count(), Q, out.data); });
    return out.object;
  });
}

Floats py_jacobian(ModelHandle& m, Like q, const std::string& frame, Like offset, const std::string& axes,
                   int threads) {
  const ik::FrameOn on = ik::frame_on(m.model, frame, read_pose({"jacobian", "offset"}, offset));
  const JacobianAxes kind = read_word("jacobian: axes", axes, kAxes);
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("jacobian", m.model);
    const auto Q = in.q(q);
    const int nv = m.model.nv();
    NewArray<Real> out = in.result({6, nv});
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (in.one()) {
        auto s = m.scratch();
        Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, nv);
        jacobian(m.model, map(Q.data, m.model.nq()), on.link, on.X_LF, kind, s->work, J);
        RowMatrixMap(out.data, 6, nv) = J;
        return out.object;
      }
    }
    m.with_batch<Real>(threads, [&](auto& batch) { batch.jacobian(in.count(), Q, on.link, on.X_LF, kind, out.data); });
    return out.object;
  });
}

Floats py_jacobian_rate(ModelHandle& m, Like q, Like v, const std::string& frame, Like offset,
                        const std::string& axes) {
  const ik::FrameOn on = ik::frame_on(m.model, frame, read_pose({"jacobian_rate", "offset"}, offset));
  const JacobianAxes kind = read_word("jacobian_rate: axes", axes, kAxes);
  Inputs<double> in("jacobian_rate", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v, false);
  auto s = m.scratch();
  const int nv = m.model.nv();
  Jacobian out(m.model);
  return in.each({6, nv}, [&](std::ptrdiff_t i, double* rate) {
    jacobian(m.model, load(*s, Q, V, i), on.link, on.X_LF, kind, s->work, out);
    RowMatrixMap(rate, 6, nv) = out.J_dot;
  });
}

Floats py_joint_axes(ModelHandle& m, Like q, int threads) {
  return by_type(q, [&](auto real) {
    using Real = decltype(real);
    Inputs<Real> in("joint_axes", m.model);
    const auto Q = in.q(q);
    NewArray<Real> out = in.result({6, m.model.nv()});
    const std::ptrdiff_t count = in.one() ? 1 : in.count();
    m.with_batch<Real>(threads, [&](auto& batch) { batch.joint_axes(count, Q, out.data); });
    return out.object;
  });
}

Floats py_link_motions(ModelHandle& m, Like q, Like v, Like vdot) {
  Inputs<double> in("link_motions", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v), A = in.tangent("vdot", vdot);
  auto s = m.scratch();
  LinkMotions motions(m.model);
  const int links = m.model.link_count();
  constexpr int kNumbers = 24;  // pose, velocity, acceleration
  return in.each({links, kNumbers}, [&](std::ptrdiff_t i, double* out) {
    link_motions(m.model, load(*s, Q, V, i), map(A.row(i), m.model.nv()), s->work, motions);
    for (size_t k = 0; k < size_t(links); ++k, out += kNumbers) {
      put(motions.poses.X_WL[k], out);
      put(motions.V[k].w, out + 12), put(motions.V[k].v, out + 15);
      put(motions.A[k].w, out + 18), put(motions.A[k].v, out + 21);
    }
  });
}

Floats py_center_of_mass(ModelHandle& m, Like q) {
  Inputs<double> in("center_of_mass", m.model);
  const auto Q = in.q(q);
  auto s = m.scratch();
  return in.each({3}, [&](std::ptrdiff_t i, double* out) {
    put(center_of_mass(m.model, map(Q.row(i), m.model.nq()), s->work), out);
  });
}

Floats py_energy(ModelHandle& m, Like q, Like v) {
  Inputs<double> in("energy", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v);
  auto s = m.scratch();
  return in.each({2}, [&](std::ptrdiff_t i, double* out) {
    const Energy e = energy(m.model, load(*s, Q, V, i), s->work);
    out[0] = e.kinetic, out[1] = e.potential;
  });
}

Tuple<Floats, Floats, Floats, Floats, Floats> py_centroidal(ModelHandle& m, Like q, Like v) {
  Inputs<double> in("centroidal", m.model);
  const auto Q = in.q(q), V = in.tangent("v", v);
  in.check_rows();
  auto s = m.scratch();
  Centroidal c(m.model);
  const int nv = m.model.nv();
  NewArray<double> com = in.result({3}), velocity = in.result({3}), h = in.result({6}), A = in.result({6, nv}),
                   A_dot = in.result({6, nv});
  const std::ptrdiff_t count = in.one() ? 1 : in.count();
  {
    nb::gil_scoped_release release;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      centroidal(m.model, load(*s, Q, V, i), s->work, c);
      put(c.com, com.data + 3 * i), put(c.com_velocity, velocity.data + 3 * i);
      put(c.h.t, h.data + 6 * i), put(c.h.f, h.data + 6 * i + 3);
      RowMatrixMap(A.data + 6 * nv * i, 6, nv) = c.A;
      RowMatrixMap(A_dot.data + 6 * nv * i, 6, nv) = c.A_dot;
    }
  }
  return nb::make_tuple(com.object, velocity.object, h.object, A.object, A_dot.object);
}

Tuple<int, std::optional<Floats>> py_frame_on(const ModelHandle& m, const std::string& name) {
  const ik::FrameOn on = ik::frame_on(m.model, name);
  const bool is_link = m.model.find_link(name).has_value();
  return nb::make_tuple(on.link.value(), is_link ? nb::none() : nb::object(to_array(on.X_LF)));
}

Floats py_make_pose(Like p, Like rpy, Like rotation) {
  Transform<> X;
  if (!rpy.is_none()) X = to_transform(Pose{.rpy = read_vec3({"pose", "rpy"}, rpy)});
  if (!rotation.is_none()) X.R = read_rotation({"pose", "rotation"}, rotation);
  X.p = read_vec3({"pose", "p"}, p);
  return to_array(X);
}

}  // namespace

void bind_kinematics(nb::module_& module) {
  module.def("frame_on", py_frame_on, nb::arg("model"), nb::arg("name"),
             "The link that a frame is on, and its pose there; None for a link itself.");
  module.def("make_pose", py_make_pose, nb::arg("p"), nb::arg("rpy").none(), nb::arg("rotation").none(),
             "A 4x4 matrix; see kansetsu.pose.");
  module.def("fk", py_fk, nb::arg("model"), nb::arg("q"), nb::arg("threads") = 0, DEVICE,
             "Poses of all links: (links, 12) or (N, links, 12), R row by row, then p.");
  module.def("jacobian", py_jacobian, nb::arg("model"), nb::arg("q"), nb::arg("frame"), nb::kw_only(),
             nb::arg("offset").none() = nb::none(), nb::arg("axes") = "local_world_aligned", nb::arg("threads") = 0,
             "J with [omega, velocity] = J v of a link or frame, 6 x nv.\n\n"
             "offset: pose of the point on the link or frame. axes: 'local_world_aligned' (of its origin, in world "
             "axes), 'local' (in its own\n"
             "axes) or 'world' (of the point of the body at the world's origin).");
  module.def("jacobian_rate", py_jacobian_rate, nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("frame"),
             nb::kw_only(), nb::arg("offset").none() = nb::none(), nb::arg("axes") = "local_world_aligned",
             "dJ/dt of jacobian(), 6 x nv.");
  module.def("joint_axes", py_joint_axes, nb::arg("model"), nb::arg("q"), nb::kw_only(), nb::arg("threads") = 0,
             "Motion [omega, velocity] per unit rate of each coordinate, in world axes at the world's origin: 6 x nv.");
  module.def("link_motions", py_link_motions, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             nb::arg("vdot").none() = nb::none(),
             "Per link pose (12), velocity [omega, v] and acceleration at its origin in world axes: (links, 24) or (N, "
             "links, 24).");
  module.def("center_of_mass", py_center_of_mass, nb::arg("model"), nb::arg("q"),
             "Centre of mass of all moving links [m].");
  module.def("energy", py_energy, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             "[kinetic, potential] in J; potential of gravity, zero at the world's origin.");
  module.def("centroidal", py_centroidal, nb::arg("model"), nb::arg("q"), nb::arg("v").none() = nb::none(),
             "(com, com_velocity, h, A, A_dot): momentum about the centre of mass h = A v, rows [angular, linear].");
}

}  // namespace kansetsu::python
