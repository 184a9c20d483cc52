#include <fmt/format.h>

#include "errors.h"
#include "inputs.h"
#include "kansetsu/ik/task.h"
#include "world_handle.h"
#include "world_words.h"

/// kansetsu.Figure and kansetsu.Body: parts of a world, and their live arrays.
namespace kansetsu::python {
namespace {

template <Eigen::VectorXd FigureMirror::* member>
Floats live(const FigureHandle& f) {
  WorldHandle& w = f.get();
  FigureMirror* m;
  {
    const WorldHandle::Call call(w, "Figure");
    m = &w.mirror(f.id);
  }
  Eigen::VectorXd& x = m->*member;
  return view_array(x.data(), {x.size()}, f.world);
}

NamedArray with_names(const Floats& array, const FigureHandle& f, const char* names) {
  return nb::module_::import_("kansetsu._names").attr("named")(array, f.get().model(f.id).attr(names));
}

/// figure.tau = …: the value is written into the live array.
template <Eigen::VectorXd FigureMirror::* member>
void assign(const FigureHandle& f, Like value) {
  live<member>(f).attr("__setitem__")(nb::ellipsis(), value);
}

/// Actuators have names of their own.
NamedArray with_actuator_names(const Floats& array, const FigureHandle& f) {
  const World& world = f.get().world;
  const nb::module_ names = nb::module_::import_("kansetsu._names");
  return names.attr("named")(
      array, names.attr("Names")(actuator_names(world, f.id), nb::dict(), world.name(f.id), "actuator"));
}

void set_inertias(const FigureHandle& f, Like values) {
  WorldHandle& w = f.get();
  const WorldHandle::Call call(w, "Figure.set_inertial_parameters");
  const Model& model = w.world.model(f.id);
  const auto p = read_blocks<double>({"Figure.set_inertial_parameters", "values", nullptr, &model}, values,
                                     model.link_count(), 10);
  if (!p.one()) raise_value("Figure.set_inertial_parameters: values of several figures; a WorldBatch takes them");
  w.world.set_inertial_parameters(f.id, map(p.data, 10 * model.link_count()));
  w.forget_model(f.id);
}

Transform<> pose_of(const BodyHandle& b) {
  WorldHandle& w = b.get();
  const WorldHandle::Call call(w, "Body.pose");
  return b.body.is_world() ? b.X_LF : w.world.pose(b.body) * b.X_LF;
}

Floats velocity_of(const BodyHandle& b) {
  WorldHandle& w = b.get();
  const WorldHandle::Call call(w, "Body.velocity");
  if (b.body.is_world()) return to_array(Motion<>{});
  Motion<> V = w.world.velocity(b.body);
  V.v = V.v + cross(V.w, w.world.pose(b.body).R * b.X_LF.p);
  return to_array(V);
}

void apply_wrench(const BodyHandle& b, Like wrench, Like point) {
  WorldHandle& w = b.get();
  const std::vector<double> F = read_numbers({"Body.apply_wrench", "wrench"}, wrench, 6);
  if (b.body.is_world()) raise_value("Body.apply_wrench: the world itself does not move");
  const Vec3<> p = point.is_none() ? pose_of(b).p : read_vec3({"Body.apply_wrench", "point"}, point);
  const WorldHandle::Call call(w, "Body.apply_wrench");
  w.world.apply_wrench(b.body, {{F[0], F[1], F[2]}, {F[3], F[4], F[5]}}, p);
}

Floats stand(const FigureHandle& f) {
  WorldHandle& w = f.get();
  const WorldHandle::Call call(w, "Figure.stand");
  const World::StandReport r = w.world.stand(f.id);
  if (!r.feasible) {
    raise_error(
        "WorldError",
        fmt::format("Figure.stand: '{}' cannot stand like this: {:.3g} N and {:.3g} N·m are missing, with {} contacts",
                    w.world.name(f.id), r.missing_force, r.missing_torque, r.contacts));
  }
  return to_array(std::span(w.world.torque(f.id).data(), size_t(w.world.torque(f.id).size())));
}

}  // namespace

void bind_figure(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<BodyHandle>(module, "Body", nb::type_slots(slots_with_world<BodyHandle>()),
                         "A link or frame of a figure in a world, or the world itself.")
      .def_prop_ro(
          "pose", [](const BodyHandle& b) { return to_array(pose_of(b)); }, "4x4, now.")
      .def_prop_ro(
          "p", [](const BodyHandle& b) { return to_array(pose_of(b).p); }, "Position [m].")
      .def_prop_ro("velocity", velocity_of, "[omega, velocity of its origin] in world axes.")
      .def(
          "apply_wrench", apply_wrench, "wrench"_a, "point"_a.none() = nb::none(),
          "[torque, force] in world axes at a point of the world (its own origin by default), for the next step only.");
  nb::class_<FigureHandle>(module, "Figure", nb::type_slots(slots_with_world<FigureHandle>()),
                           "A figure in a world. Its arrays are live: they follow the world, and values written to q, "
                           "v and tau take effect at the next step or query.")
      .def_prop_ro(
          "name", [](const FigureHandle& f) { return f.get().world.name(f.id); }, "In its world.")
      .def_prop_ro(
          "model", [](const FigureHandle& f) { return f.get().model(f.id); }, "Its model.")
      .def_prop_rw(
          "q", [](const FigureHandle& f) { return with_names(live<&FigureMirror::q>(f), f, "coordinates"); },
          assign<&FigureMirror::q>, nb::for_setter("value"_a), "Positions; assigning to them moves the figure.")
      .def_prop_rw(
          "v", [](const FigureHandle& f) { return with_names(live<&FigureMirror::v>(f), f, "dofs"); },
          assign<&FigureMirror::v>, nb::for_setter("value"_a), "Velocities.")
      .def_prop_rw(
          "tau", [](const FigureHandle& f) { return with_names(live<&FigureMirror::tau>(f), f, "dofs"); },
          assign<&FigureMirror::tau>, nb::for_setter("value"_a), "Applied torques, kept until changed.")
      .def_prop_ro(
          "vdot", [](const FigureHandle& f) { return with_names(live<&FigureMirror::vdot>(f), f, "dofs"); },
          "Accelerations of the last step.")
      .def_prop_ro(
          "effort", [](const FigureHandle& f) { return with_names(live<&FigureMirror::effort>(f), f, "dofs"); },
          "Total torques of the last step, motors and springs included.")
      .def_prop_rw(
          "control", [](const FigureHandle& f) { return with_actuator_names(live<&FigureMirror::control>(f), f); },
          assign<&FigureMirror::control>, nb::for_setter("value"_a),
          "Controls of its actuators, kept until changed: control[\"motor\"] = 1.0.")
      .def_prop_rw(
          "activation",
          [](const FigureHandle& f) { return with_actuator_names(live<&FigureMirror::activation>(f), f); },
          assign<&FigureMirror::activation>, nb::for_setter("value"_a),
          "Activations of its actuators, part of the state; 0 for actuators without activation.")
      .def_prop_ro(
          "actuators", [](const FigureHandle& f) { return actuator_names(f.get().world, f.id); },
          "Names of its actuators, in the order of control.")
      .def_prop_ro(
          "actuator_reports",
          [](const FigureHandle& f) {
            const WorldHandle::Call call(f.get(), "Figure.actuator_reports");
            return actuator_array(f.get().world.actuators(f.id));
          },
          "Result of each actuator in the last step (kansetsu.ACTUATOR).")
      .def_prop_ro(
          "asleep",
          [](const FigureHandle& f) {
            const WorldHandle::Call call(f.get(), "Figure.asleep");
            return f.get().world.asleep(f.id);
          },
          "Whether it sleeps: it is at rest and not computed until something acts on it.")
      .def(
          "set_inertial_parameters", set_inertias, "values"_a,
          "Changes the inertias of its links, (links, 10) in the order of inertial_parameters(model). Snapshots do not "
          "contain them.\nNot for every step: the model is rebuilt.")
      .def(
          "set_material",
          [](const FigureHandle& f, const ContactMaterial& material) {
            const WorldHandle::Call call(f.get(), "Figure.set_material");
            f.get().world.set_material(f.id, material);
          },
          "material"_a,
          "Changes the material of all its shapes; like set_inertial_parameters(), not part of snapshots.")
      .def("stand", stand,
           "Sets the torques that hold it at rest with its present contacts and connections; raises WorldError if "
           "there are none.")
      .def(
          "__getitem__",
          [](const FigureHandle& f, const std::string& link) {
            const ik::FrameOn on = ik::frame_on(f.get().world.model(f.id), link);
            return BodyHandle{f.world, {f.id, on.link}, on.X_LF};
          },
          "link"_a, "A link or frame by name.")
      .def("__repr__", [](const FigureHandle& f) { return fmt::format("<Figure '{}'>", f.get().world.name(f.id)); });
}

void bind_world_state(nb::class_<WorldHandle>& c) {
  using namespace nb::literals;
  c.def_prop_ro(
       "kinetic_energy",
       [](WorldHandle& w) {
         const WorldHandle::Call call(w, "World.kinetic_energy");
         return w.world.kinetic_energy();
       },
       "[J]")
      .def_prop_ro(
          "potential_energy",
          [](WorldHandle& w) {
            const WorldHandle::Call call(w, "World.potential_energy");
            return w.world.potential_energy();
          },
          "[J]")
      .def_prop_ro(
          "momentum",
          [](WorldHandle& w) {
            const WorldHandle::Call call(w, "World.momentum");
            return to_array(w.world.momentum());
          },
          "Linear [N s].")
      .def(
          "angular_momentum",
          [](WorldHandle& w, Like about) {
            const Vec3<> p = about.is_none() ? Vec3<>{} : read_vec3({"World.angular_momentum", "about"}, about);
            const WorldHandle::Call call(w, "World.angular_momentum");
            return to_array(w.world.angular_momentum(p));
          },
          "about"_a.none() = nb::none(), "[N m s]")
      .def_prop_rw(
          "gravity", [](WorldHandle& w) { return to_array(w.world.gravity()); },
          [](WorldHandle& w, Like g) {
            const Vec3<> gravity = read_vec3({"World", "gravity"}, g);
            const WorldHandle::Call call(w, "World.gravity");
            w.world.set_gravity(gravity);
            w.scene.gravity = gravity;
          },
          nb::for_setter("value"_a), "[m/s^2]; not for every step: figures' models are built again.");
}

}  // namespace kansetsu::python
