#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/load_scene.h"
#include "descriptions.h"
#include "errors.h"
#include "inputs.h"
#include "kansetsu/spatial/quaternion.h"
#include "shapes.h"
#include "words.h"
#include "world_handle.h"
#include "world_words.h"

/// kansetsu.World: construction, contents, and time stepping.
namespace kansetsu::python {
namespace {

WorldHandle& self_of(nb::handle h) { return *nb::inst_ptr<WorldHandle>(h); }

void make_world(WorldHandle* at, double time_step, Like gravity, const std::string& integrator, double tolerance,
                double contact_margin, std::uint64_t seed, int threads, const std::string& contact_law) {
  WorldOptions options;
  if (!(time_step > 0) || !std::isfinite(time_step))
    raise_value(fmt::format("World: time_step is {}, expected more than 0", time_step));
  if (threads < 1 || threads > 256) raise_value(fmt::format("World: threads is {}, expected 1 to 256", threads));
  options.time_step = time_step, options.tolerance = tolerance, options.contact_margin = contact_margin;
  if (!gravity.is_none()) options.gravity = read_vec3({"World", "gravity"}, gravity);
  options.integrator = read_word("World: integrator", integrator, kIntegrators);
  options.seed = seed, options.threads = threads;
  SceneDescription scene;
  scene.contact_law = read_word("World: contact_law", contact_law, kContactLaws);
  if (scene.contact_law == ContactLaw::kNakamuraYamane) options.contact.take_law_of_2000();
  scene.name = "world", scene.seed = seed, scene.gravity = options.gravity, scene.time_step = time_step;
  new (at) WorldHandle(World(options), std::move(scene));
}

WorldHandle* world_of(const char* function, cli::ModelSource source, const std::optional<std::string>& base,
                      const std::optional<std::string>& keyframe, const std::optional<double>& time_step,
                      const std::optional<std::uint64_t>& seed, int threads, Folders package_path, Folders allow_path) {
  if (base) source.base = read_word(fmt::format("{}: base", function).c_str(), *base, kBases);
  if (threads < 1 || threads > 256) raise_value(fmt::format("{}: threads is {}, expected 1 to 256", function, threads));
  const cli::ReferencePaths paths(read_paths(function, package_path, allow_path));
  cli::StagedScene staged = cli::load_stage(source);
  SceneDescription scene = value_or_raise(std::move(staged.scene));
  warn(staged.of_meshes);
  if (keyframe) apply_keyframe(scene, *keyframe);
  if (time_step) scene.time_step = *time_step;
  if (seed) scene.seed = *seed;
  Loaded<World> world = World::build(scene, threads);
  if (!world) raise_diagnostics(world.diagnostics);
  return new WorldHandle(*std::move(world.value), std::move(scene));
}

WorldHandle* load_world(const PathLike& path, const std::optional<std::string>& base,
                        const std::optional<std::string>& keyframe, const std::optional<double>& time_step,
                        const std::optional<std::uint64_t>& seed, int threads, Folders package_path,
                        Folders allow_path) {
  return world_of("World.load", {.name = described(path).string()}, base, keyframe, time_step, seed, threads,
                  package_path, allow_path);
}

WorldHandle* parse_world(const std::string& text, const std::optional<std::string>& base,
                         const std::optional<std::string>& keyframe, const std::optional<double>& time_step,
                         const std::optional<std::uint64_t>& seed, int threads, const std::string& file_name,
                         Folders package_path, Folders allow_path) {
  return world_of("World.parse", {.name = file_name, .text = require_text("World.parse", text)}, base, keyframe,
                  time_step, seed, threads, package_path, allow_path);
}

State read_state(const char* function, const Model& model, Like q, Like v) {
  State state(model);
  if (!q.is_none()) {
    const std::vector<double> x = read_numbers({function, "q", position_name, &model}, q, model.nq());
    state.q = map(x.data(), model.nq());
  }
  if (!v.is_none()) {
    const std::vector<double> x = read_numbers({function, "v", dof_name, &model}, v, model.nv());
    state.v = map(x.data(), model.nv());
  }
  return state;
}

void place_base(State& state, const Transform<>& X) {
  const Quaternion<> turn = to_quaternion(X.R);
  state.q.head<7>() << X.p.x, X.p.y, X.p.z, turn.x, turn.y, turn.z, turn.w;
}

FigureHandle add_model(nb::handle self, ModelObject model, Like q, Like v, const std::string& name,
                       const std::string& self_collision, const ContactMaterial& material, bool collides, Like base) {
  WorldHandle& w = self_of(self);
  if (!nb::isinstance<ModelHandle>(model)) {
    raise_type(
        fmt::format("World.add: model is a '{}', expected a kansetsu.Model: load() reads one, ModelBuilder makes "
                    "one; a shape is added by add_body(), add_fixed() or add_moving()",
                    nb::type_name(model.type()).c_str()));
  }
  const auto& m = nb::cast<const ModelHandle&>(model);
  State state = read_state("World.add", m.model, q, v);
  if (!base.is_none()) {
    if (m.model.base() != Base::kFree)
      raise_value("World.add: base is the pose of a free base; this one is fixed, see with_base()");
    const Transform<> X = read_pose({"World.add", "base"}, base);
    place_base(state, X);
  }
  const WorldHandle::Call call(w, "World.add");
  FigureOptions options;
  options.name = name, options.material = material, options.collides = collides;
  options.self_collision = read_word("World.add: self_collision", self_collision, kSelfCollisions);
  const FigureId id = w.world.add(m.model, state, options);
  // The gravity of the world applies: if the model had another, the world uses its own copy of the model.
  const Vec3<> g = w.world.model(id).gravity();
  if (g == m.model.gravity()) w.set_model(id, std::move(model));
  return {nb::borrow(self), id};
}

FigureHandle add_body(nb::handle self, const AnyShape& shape, double mass, Like pose, const std::string& name,
                      const ContactMaterial& material, Like v) {
  WorldHandle& w = self_of(self);
  if (!(mass > 0) || !std::isfinite(mass))
    raise_value(fmt::format("World.add_body: mass is {}, expected more than 0", mass));
  const Transform<> X = read_pose({"World.add_body", "pose"}, pose);
  const WorldHandle::Call call(w, "World.add_body");
  FigureDescription body = make_body(name, to_shape(shape), mass, to_pose(X));
  body.model.gravity = w.world.gravity();
  const Model model = value_or_raise(Model::build(std::move(body.model)));
  State state = read_state("World.add_body", model, nb::none(), v);
  place_base(state, X);
  FigureOptions options;
  options.name = name, options.material = material;
  return {nb::borrow(self), w.world.add(model, state, options)};
}

int add_fixed(WorldHandle& w, const AnyShape& shape, Like pose, const ContactMaterial& material,
              const std::string& name, Like surface_velocity) {
  const Transform<> X = read_pose({"World.add_fixed", "pose"}, pose);
  const Vec3<> velocity =
      surface_velocity.is_none() ? Vec3<>{} : read_vec3({"World.add_fixed", "surface_velocity"}, surface_velocity);
  const WorldHandle::Call call(w, "World.add_fixed");
  const Shape s = to_shape(shape);
  const ShapeId id = velocity == Vec3<>{} ? w.world.add_fixed(s, X, material, name)
                                          : w.world.add_moving(s, X, std::nullopt, velocity, material, name);
  EnvironmentShape e;
  e.shape.name = name, e.shape.shape = s, e.shape.origin = to_pose(X), e.surface_velocity = velocity;
  w.scene.environment.push_back(std::move(e));
  return id.value();
}

int add_moving(WorldHandle& w, const AnyShape& shape, Like pose, Like velocity, Like amplitude, Like axis, double rate,
               double swing, double frequency, double phase, double start, double stop, Like surface_velocity,
               const ContactMaterial& material, const std::string& name) {
  const Transform<> X = read_pose({"World.add_moving", "pose"}, pose);
  const auto vec3 = [](const char* argument, const Like& value, const Vec3<>& otherwise) {
    return value.is_none() ? otherwise : read_vec3({"World.add_moving", argument}, value);
  };
  PrescribedMotion motion;
  motion.velocity = vec3("velocity", velocity, {});
  motion.amplitude = vec3("amplitude", amplitude, {});
  motion.axis = vec3("axis", axis, motion.axis);
  motion.rate = rate, motion.swing = swing, motion.frequency = frequency, motion.phase = phase;
  motion.start = start, motion.stop = stop;
  const Vec3<> surface = vec3("surface_velocity", surface_velocity, {});
  const WorldHandle::Call call(w, "World.add_moving");
  const Shape s = to_shape(shape);
  const ShapeId id = w.world.add_moving(s, X, motion, surface, material, name);
  EnvironmentShape e;
  e.shape.name = name, e.shape.shape = s, e.shape.origin = to_pose(X), e.motion = motion, e.surface_velocity = surface;
  w.scene.environment.push_back(std::move(e));
  return id.value();
}

std::int64_t advance(WorldHandle& w, double seconds, Progress progress) {
  if (!(seconds >= 0) || !std::isfinite(seconds))
    raise_value(fmt::format("World.advance: seconds is {}, expected 0 or more", seconds));
  const double steps = std::ceil(seconds / w.world.time_step() - 1e-9);
  if (!(steps < 1e15))
    raise_value(fmt::format("World.advance: {} s are too many steps of {} s", seconds, w.world.time_step()));
  return w.step(std::int64_t(steps), "World.advance", progress);
}

std::vector<std::string> figure_names_of(WorldHandle& w) {
  std::vector<std::string> out;
  for (int i = 0; i < w.world.figure_count(); ++i) out.push_back(w.world.name(FigureId(i)));
  return out;
}

void bind_making(nb::class_<WorldHandle>& c) {
  using namespace nb::literals;
  c.def("__init__", make_world, "time_step"_a = 1e-3, "gravity"_a.none() = nb::none(), "integrator"_a = "semi_implicit",
        "tolerance"_a = 1e-6, "contact_margin"_a = 2e-3, "seed"_a = 0, "threads"_a = 1, "contact_law"_a = "engine",
        "An empty world. integrator: 'semi_implicit', 'rk4' or 'adaptive' (with its tolerance per step). contact_law: "
        "'engine', or\n'nakamura_yamane': friction of patches as published in 2000.")
      .def_static("load", load_world, "path"_a, nb::kw_only(), "base"_a = nb::none(), "keyframe"_a = nb::none(),
                  "time_step"_a = nb::none(), "seed"_a = nb::none(), "threads"_a = 1, PATH_ARGUMENTS,
                  "The world of a scene, MJCF or SDF file; a URDF file or built-in figure is put on a floor. "
                  "keyframe: initial state, by name. package_path, allow_path: as of load().")
      .def_static("parse", parse_world, "text"_a, nb::kw_only(), "base"_a = nb::none(), "keyframe"_a = nb::none(),
                  "time_step"_a = nb::none(), "seed"_a = nb::none(), "threads"_a = 1, "file_name"_a = "text",
                  PATH_ARGUMENTS,
                  "As load(), from the text of such a file. file_name: its name in messages; files that it names are "
                  "relative to the folder of this.")
      .def("add", add_model, "model"_a, "q"_a.none() = nb::none(), "v"_a.none() = nb::none(), nb::kw_only(),
           "name"_a = "", "self_collision"_a = "none", "material"_a = ContactMaterial{}, "collides"_a = true,
           "base"_a.none() = nb::none(),
           "Adds a figure: in its neutral configuration and at rest, unless given. base: pose of a free base. "
           "self_collision: 'none', "
           "'not_neighbours', 'all'.")
      .def("add_body", add_body, "shape"_a, "mass"_a, "pose"_a.none() = nb::none(), nb::kw_only(), "name"_a = "",
           "material"_a = ContactMaterial{}, "v"_a.none() = nb::none(),
           "A free body of one shape, with the inertia of a solid. v: [omega, velocity] in its own axes.")
      .def("add_fixed", add_fixed, "shape"_a, "pose"_a.none() = nb::none(), nb::kw_only(),
           "material"_a = ContactMaterial{}, "name"_a = "", "surface_velocity"_a.none() = nb::none(),
           "Adds a fixed shape: a floor, a wall. surface_velocity: of a conveyor, in the shape's axes.")
      .def("add_moving", add_moving, "shape"_a, "pose"_a.none() = nb::none(), nb::kw_only(),
           "velocity"_a.none() = nb::none(), "amplitude"_a.none() = nb::none(), "axis"_a.none() = nb::none(),
           "rate"_a = 0.0, "swing"_a = 0.0, "frequency"_a = 0.0, "phase"_a = 0.0, "start"_a = 0.0, "stop"_a = kInfinity,
           "surface_velocity"_a.none() = nb::none(), "material"_a = ContactMaterial{}, "name"_a = "",
           "Adds a shape with a prescribed motion: a platform, a turntable. With s the time since start (until stop) "
           "and wave = sin(2 pi\n"
           "frequency s + phase) - sin(phase), it is shifted by velocity s + amplitude wave and turned by rate s + "
           "swing "
           "wave about axis (z by\n"
           "default) through its origin, in world axes.")
      .def_prop_ro("figures", figure_names_of, "Names of the figures.")
      .def(
          "__getitem__",
          [](nb::handle self, const std::string& name) {
            WorldHandle& w = self_of(self);
            return FigureHandle{nb::borrow(self), w.world.figure(name)};
          },
          "name"_a, "A figure by name.")
      .def(
          "__contains__",
          [](WorldHandle& self, const std::string& name) {
            const auto names = figure_names_of(self);
            return std::ranges::find(names, name) != names.end();
          },
          "name"_a, "Whether there is a figure of that name.")
      .def(
          "__iter__",
          [](WorldHandle& self) -> nb::typed<nb::iterator, std::string> {
            return nb::iter(nb::cast(figure_names_of(self)));
          },
          "The names of the figures.")
      .def(
          "body",
          [](nb::handle self, BodyLike body) {
            WorldHandle& w = self_of(self);
            const BodyArgument b = read_body(w, "World.body", body);
            return BodyHandle{nb::borrow(self), b.body, b.X_LF};
          },
          "body"_a, "A link or frame: 'figure/link', ('figure', 'link').")
      .def("__repr__", [](const WorldHandle& w) {
        std::string names;
        for (int i = 0; i < w.world.figure_count(); ++i) names += (i > 0 ? ", " : "") + w.world.name(FigureId(i));
        return fmt::format("<World at {:.6g} s: {}>", w.world.time(), names.empty() ? "no figures" : names);
      });
}

void bind_time(nb::class_<WorldHandle>& c) {
  using namespace nb::literals;
  c.def(
       "step",
       [](WorldHandle& w, std::int64_t count, Progress progress) {
         if (count < 0) raise_value(fmt::format("World.step: count is {}, expected 0 or more", count));
         w.step(count, "World.step", progress);
       },
       "count"_a = 1, nb::kw_only(), "progress"_a = false,
       "One time step, or `count` of them. Raises WorldError if the world has stopped. progress: True for a bar, or a "
       "function of (done, total).")
      .def("advance", advance, "seconds"_a, nb::kw_only(), "progress"_a = false,
           "Steps until this time has passed or an event ends the run; returns the number of steps. progress: as of "
           "step().")
      .def_prop_ro(
          "time", [](const WorldHandle& w) { return w.world.time(); }, "[s]")
      .def_prop_ro(
          "time_step", [](const WorldHandle& w) { return w.world.time_step(); }, "[s]")
      .def_prop_ro(
          "running", [](const WorldHandle& w) { return w.world.status() == WorldStatus::kRunning; },
          "False after an event that ends the run, and after a failure.")
      .def_prop_ro(
          "failure", [](const WorldHandle& w) { return w.world.failure(); }, "Why it stopped: time, body, joint.")
      .def(
          "on_step", [](nb::handle self, nb::object callback) { self_of(self).on_step(std::move(callback), self); },
          "callback"_a,
          nb::sig("def on_step(self, callback: collections.abc.Callable[[World, float], object]) -> None"),
          "callback(world, time) before every step: sets torques, wrenches, connections. Its exceptions end the step.")
      .def(
          "save",
          [](WorldHandle& w) {
            const WorldHandle::Call call(w, "World.save");
            return w.world.save();
          },
          "A snapshot of the complete state, exact to the bit.")
      .def(
          "restore",
          [](WorldHandle& w, const Snapshot& s) {
            const WorldHandle::Call call(w, "World.restore");
            w.world.restore(s);
          },
          "snapshot"_a, "Restores a snapshot of this world, or of one with the same structure.")
      .def(
          "hash",
          [](WorldHandle& w) {
            const WorldHandle::Call call(w, "World.hash");
            return w.world.hash();
          },
          "Hash of time and all states, to the bit.");
}

PyType_Slot kSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
       Py_VISIT(Py_TYPE(self));
       return nb::inst_ready(self) ? nb::inst_ptr<WorldHandle>(self)->traverse(visit, arg) : 0;
     })},
    {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) -> int {
       if (nb::inst_ready(self)) nb::inst_ptr<WorldHandle>(self)->clear();
       return 0;
     })},
    {0, nullptr}};

}  // namespace

