#include "kansetsu/model/builder.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "errors.h"
#include "inputs.h"
#include "shapes.h"
#include "words.h"

/// kansetsu.ModelBuilder: builds a model step by step.
namespace kansetsu::python {
namespace {

Pose read_pose_of(const char* function, const char* name, nb::handle value) {
  return to_pose(read_pose({function, name}, value));
}

/// Three numbers are a diagonal, nine a matrix.
Sym3<> read_inertia(nb::handle value) {
  if (value.is_none()) return {};
  const nb::object flat = nb::module_::import_("numpy").attr("ravel")(value);
  const std::vector<double> x = read_numbers({"ModelBuilder.link", "inertia"}, flat);
  if (x.size() == 3) return Sym3<>::diagonal(x[0], x[1], x[2]);
  if (x.size() != 9 || x[1] != x[3] || x[2] != x[6] || x[5] != x[7])
    raise_value("ModelBuilder.link: inertia is neither three moments nor a symmetric 3 x 3 matrix");
  return {x[0], x[1], x[2], x[4], x[5], x[8]};
}

JointType read_joint_type(const std::string& name) {
  return joint_table()[find_named("ModelBuilder.joint", "joint type", name, joint_table(), &JointTypeInfo::name)].type;
}

/// One number for all coordinates of the joint, or one for each.
void fill(std::vector<DofDescription>& dofs, double DofDescription::* member, const char* name, nb::handle value) {
  if (value.is_none()) return;
  const nb::object all = nb::module_::import_("numpy").attr("broadcast_to")(value, nb::make_tuple(dofs.size()));
  for (size_t i = 0; i < dofs.size(); ++i) {
    dofs[i].*member = nb::cast<double>(all[i].attr("__float__")());
    if (std::isnan(dofs[i].*member)) raise_value(fmt::format("ModelBuilder.joint: {} is not a number", name));
  }
}

struct Builder {
  ModelDescription description;

