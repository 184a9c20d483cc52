#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "errors.h"
#include "inputs.h"
#include "world_handle.h"
#include "world_words.h"

/// Connections and springs: made and cut between any two steps.
namespace kansetsu::python {
namespace {

double limit(const char* what, double x) {
  if (!(x > 0)) raise_value(fmt::format("World.connect: {} is {}, expected more than 0", what, x));
  return x;
}

ConnectionHandle connect(nb::handle self, BodyLike a, BodyLike b, Mask mask, const std::string& hold, Like frame_a,
                         Like frame_b, double break_force, double break_torque, NumberOrDirections restitution,
                         Directions stiffness, Directions damping, const std::string& name) {
  WorldHandle& w = *nb::inst_ptr<WorldHandle>(self);
  const BodyArgument on_a = read_body(w, "World.connect", a), on_b = read_body(w, "World.connect", b);
  constexpr Word<Hold> kHolds[] = {{"relative_pose", Hold::kRelativePose}, {"together", Hold::kTogether}};
  ConnectionOptions options;
  options.mask = read_mask("World.connect: mask", mask), options.hold = read_word("World.connect: hold", hold, kHolds);
  options.X_AC = on_a.X_LF * read_pose({"World.connect", "frame_a"}, frame_a);
  options.X_BC = on_b.X_LF * read_pose({"World.connect", "frame_b"}, frame_b);
  options.break_force = limit("break_force", break_force), options.break_torque = limit("break_torque", break_torque);
  options.restitution = read_directions("World.connect: restitution", restitution, OneForAll::kYes, 0);
  options.compliance.stiffness =
      read_directions("World.connect: stiffness", stiffness, OneForAll::kNo, std::numeric_limits<double>::infinity());
  options.compliance.damping = read_directions("World.connect: damping", damping, OneForAll::kNo, 0);
  options.name = name;
  const WorldHandle::Call call(w, "World.connect");
  return {nb::borrow(self), w.world.connect(on_a.body, on_b.body, options)};
}

void release(const ConnectionHandle& c) {
  WorldHandle& w = c.get();
  const WorldHandle::Call call(w, "World.release");
  if (!w.world.connected(c.id)) raise_value("World.release: this connection no longer exists");
  w.world.release(c.id);
}

/// Its report of the last step; raises if there is none.
const ConnectionReport& last_report_of(const ConnectionHandle& c, WorldHandle& w) {
  if (!w.world.connected(c.id)) raise_value("Connection: it no longer exists");
  const auto& all = w.world.report().connections;
  const auto found = std::find_if(all.begin(), all.end(), [&](const ConnectionReport& r) { return r.id == c.id; });
  if (found == all.end()) raise_value("Connection: it was made after the last step; nothing is known before the next");
  return *found;
}

template <Force<> ConnectionReport::* member>
Floats wrench(const ConnectionHandle& c) {
  WorldHandle& w = c.get();
  const WorldHandle::Call call(w, "Connection");
  return to_array(last_report_of(c, w).*member);
}

void add_spring(WorldHandle& w, BodyLike a, Like p_a, BodyLike b, Like p_b, double stiffness, double damping,
                const std::optional<double>& rest_length, bool pull_only, const std::string& name) {
  const BodyArgument on_a = read_body(w, "World.add_spring", a), on_b = read_body(w, "World.add_spring", b);
  const Vec3<> at_a = on_a.X_LF * read_vec3({"World.add_spring", "p_a"}, p_a),
               at_b = on_b.X_LF * read_vec3({"World.add_spring", "p_b"}, p_b);
  SpringDescription spring;
  spring.name = name, spring.stiffness = stiffness, spring.damping = damping, spring.rest_length = rest_length,
  spring.pull_only = pull_only;
  const WorldHandle::Call call(w, "World.add_spring");
  w.world.add_spring(on_a.body, at_a, on_b.body, at_b, spring);
}

AnyDict assemble(WorldHandle& w, double tolerance, int max_iterations) {
  const WorldHandle::Call call(w, "World.assemble");
  const World::AssemblyReport r = w.world.assemble(tolerance, max_iterations);
  nb::dict out;
  out["ok"] = r.ok, out["iterations"] = r.iterations, out["gap"] = r.gap, out["angle"] = r.angle,
  out["velocity"] = r.velocity;
  out["rank_deficiency"] = r.rank_deficiency;
  return out;
}

}  // namespace

void bind_world_joining(nb::module_& module, nb::class_<WorldHandle>& c) {
  using namespace nb::literals;
  nb::class_<ConnectionHandle>(module, "Connection", nb::type_slots(slots_with_world<ConnectionHandle>()),
                               "A connection between two bodies.")
      .def_prop_ro(
          "active",
          [](const ConnectionHandle& x) {
            WorldHandle& w = x.get();
            const WorldHandle::Call call(w, "Connection.active");
            return w.world.connected(x.id);
          },
          "Whether it exists: neither released nor broken.")
      .def("release", release, "Releases it; raises if it has already been released.")
      .def_prop_ro("wrench", wrench<&ConnectionReport::wrench>,
                   "[torque, force] on b at its frame, in world axes, of the last step.")
      .def_prop_ro("impulse", wrench<&ConnectionReport::impulse>, "Impulse at its creation [N m s, N s].")
      .def_prop_ro(
          "id", [](const ConnectionHandle& x) { return x.id.value(); }, "As in World.connections.")
      .def("__repr__", [](const ConnectionHandle& x) {
        const bool holds = x.get().world.connected(x.id);
        return fmt::format("<Connection {}: {}>", x.id.value(), holds ? "holds" : "is no more");
      });
  constexpr double kInf = std::numeric_limits<double>::infinity();
  c.def("connect", connect, "a"_a.none(), "b"_a.none(), nb::kw_only(), "mask"_a = "weld", "hold"_a = "relative_pose",
        "frame_a"_a.none() = nb::none(), "frame_b"_a.none() = nb::none(), "break_force"_a = kInf,
        "break_torque"_a = kInf, "restitution"_a.none() = nb::none(), "stiffness"_a.none() = nb::none(),
        "damping"_a.none() = nb::none(), "name"_a = "",
        "Connects b to a; None is the world. mask: 'weld', 'point', 'hinge' (about z of a's frame), 'slider', "
        "'cylindrical', 'universal',\n"
        "'point_in_plane', 'orientation', or bits of [turn x y z, shift x y z]. hold: 'relative_pose' as they are now, "
        "or 'together'.\n"
        "restitution: 0 ... 1, for all directions or by name ('rx', 'ry', 'rz', 'x', 'y', 'z'); a direction that "
        "rebounds when the connection\n"
        "is made is released. stiffness, damping: directions with springs and dampers instead of rigid constraints, by "
        "name [N m/rad, N/m].")
      .def(
          "grab",
          [](nb::handle self, BodyLike a, BodyLike b) {
            return connect(self, a, b, nb::str("weld"), "relative_pose", nb::none(), nb::none(), kInf, kInf, nb::none(),
                           nb::none(), nb::none(), "");
          },
          "a"_a.none(), "b"_a.none(), "Connects b to a in its current pose.")
      .def(
          "release",
          [](WorldHandle& w, const ConnectionHandle& x) {
            if (&x.get() != &w) raise_value("World.release: the connection is of another world");
            release(x);
          },
          "connection"_a, "Releases a connection.")
      .def(
          "connection",
          [](nb::handle self, const std::string& name) {
            WorldHandle& w = *nb::inst_ptr<WorldHandle>(self);
            return ConnectionHandle{nb::borrow(self), w.world.connection(name)};
          },
          "name"_a, "A connection of the scene.")
      .def("add_spring", add_spring, "a"_a.none(), "p_a"_a, "b"_a.none(), "p_b"_a, nb::kw_only(), "stiffness"_a,
           "damping"_a = 0.0, "rest_length"_a = nb::none(), "pull_only"_a = false, "name"_a = "",
           "A spring and damper between points of two bodies; pull_only: a rope.")
      .def("assemble", assemble, "tolerance"_a = 1e-12, "max_iterations"_a = 100,
           "Moves the figures so that all connections are closed; returns the result.");
}

}  // namespace kansetsu::python
