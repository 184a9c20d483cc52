#include <fmt/format.h>

#include "errors.h"
#include "world_handle.h"
#include "world_words.h"

/// Controllers that run inside the steps of a world.
namespace kansetsu::python {
namespace {

/// "joint", or ("joint", index) for one of several coordinates.
DofRef read_dof(nb::handle key) {
  DofRef out;
  std::pair<std::string, int> both;
  if (nb::try_cast(key, out.joint)) return out;
  if (nb::try_cast(key, both)) return {both.first, both.second};
  raise_type("World.add_controller: joints are named by 'joint' or ('joint', index)");
}

nb::dict dict_of(nb::handle joints) {
  nb::dict out;
  if (!nb::try_cast(joints, out)) raise_type("World.add_controller: joints is not a dict, e.g. {'elbow': {'kp': 100}}");
  return out;
}

void read_numbers_of(nb::handle numbers, JointControl& out) {
  struct Member {
    const char* name;
    double JointControl::* at;
  };
  static constexpr Member kMembers[] = {
      {"value", &JointControl::value}, {"amplitude", &JointControl::amplitude}, {"frequency", &JointControl::frequency},
      {"phase", &JointControl::phase}, {"deviation", &JointControl::deviation}, {"kp", &JointControl::kp},
      {"kd", &JointControl::kd},       {"effort", &JointControl::effort}};
  nb::dict dict;
  if (!nb::try_cast(numbers, dict))
    raise_type("World.add_controller: each joint has a dict of numbers, e.g. {'value': 0.3, 'kp': 100}");
  for (const auto& [key, value] : dict) {
    const auto name = nb::cast<std::string>(key);
    std::string known;
    bool found = false;
    for (const Member& m : kMembers) {
      known += (known.empty() ? "" : ", ") + std::string(m.name);
      if (name != m.name) continue;
      found = true;
      if (!nb::try_cast(value, out.*m.at) || out.*m.at != out.*m.at)
        raise_type(fmt::format("World.add_controller: {} of joint '{}' is not a number", name, out.dof.joint));
    }
    if (!found) raise_value(fmt::format("World.add_controller: a joint has no '{}'; known: {}", name, known));
  }
}

void add_controller(WorldHandle& w, const std::string& name, FigureLike figure, const std::string& kind,
                    JointNumbers joints, bool active) {
  ControllerDescription c;
  c.name = name, c.figure = w.world.name(read_figure(w, "World.add_controller", figure)), c.active = active;
  c.kind = read_word("World.add_controller: kind", kind, kControlKinds);
  for (const auto& [key, numbers] : dict_of(joints)) {
    JointControl joint{.dof = read_dof(key)};
    read_numbers_of(numbers, joint);
    c.joints.push_back(std::move(joint));
  }
  const WorldHandle::Call call(w, "World.add_controller");
  w.world.add_controller(c);
}

void set_controller(WorldHandle& w, const std::string& name, const std::optional<bool>& active, JointNumbers joints) {
  const WorldHandle::Call call(w, "World.set_controller");
  ControllerDescription c = w.world.controller(name);
  if (active) c.active = *active;
  if (!joints.is_none()) {
    for (const auto& [key, numbers] : dict_of(joints)) {
      const DofRef dof = read_dof(key);
      bool found = false;
      for (JointControl& joint : c.joints) {
        if (!(joint.dof == dof)) continue;
        found = true;
        read_numbers_of(numbers, joint);
      }
      if (!found)
        raise_value(fmt::format("World.set_controller: controller '{}' does not drive joint '{}'", name, dof.joint));
    }
  }
  w.world.set_controller(c);
}

}  // namespace

void bind_world_control(nb::class_<WorldHandle>& c) {
  using namespace nb::literals;
  c.def(
       "add_controller", add_controller, "name"_a, "figure"_a, "kind"_a, "joints"_a, nb::kw_only(), "active"_a = true,
       "Drives joints in every step: kind 'torque' (tau = signal), 'pd' (implicit, so stiff gains are stable) or "
       "'motion' (q = signal,\n"
       "with unlimited torque). joints: {'elbow': {'value': 0.3, 'kp': 100, 'kd': 5}}; the signal is value + amplitude "
       "sin(2 pi frequency t +\n"
       "phase) + deviation noise, effort is its torque limit. ('hip', 2) names one of several coordinates.")
      .def("set_controller", set_controller, "name"_a, nb::kw_only(), "active"_a = nb::none(),
           "joints"_a.none() = nb::none(), "Changes the numbers of a controller; those not named are kept.")
      .def_prop_ro(
          "controllers", [](const WorldHandle& w) { return w.world.controller_names(); }, "Names of the controllers.");
}

}  // namespace kansetsu::python