void bind_world(nb::module_& module) {
  bind_figure(module);
  nb::class_<Snapshot>(module, "Snapshot", "A snapshot of a world, as a value.")
      .def_prop_ro("time", &Snapshot::time, "[s]")
      .def(
          "__eq__",
          [](const Snapshot& s, nb::handle other) {
            return nb::isinstance<Snapshot>(other) && s.to_bytes() == nb::cast<const Snapshot&>(other).to_bytes();
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Snapshot& s) { return Py_ssize_t(std::hash<std::string>{}(s.to_bytes()) >> 1); })
      .def("__repr__", [](const Snapshot& s) { return fmt::format("<Snapshot at {:.6g} s>", s.time()); })
      .def("__getstate__",
           [](const Snapshot& s) {
             const std::string bytes = s.to_bytes();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__", [](Snapshot& s, const nb::bytes& bytes) {
        new (&s) Snapshot(Snapshot::from_bytes({static_cast<const char*>(bytes.data()), bytes.size()}));
      });
  nb::class_<WorldHandle> c(
      module, "World", nb::type_slots(kSlots), nb::is_weak_referenceable(),
      "Figures, their environment and the connections between them, advancing in time. Contacts are rigid; "
      "connections are made and "
      "cut at any step; every force is reported. One thread at a time.");
  bind_making(c);
  bind_time(c);
  bind_world_state(c);
  bind_world_joining(module, c);
  bind_world_reports(module, c);
  bind_world_control(c);
  bind_world_recording(module, c);
}

}  // namespace kansetsu::python
