#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "arrays.h"
#include "errors.h"
#include "inputs.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "model_handle.h"
#include "words.h"

/// kansetsu.Model: the parts of a mechanism, and its coordinates by name.
namespace kansetsu::python {
namespace {

template <class F>
std::vector<std::string> names(int count, F&& name) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(name(i));
  return out;
}

/// Joints by name with their ranges, for kansetsu.Names.
nb::dict ranges(const Model& model, bool of_positions) {
  nb::dict out;
  const auto add = [&](const std::string& name, const CoordinateRange& r) {
    const int first = of_positions ? r.q : r.v, count = of_positions ? r.nq : r.nv;
    out[name.c_str()] = nb::make_tuple(first, first + count);
  };
  if (model.base() == Base::kFree) add("base", model.base_coordinates());
  for (int i = 0; i < model.joint_count(); ++i) add(model.joint(JointId(i)).name, model.coordinates(JointId(i)));
  return out;
}

Names make_names(const std::vector<std::string>& list, const nb::dict& joints, const Model& model) {
  return nb::module_::import_("kansetsu._names").attr("Names")(list, joints, model.name());
}

/// A value made on first use, by one thread at a time, also without a GIL.
template <class Make>
nb::object kept(ModelHandle& m, nb::object& slot, Make&& make) {
  const nb::ft_object_guard guard(nb::find(m));
  if (!slot.is_valid()) slot = make();
  return slot;
}

Names dof_names(ModelHandle& m) {
  return kept(m, m.dof_names, [&] { return make_names(m.model.dof_names(), ranges(m.model, false), m.model); });
}
Names position_names(ModelHandle& m) {
  return kept(m, m.position_names,
              [&] { return make_names(io::position_names(m.model), ranges(m.model, true), m.model); });
}

NamedArray named(const nb::object& array, const nb::object& names) {
  return nb::module_::import_("kansetsu._names").attr("named")(array, names);
}

/// The complete model, as a scene of one figure: the contents of pickles.
std::string to_text(const Model& model) {
  SceneDescription scene;
  scene.name = model.name();
  scene.gravity = model.gravity();
  FigureDescription figure;
  figure.name = "figure";
  figure.model = model.description();
  figure.initial.base = figure.model.base_pose;
  scene.figures.push_back(std::move(figure));
  Loaded<std::string> text = io::to_scene(scene);
  if (!text) raise_diagnostics(text.diagnostics);
  return *std::move(text.value);
}

Model from_text(const std::string& text, const std::string& name) {
  Loaded<SceneDescription> scene = io::parse_scene(text);
  if (!scene) raise_diagnostics(scene.diagnostics);
  if (scene.value->figures.size() != 1) throw Error("Model: the pickle does not hold one model");
  ModelDescription model = std::move(scene.value->figures[0].model);
  model.name = name;
  model.gravity = scene.value->gravity;
  model.base_pose = scene.value->figures[0].initial.base;
  return value_or_throw(Model::build(std::move(model)));
}

std::string text_of(const Model& model) {
  return fmt::format("<Model '{}': {} links, {} joints, {} base, nq {}, nv {}>", model.name(), model.link_count(),
                     model.joint_count(), model.base() == Base::kFree ? "free" : "fixed", model.nq(), model.nv());
}

NamedArray neutral_position(ModelHandle& m) { return named(vector(neutral(m.model)), position_names(m)); }

Floats random_position(ModelHandle& m, std::uint64_t seed, std::optional<std::ptrdiff_t> count) {
  if (count && *count < 0) raise_value(fmt::format("random_configuration: count is {}, expected 0 or more", *count));
  std::mt19937_64 rng(seed);
  if (!count) return named(vector(random_configuration(m.model, rng)), position_names(m));
  NewArray<double> out = new_array({*count, m.model.nq()});
  for (std::ptrdiff_t i = 0; i < *count; ++i)
    map(out.data + i * m.model.nq(), m.model.nq()) = random_configuration(m.model, rng);
  return named(out.object, position_names(m));
}

/// Joints of one coordinate that is determined by gears, by name: the coordinates that they follow, with ratios, and the offset.
nb::dict followers(const ModelHandle& m) {
  nb::dict out;
  for (int i = 0; i < m.model.joint_count(); ++i) {
    const JointId id(i);
    if (info(m.model.joint(id).type).nv != 1 || m.model.coordinates(id).nv > 0) continue;
    const Model::Row& row = m.model.row(id, 0);
    nb::dict ratios;
    for (const auto& [column, ratio] : row.terms) ratios[m.model.dof_names()[size_t(column)].c_str()] = ratio;
    out[m.model.joint(id).name.c_str()] = nb::make_tuple(ratios, row.offset);
  }
  return out;
}

void bind_structure(nb::class_<ModelHandle>& c) {
  c.def_prop_ro(
       "name", [](const ModelHandle& m) { return m.model.name(); }, "Name, from the file or builder.")
      .def_prop_ro(
          "nq", [](const ModelHandle& m) { return m.model.nq(); }, "Position coordinates.")
      .def_prop_ro(
          "nv", [](const ModelHandle& m) { return m.model.nv(); }, "Velocity coordinates: degrees of freedom.")
      .def_prop_ro(
          "base", [](const ModelHandle& m) { return m.model.base() == Base::kFree ? "free" : "fixed"; },
          "'fixed' or 'free'.")
      .def_prop_ro(
          "gravity", [](const ModelHandle& m) { return to_array(m.model.gravity()); }, "[m/s^2]")
      .def_prop_ro(
          "mass", [](const ModelHandle& m) { return m.model.mass(); }, "[kg]")
      .def_prop_ro(
          "links",
          [](const ModelHandle& m) {
            return names(m.model.link_count(), [&](int i) { return m.model.link(LinkId(i)).name; });
          },
          "Names of the links, depth first; the root is first.")
      .def_prop_ro(
          "joints",
          [](const ModelHandle& m) {
            return names(m.model.joint_count(), [&](int i) { return m.model.joint(JointId(i)).name; });
          },
          "Names of the joints; joint i carries link i + 1.")
      .def_prop_ro(
          "frames",
          [](const ModelHandle& m) {
            return names(m.model.frame_count(), [&](int i) { return m.model.frame(FrameId(i)).name; });
          },
          "Names of the frames on links.")
      .def_prop_ro(
          "parents",
          [](const ModelHandle& m) {
            std::vector<int> out;
            for (int i = 0; i < m.model.link_count(); ++i) {
              const auto parent = m.model.parent(LinkId(i));
              out.push_back(parent ? parent->value() : -1);
            }
            return out;
          },
          "Index of the parent of each link; -1 for the root.")
      .def_prop_ro(
          "joint_types",
          [](const ModelHandle& m) {
            return names(m.model.joint_count(),
                         [&](int i) { return std::string(info(m.model.joint(JointId(i)).type).name); });
          },
          "revolute, ball, ...; one per joint.")
      .def(
          "link_id", [](const ModelHandle& m, const std::string& name) { return m.model.link_id(name).value(); },
          nb::arg("name"), "Index of a link; an unknown name raises an error that lists the known ones.")
      .def(
          "joint_id", [](const ModelHandle& m, const std::string& name) { return m.model.joint_id(name).value(); },
          nb::arg("name"), "The number of a joint.")
      .def(
          "may_collide",
          [](const ModelHandle& m, const std::string& a, const std::string& b) {
            return m.model.may_collide(m.model.link_id(a), m.model.link_id(b));
          },
          nb::arg("a"), nb::arg("b"), "Whether two links can collide.");
}

void bind_coordinates(nb::class_<ModelHandle>& c) {
  c.def_prop_ro("dofs", dof_names,
                "Names of the velocity coordinates; model.dofs['elbow'] is where a joint is in v and tau.")
      .def_prop_ro("coordinates", position_names,
                   "Names of the position coordinates; model.coordinates['elbow'] is where a joint is in q.")
      .def_prop_ro(
          "followers", followers, nb::sig("def followers(self) -> dict[str, tuple[dict[str, float], float]]"),
          "Joints determined by gears (mimic joints), which have no coordinate in q: ({name: ratio}, offset) of each, "
          "with the\ncoordinates that it follows; its position is the sum of ratio * q[name], plus offset.")
      .def_prop_ro("q0", neutral_position, "A new array with the neutral configuration; q0['elbow'] = 1 sets a joint.")
      .def_prop_ro(
          "v0", [](ModelHandle& m) { return named(vector(Eigen::VectorXd::Zero(m.model.nv())), dof_names(m)); },
          "A new array of zeros, one for each degree of freedom.")
      .def("random_configuration", random_position, nb::arg("seed"), nb::arg("count") = nb::none(),
           "Uniform within the position limits (pi or 1 m where there is none up to 1e6); (nq,), or (count, nq).")
      .def_prop_ro(
          "lower_position", [](ModelHandle& m) { return named(vector(m.model.lower_position()), position_names(m)); },
          "(nq,); -inf where there is no limit.")
      .def_prop_ro(
          "upper_position", [](ModelHandle& m) { return named(vector(m.model.upper_position()), position_names(m)); },
          "(nq,); inf where there is no limit.")
      .def_prop_ro(
          "velocity_limit", [](ModelHandle& m) { return named(vector(m.model.velocity_limit()), dof_names(m)); },
          "(nv,)")
      .def_prop_ro(
          "effort_limit", [](ModelHandle& m) { return named(vector(m.model.effort_limit()), dof_names(m)); }, "(nv,)")
      .def_prop_ro(
          "actuation", [](const ModelHandle& m) { return to_array(m.model.actuation()); },
          "tau = actuation @ u, a column per actuator.")
      .def_prop_ro(
          "actuators",
          [](const ModelHandle& m) {
            std::vector<std::string> out;
            for (const Actuator& a : m.model.description().actuators) out.push_back(a.name);
            return out;
          },
          "Names of the motors in actuation; those that an MJCF or scene file describes belong to the world: "
          "Figure.actuators.");
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<ModelHandle> c(
      module, "Model",
      "An immutable mechanism: a tree of links. Made by load(), human28(), ModelBuilder and others; safe to share "
      "between threads, and picklable.");
  bind_structure(c);
  bind_coordinates(c);
  bind_show(c, "The neutral configuration, inline in a notebook (height in pixels) or in the browser.");
  c.def(
       "to_urdf",
       [](const ModelHandle& m) {
         Loaded<std::string> text = io::to_urdf(m.model.description());
         return value_or_raise(std::move(text));
       },
       "The model as URDF text.")
      .def_prop_ro(
          "_devices", [](ModelHandle& m) { return kept(m, m.devices, [] { return nb::dict(); }); },
          nb::sig("def _devices(self) -> dict[int, object]"), "The model on each device that has been used.")
      .def("__repr__", [](const ModelHandle& m) { return text_of(m.model); })
      .def("__getstate__", [](const ModelHandle& m) { return std::pair(m.model.name(), to_text(m.model)); })
      .def("__setstate__", [](ModelHandle& m, const std::pair<std::string, std::string>& state) {
        new (&m) ModelHandle(from_text(state.second, state.first));
      });

  module.def(
      "model_capsule", [](const ModelHandle& m) { return nb::capsule(&m.model, "kansetsu.Model " KANSETSU_VERSION); },
      nb::arg("model"), nb::sig("def model_capsule(model: Model) -> object"),
      "What kansetsu._cuda, of the same version, takes a model from.");
  module.def(
      "human28", [] { return handle_of(human28()); },
      "The 13-link human figure with 28 hinges and a free base: nv = 34, 69 kg.");
  module.def(
      "human28_ball", [] { return handle_of(human28_ball()); },
      "The same figure with a ball joint for each hinge triple.");
  const auto check_links = [](const char* function, int links) {
    constexpr int kMost = 100000;
    if (links < 1 || links > kMost)
      raise_value(fmt::format("{}: links is {}, expected 1 to {}", function, links, kMost));
  };
  module.def(
      "pendulum",
      [check_links](int links) {
        check_links("pendulum", links);
        return handle_of(pendulum(links));
      },
      nb::arg("links") = 1, "Rods of unit length and mass, hinged about y, hanging from the ground.");
  module.def(
      "chain",
      [check_links](int links, const std::string& base) {
        check_links("chain", links);
        return handle_of(chain(links, read_word("chain: base", base, kBases)));
      },
      nb::arg("links"), nb::arg("base") = "fixed",
      "A serial chain of rods (0.3 m, 1 kg) with hinges about x, y, z in turn.");
  module.def(
      "rope",
      [check_links](int links, double length, double chord, double mass, double damping) {
        check_links("rope", links);
        return handle_of(rope(links, {.length = length, .chord = chord, .mass = mass, .damping = damping}));
      },
      nb::arg("links"), nb::kw_only(), nb::arg("length") = 2.0, nb::arg("chord") = 1.62, nb::arg("mass") = 0.2,
      nb::arg("damping") = 2e-7, "A rope of rods with hinges across it in turn and a free base; it hangs as an arc.");
  module.def("figure_names", &figure_names, "Names of the built-in figures that load() knows.");
}

}  // namespace kansetsu::python