  LinkDescription& find(const std::string& link) {
    for (LinkDescription& l : description.links) {
      if (l.name == link) return l;
    }
    raise_value(fmt::format("ModelBuilder: there is no link '{}' yet", link));
  }
};

void add_joint(Builder& b, const std::string& name, const std::string& type, const std::string& parent,
               const std::string& child, Like axis, Like origin, Like plug, Like second_axis, double pitch,
               const nb::kwargs& numbers) {
  JointDescription joint;
  joint.name = name, joint.type = read_joint_type(type), joint.parent = parent, joint.child = child,
  joint.pitch = pitch;
  joint.socket = read_pose_of("ModelBuilder.joint", "origin", origin),
  joint.plug = read_pose_of("ModelBuilder.joint", "plug", plug);
  if (!axis.is_none()) joint.axis = read_vec3({"ModelBuilder.joint", "axis"}, axis);
  if (!second_axis.is_none()) joint.second_axis = read_vec3({"ModelBuilder.joint", "second_axis"}, second_axis);
  joint.dofs.resize(size_t(info(joint.type).nv));
  static const std::map<std::string, double DofDescription::*> kMembers{
      {"lower", &DofDescription::lower},
      {"upper", &DofDescription::upper},
      {"velocity", &DofDescription::velocity},
      {"effort", &DofDescription::effort},
      {"rotor_inertia", &DofDescription::rotor_inertia},
      {"damping", &DofDescription::damping},
      {"friction", &DofDescription::friction},
      {"stiffness", &DofDescription::stiffness},
      {"rest", &DofDescription::rest}};
  for (const auto& [key, value] : numbers) {
    const auto name_of = nb::cast<std::string>(key);
    const auto found = kMembers.find(name_of);
    if (found == kMembers.end()) raise_type(fmt::format("ModelBuilder.joint: there is no argument '{}'", name_of));
    fill(joint.dofs, found->second, name_of.c_str(), value);
  }
  b.description.joints.push_back(std::move(joint));
}

DofRef dof_of(const std::string& joint, int index) { return {joint, index}; }

}  // namespace

void bind_builder(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Builder>(module, "ModelBuilder", "Builds a model step by step; build() checks all of it at once.")
      .def(
          "__init__",
          [](Builder* b, const std::string& name, const std::string& base, Like gravity) {
            new (b) Builder;
            b->description.name = name;
            b->description.base = read_word("ModelBuilder: base", base, kBases);
            if (!gravity.is_none()) b->description.gravity = read_vec3({"ModelBuilder", "gravity"}, gravity);
          },
          "name"_a, "base"_a = "fixed", "gravity"_a.none() = nb::none())
      .def(
          "link",
          [](Builder& b, const std::string& name, double mass, Like com, Like inertia) -> Builder& {
            LinkDescription link{.name = name};
            if (mass != 0 || !inertia.is_none())
              link.inertial = Inertial{mass, read_pose_of("ModelBuilder.link", "com", com), read_inertia(inertia)};
            b.description.links.push_back(std::move(link));
            return b;
          },
          "name"_a, "mass"_a = 0.0, "com"_a.none() = nb::none(), "inertia"_a.none() = nb::none(),
          nb::rv_policy::reference, "inertia: about the centre of mass, three moments or a 3 x 3 matrix.")
      .def(
          "joint",
          [](Builder& b, const std::string& name, const std::string& type, const std::string& parent,
             const std::string& child, Like axis, Like origin, Like plug, Like second_axis, double pitch,
             const nb::kwargs& numbers) -> Builder& {
            add_joint(b, name, type, parent, child, axis, origin, plug, second_axis, pitch, numbers);
            return b;
          },
          "name"_a, "type"_a, "parent"_a, "child"_a, "axis"_a.none() = nb::none(), "origin"_a.none() = nb::none(),
          "plug"_a.none() = nb::none(), "second_axis"_a.none() = nb::none(), "pitch"_a = 0.0, "numbers"_a,
          nb::rv_policy::reference,
#define LIKE "numpy.typing.ArrayLike | None = None"  // by hand: nanobind has no types of keywords
          nb::sig("def joint(self, name: str, type: str, parent: str, child: str, axis: " LIKE ", origin: " LIKE
                  ", plug: " LIKE ", second_axis: " LIKE
                  ", pitch: float = 0.0, **numbers: numpy.typing.ArrayLike) -> ModelBuilder"),
#undef LIKE
          "origin: the joint's frame on the parent; plug: on the child. numbers: lower, upper, velocity, effort, "
          "rotor_inertia,\n"
          "damping, friction, stiffness, rest; one for all coordinates of the joint, or one for each.")
      .def(
          "gear",
          [](Builder& b, const std::string& joint, const std::string& other, double ratio, double offset) -> Builder& {
            Coupling c{.dependent = dof_of(joint, 0), .offset = offset};
            c.terms.push_back({dof_of(other, 0), ratio});
            b.description.couplings.push_back(std::move(c));
            return b;
          },
          "joint"_a, "other"_a, "ratio"_a, "offset"_a = 0.0, nb::rv_policy::reference,
          "q[joint] = ratio q[other] + offset.")
      .def(
          "frame",
          [](Builder& b, const std::string& name, const std::string& link, Like pose) -> Builder& {
            b.description.frames.push_back({name, link, read_pose_of("ModelBuilder.frame", "pose", pose)});
            return b;
          },
          "name"_a, "link"_a, "pose"_a.none() = nb::none(), nb::rv_policy::reference, "A named frame on a link.")
      .def(
          "actuator",
          [](Builder& b, const std::string& name, const std::string& joint, double gear, int index) -> Builder& {
            b.description.actuators.push_back({.name = name, .dof = dof_of(joint, index), .gear = gear});
            return b;
          },
          "name"_a, "joint"_a, "gear"_a = 1.0, "index"_a = 0, nb::rv_policy::reference,
          "A motor: its control times the gear acts on a coordinate of a joint.")
      .def(
          "collision",
          [](Builder& b, const std::string& link, const AnyShape& shape, Like pose) -> Builder& {
            b.find(link).collisions.push_back(
                {.origin = read_pose_of("ModelBuilder.collision", "pose", pose), .shape = to_shape(shape)});
            return b;
          },
          "link"_a, "shape"_a, "pose"_a.none() = nb::none(), nb::rv_policy::reference,
          "A collision shape; it is also drawn, unless the link has visual shapes.")
      .def(
          "visual",
          [](Builder& b, const std::string& link, const AnyShape& shape, Like pose) -> Builder& {
            b.find(link).visuals.push_back(
                {.origin = read_pose_of("ModelBuilder.visual", "pose", pose), .shape = to_shape(shape)});
            return b;
          },
          "link"_a, "shape"_a, "pose"_a.none() = nb::none(), nb::rv_policy::reference,
          "A visual shape, without collision.")
      .def(
          "no_collision",
          [](Builder& b, const std::string& a, const std::string& other) -> Builder& {
            b.description.collision_filters.push_back({a, other});
            return b;
          },
          "a"_a, "b"_a, nb::rv_policy::reference, "The two links never collide.")
      .def(
          "build", [](const Builder& b) { return handle_of(value_or_raise(Model::build(b.description))); },
          "The model; raises LoadError with all problems.");
}

}  // namespace kansetsu::python
