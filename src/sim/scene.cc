#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/quaternion.h"
#include "sim/assembly.h"
#include "sim/collisions.h"
#include "sim/impl.h"
#include "sim/medium.h"

/// A world from the plain data of a scene.
namespace kansetsu {
namespace {

/// Builds one world; `report` collects the problems that validate() cannot see.
class SceneBuilder {
 public:
  SceneBuilder(const SceneDescription& scene, World& world, World::Impl& impl, std::vector<Diagnostic>& report)
      : scene_(scene), world_(world), impl_(impl), report_(report) {}

  void build() {
    impl_.sensors.magnetic = scene_.magnetic;
    add_surfaces();
    for (const EnvironmentShape& shape : scene_.environment) add_environment(shape);
    for (const FigureDescription& figure : scene_.figures) add_figure(figure);
    if (has_errors(report_)) return;
    add_filters();
    for (const FigureDescription& figure : scene_.figures) add_loops(figure);
    for (const ConnectionDescription& c : scene_.connections) add_connection(c);
    for (const SpringDescription& s : scene_.springs) add_spring(s);
    for (const ControllerDescription& c : scene_.controllers) world_.add_controller(c);
    for (const SensorDescription& s : scene_.sensors) add_sensor(s);
    for (const EventDescription& e : scene_.events) add_event(e);
    close_loops();
    if (!has_errors(report_)) tell_penetrations();
  }

 private:
  void problem(Severity severity, const char* code, int line, std::string path, std::string message, std::string hint) {
    report_.push_back({severity, code, scene_.file, line, std::move(path), std::move(message), std::move(hint)});
  }

  void add_surfaces() {
    MaterialTable& table = impl_.contacts.materials();
    table = MaterialTable(scene_.surface_rules);
    table.set(MaterialId(0), scene_.default_surface);
    surfaces_.emplace("", MaterialId(0));
    for (const Surface& s : scene_.surfaces) surfaces_.insert_or_assign(s.name, table.add(s.material));
    for (const SurfacePair& p : scene_.surface_pairs) {
      if (surfaces_.contains(p.a) && surfaces_.contains(p.b))
        table.set_pair(surfaces_.at(p.a), surfaces_.at(p.b), p.material);
    }
  }
  MaterialId material(const std::string& name, const std::string& otherwise) const {
    const auto found = surfaces_.find(name.empty() ? otherwise : name);
    return found == surfaces_.end() ? MaterialId(0) : found->second;
  }

  void add_environment(const EnvironmentShape& e) {
    if (const auto* mesh = std::get_if<Mesh>(&e.shape.shape)) return mesh_left_out(*mesh, e.shape.name, e.line);
    impl_.contacts.add({.geometry = Geometry(e.shape.shape),
                        .X_BS = to_transform(e.shape.origin),
                        .material = material(e.shape.surface, ""),
                        .name = e.shape.name,
                        .moves = e.motion.has_value() || e.surface_velocity != Vec3<>{},
                        .motion = e.motion,
                        .surface_velocity = e.surface_velocity},
                       0, {e.shape.contype, e.shape.conaffinity});
  }
  void mesh_left_out(const Mesh& mesh, const std::string& name, int line) {
    problem(Severity::kWarning, "WORLD001", line, "shape[" + name + "]",
            fmt::format("the mesh '{}' was not loaded and does not collide", mesh.uri),
            "give the file's folder, or a simple collision shape");
  }

  void add_figure(const FigureDescription& f) {
    ModelDescription description = f.model;
    description.gravity = scene_.gravity;
    if (!f.switches.rotor_inertia) {
      for (JointDescription& joint : description.joints) {
        for (DofDescription& dof : joint.dofs) dof.rotor_inertia = 0;
      }
    }
    const bool carried = f.base_motion && description.base == Base::kFixed;
    if (carried) set_free(description);  // held by a connection that moves
    if (description.base == Base::kFixed) description.base_pose = f.initial.base;
    Loaded<Model> model = Model::build(std::move(description));
    for (const Diagnostic& d : model.diagnostics) report_.push_back(d);
    if (!model) return;
    const int index = int(impl_.figures.size());
    impl_.figures.push_back(
        std::make_unique<FigureData>(*model.value, FigureOptions{.name = f.name,
                                                                 .self_collision = f.self_collision,
                                                                 .switches = f.switches,
                                                                 .collides = scene_.contacts,
                                                                 .actuation = f.actuation,
                                                                 .gravity_compensation = f.gravity_compensation,
                                                                 .ellipsoids = f.ellipsoids}));
    list_medium_parts(*impl_.figures.back(), impl_.options.medium);
    add_shapes(index, f);
    filter_self_collisions(impl_, index);
    world_.set_state(FigureId(index), initial_state(*model.value, f));
    set_controls(FigureId(index), f.initial);
    if (carried) {
      ConnectionOptions options{.hold = Hold::kTogether, .motion = f.base_motion, .name = f.name + "/base"};
      options.X_AC = to_transform(f.initial.base);
      bases_.push_back({BodyRef{FigureId(index), LinkId(0)}, options});
    }
  }

  /// A base with a prescribed motion may be massless.
  static void set_free(ModelDescription& model) {
    model.base = Base::kFree;
    std::set<std::string> carried;
    for (const JointDescription& joint : model.joints) carried.insert(joint.child);
    for (LinkDescription& link : model.links) {
      const bool massless = !link.inertial || link.inertial->mass == 0;
      if (massless && !carried.contains(link.name)) link.inertial = Inertial{1, {}, Sym3<>::diagonal(1, 1, 1)};
    }
  }

  void add_shapes(int index, const FigureDescription& description) {
    const auto traits = [&](LinkId link, const LinkShape& s) -> std::optional<ShapeTraits> {
      if (!scene_.contacts) return std::nullopt;
      const auto* mesh = std::get_if<Mesh>(&s.shape);
      if (!mesh) return ShapeTraits{material(s.surface, description.surface), {s.contype, s.conaffinity}};
      const LinkDescription& owner = impl_.figure(index).model.link(link);
      mesh_left_out(*mesh, description.name + "/" + owner.name, owner.line);
      return std::nullopt;
    };
    kansetsu::add_shapes(impl_, index, traits);
  }

  void set_controls(FigureId id, const FigureState& initial) {
    const std::span<const ActuatorReport> actuators = world_.actuators(id);
    Eigen::VectorXd u = world_.control(id), x = world_.activation(id);
    for (size_t i = 0; i < actuators.size(); ++i) {
      if (const auto at = initial.control.find(std::string(actuators[i].name)); at != initial.control.end())
        u[long(i)] = at->second;
      if (const auto at = initial.activation.find(std::string(actuators[i].name)); at != initial.activation.end())
        x[long(i)] = at->second;
    }
    world_.set_control(id, u);
    world_.set_activation(id, x);
  }

  State initial_state(const Model& model, const FigureDescription& f) {
    State state(model);
    if (model.base() == Base::kFree) {
      const Transform<> X = to_transform(f.initial.base);
      const Quaternion<> r = to_quaternion(X.R);
      state.q.head<7>() << X.p.x, X.p.y, X.p.z, r.x, r.y, r.z, r.w;
      const Vec3<> w = transpose_times(X.R, f.initial.velocity.w), v = transpose_times(X.R, f.initial.velocity.v);
      state.v.head<6>() << w.x, w.y, w.z, v.x, v.y, v.z;
    }
    const auto put = [&](const std::map<std::string, std::vector<double>>& values, bool velocity) {
      for (const auto& [name, numbers] : values) {
        const auto joint = model.find_joint(name);
        if (!joint) continue;  // validate() has reported it
        const CoordinateRange r = model.coordinates(*joint);
        const int first = velocity ? r.v : r.q, count = velocity ? r.nv : r.nq;
        for (int k = 0; k < count && k < int(numbers.size()); ++k) {
          (velocity ? state.v : state.q)[first + k] = numbers[size_t(k)];
        }
      }
    };
    put(f.initial.q, false);
    put(f.initial.v, true);
    return state;
  }

  std::vector<int> find_shapes(const ShapeRef& ref) const {
    std::vector<int> out;
    for (size_t i = 0; i < impl_.contacts.shapes().size(); ++i) {
      if (matches(impl_, ref, impl_.contacts.shapes()[i])) out.push_back(int(i));
    }
    return out;
  }
  /// Bases with a prescribed motion pass through fixed shapes: neither can give way.
  void filter_carried() {
    const auto carried = [&](const WorldShape& s) {
      return s.figure < 0 || (s.body == 0 && scene_.figures[size_t(s.figure)].base_motion);
    };
    const std::vector<WorldShape>& shapes = impl_.contacts.shapes();
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].figure < 0 || !carried(shapes[i])) continue;
      for (size_t k = 0; k < shapes.size(); ++k) {
        if (i != k && carried(shapes[k])) impl_.contacts.change_filters().exclude_shapes(int(i), int(k));
      }
    }
  }
  void add_filters() {
    filter_carried();
    for (const ContactExclusion& e : scene_.exclusions) {
      for (const int a : find_shapes(e.a)) {
        for (const int b : find_shapes(e.b)) {
          if (a != b) impl_.contacts.change_filters().exclude_shapes(a, b);
        }
      }
    }
    for (const ContactPair& p : scene_.pairs) {
      for (const int a : find_shapes(p.a)) {
        for (const int b : find_shapes(p.b)) {
          const std::vector<WorldShape>& shapes = impl_.contacts.shapes();
          if (a == b || (shapes[size_t(a)].figure < 0 && shapes[size_t(b)].figure < 0)) continue;
          impl_.contacts.change_filters().always_include_shapes(a, b);
          if (!p.surface.empty())
            impl_.contacts.set_material_between(a, b, impl_.contacts.materials().material(material(p.surface, "")));
        }
      }
    }
  }
  /// A link or frame of a figure, and where it is on the link.
  std::pair<BodyRef, Transform<>> place(const std::string& figure, const std::string& name, const Pose& pose) const {
    if (figure.empty()) return {kWorldBody, to_transform(pose)};
    const FigureId id = world_.figure(figure);
    const Model& model = world_.model(id);
    if (name.empty()) return {{id, LinkId(0)}, to_transform(pose)};
    if (const auto link = model.find_link(name)) return {{id, *link}, to_transform(pose)};
    const FrameId frame = model.frame_id(name);
    return {{id, model.frame_link(frame)}, to_transform(model.frame(frame).origin) * to_transform(pose)};
  }

  void add_loops(const FigureDescription& f) {
    for (const LoopClosure& loop : f.loops) {
      const auto [a, X_A] = place(f.name, loop.link_a, loop.pose_a);
      const auto [b, X_B] = place(f.name, loop.link_b, loop.pose_b);
      ConnectionOptions options{.mask = loop.mask, .hold = Hold::kTogether, .name = f.name + "/" + loop.name};
      options.X_AC = X_A;
      options.X_BC = X_B;
      keep(world_.connect(a, b, options));
    }
    for (const PolynomialCoupling& c : f.couplings)
      impl_.couplings.push_back(make_coupling(c, world_.figure(f.name).value()));
  }
  CouplingData make_coupling(const PolynomialCoupling& c, int figure) const {
    const FigureData& f = impl_.figure(figure);
    const auto find = [&](const DofRef& ref) {
      if (c.tendons) {
        const int tendon = f.actuators.actuation.find_tendon(ref.joint);
        if (tendon < 0) throw Error(fmt::format("coupling '{}': there is no tendon '{}'", c.name, ref.joint));
        return tendon;
      }
      const JointId joint = f.model.joint_id(ref.joint);
      for (size_t i = 0; i < f.drives.size(); ++i) {
        if (f.drives[i].joint == joint && f.drives[i].index == ref.index) return int(i);
      }
      throw Error(fmt::format("coupling '{}': joint '{}' has no coordinate {}", c.name, ref.joint, ref.index));
    };
    return {c, figure, find(c.dependent), c.driver ? find(*c.driver) : -1};
  }
  void keep(ConnectionId id) { impl_.connections[place_of(id)].kept = true; }

  void add_connection(const ConnectionDescription& c) {
    const auto [a, X_A] = place(c.a.figure, c.a.link, c.a.pose);
    const auto [b, X_B] = place(c.b.figure, c.b.link, c.b.pose);
    ConnectionOptions options;
    options.mask = c.mask;
    options.hold = c.hold;
    options.X_AC = X_A;
    options.X_BC = X_B;
    options.break_force = c.break_force;
    options.break_torque = c.break_torque;
    options.restitution = c.restitution;
    options.compliance = c.compliance;
    options.motion = c.motion;
    options.name = c.name;
    const ConnectionId id = world_.connect(a, b, options);
    keep(id);
    if (!c.active) world_.release(id);
  }
  void add_spring(const SpringDescription& s) {
    const auto [a, X_A] = place(s.a.figure, s.a.link, s.a.pose);
    const auto [b, X_B] = place(s.b.figure, s.b.link, s.b.pose);
    world_.add_spring(a, X_A.p, b, X_B.p, s);
  }
  void add_sensor(const SensorDescription& s) {
    SensorData data;
    data.description = s;
    using enum SensorKind;
    std::tie(data.body, data.X_LS) = place(s.at.figure, s.at.link, s.at.pose);
    if (s.reference)
      std::tie(data.reference, data.X_LR) = place(s.reference->figure, s.reference->link, s.reference->pose);
    if (s.kind == kJointForce) {
      const FigureId id = world_.figure(s.at.figure);
      const Model& model = world_.model(id);
      data.body = {id, model.child_link(model.joint_id(s.joint))};
    } else if (s.kind == kConnectionForce) {
      data.connection = int(place_of(world_.connection(s.connection)));
    } else if (s.kind == kDistance || s.kind == kNormal || s.kind == kFromTo) {
      data.shapes = find_shapes(s.contact);
      data.others = find_shapes(s.other);
      if (data.shapes.empty() || data.others.empty())
        throw Error(fmt::format("sensor '{}': there is no shape on one of its sides", s.name));
    }
    if (s.volume) data.volume.emplace(*s.volume);
    if (!s.target.empty()) find_target(data);
    if (s.kind >= kSubtreeCom && s.kind <= kSubtreeAngularMomentum && !data.body.is_world()) mark_subtree(data);
    data.rng.seed(s.seed.value_or(seed_for(scene_.seed, s.name)));
    data.value.assign(size_t(sensor_size(s.kind)), 0.0);
    impl_.sensors.list.push_back(std::move(data));
  }
  /// The coordinate, tendon or actuator that a sensor measures.
  void find_target(SensorData& data) {
    const SensorDescription& s = data.description;
    const FigureData& f = impl_.figure(data.body.figure.value());
    using enum SensorKind;
    if (s.kind >= kTendonPosition && s.kind <= kTendonLimitForce) {
      data.index = f.actuators.actuation.find_tendon(s.target);
    } else if (s.kind >= kActuatorPosition && s.kind <= kActuatorForce) {
      data.index = f.actuators.actuation.find_actuator(s.target);
    } else {
      const JointId joint = f.model.joint_id(s.target);
      data.q = f.model.coordinates(joint).q, data.v = f.model.coordinates(joint).v;
      for (size_t i = 0; i < f.drives.size() && data.index < 0; ++i) {
        if (f.drives[i].joint == joint) data.index = int(i);
      }
    }
    if (data.index < 0) throw Error(fmt::format("sensor '{}': there is no '{}'", s.name, s.target));
  }
  void mark_subtree(SensorData& data) const {
    const Model& model = world_.model(data.body.figure);
    data.subtree.assign(size_t(model.link_count()), 0);
    for (int i = 0; i < model.link_count(); ++i) {  // parents come first
      const auto parent = model.parent(LinkId(i));
      data.subtree[size_t(i)] = LinkId(i) == data.body.link || (parent && data.subtree[size_t(parent->value())]);
    }
  }

  void add_event(const EventDescription& e) {
    const bool apart = e.trigger == TriggerKind::kLift;  // a lift follows a touch
    impl_.events.list.push_back({.description = e, .was_true = apart});
  }

  /// Line of a connection, or of a loop, which is a connection FIGURE/LOOP.
  int line_of(const std::string& connection) const {
    for (const ConnectionDescription& c : scene_.connections) {
      if (c.name == connection) return c.line;
    }
    for (const FigureDescription& f : scene_.figures) {
      for (const LoopClosure& loop : f.loops) {
        if (f.name + "/" + loop.name == connection) return loop.line;
      }
    }
    return 0;
  }

  /// Loops are closed before the first step; one that cannot be closed is an error with its gap.
  void close_loops() {
    for (const auto& [body, options] : bases_) keep(world_.connect(kWorldBody, body, options));
    const bool any = std::any_of(impl_.connections.begin(), impl_.connections.end(),
                                 [](const ConnectionData& c) { return c.active; });
    if (!any && impl_.couplings.empty()) return;
    const World::AssemblyReport report = world_.assemble();
    if (report.ok) return;
    const double accepted = threshold::kClosedGap * mechanism_size(impl_);
    for (const ConnectionData& c : impl_.connections) {
      if (!c.active || (c.position_gap <= accepted && c.angle_gap <= threshold::kClosedGap)) continue;
      problem(Severity::kError, "WORLD002", line_of(c.options.name), "connection[" + c.options.name + "]",
              fmt::format("the ends cannot be brought together: {:.6g} m and {:.6g} rad remain", c.position_gap,
                          c.angle_gap),
              "check the frames and the initial posture; the loop may be impossible to close");
    }
    for (const CouplingData& c : impl_.couplings) {
      const double gap = c.value(impl_.figure(c.figure)).gap;
      if (std::abs(gap) <= accepted) continue;
      problem(Severity::kError, "WORLD002", c.coupling.line, "coupling[" + c.coupling.name + "]",
              fmt::format("joint '{}' cannot satisfy the coupling: an error of {:.6g} remains",
                          c.coupling.dependent.joint, gap),
              "check the coefficients and the initial posture");
    }
  }

  std::string name_of(const WorldShape& s) const {
    if (s.owner < 0) return s.name;
    const FigureData& f = impl_.figure(s.owner);
    const std::string& link = f.model.link(s.link).name;
    return link == f.options.name ? link : f.options.name + "/" + link;
  }
  /// Warns of penetrations at the start, deepest first: they will be pushed apart.
  void tell_penetrations() {
    ContactFinder contacts = impl_.contacts;  // looking changes nothing
    contacts.find(impl_.figures, 0, impl_.options.contact_margin, impl_.options.contact.tol_gap, {});
    std::vector<std::pair<double, const Touch*>> deep;
    for (const Touch& t : contacts.touches()) {
      double gap = 0;
      for (int k = 0; k < t.patch.vertex_count; ++k) gap = std::min(gap, t.patch.vertices[size_t(k)].gap);
      if (gap < -threshold::kDeepStart) deep.emplace_back(gap, &t);
    }
    std::stable_sort(deep.begin(), deep.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [gap, touch] : deep) {
      const WorldShape &a = contacts.shapes()[size_t(touch->real)], &b = contacts.shapes()[size_t(touch->parent)];
      problem(Severity::kWarning, "WORLD004", 0, "",
              fmt::format("at the start '{}' is {:.3g} m deep in '{}'", name_of(a), -gap, name_of(b)),
              "move one of them, or exclude the pair; otherwise they are pushed apart");
    }
  }

  const SceneDescription& scene_;
  World& world_;
  World::Impl& impl_;
  std::vector<Diagnostic>& report_;
  std::map<std::string, MaterialId> surfaces_;
  std::vector<std::pair<BodyRef, ConnectionOptions>> bases_;
};

}  // namespace

Loaded<World> World::build(const SceneDescription& scene, int threads) {
  Loaded<World> out;
  out.diagnostics = validate(scene);
  if (has_errors(out.diagnostics)) return out;
  WorldOptions options;
  options.time_step = scene.time_step;
  options.gravity = scene.gravity;
  options.medium = scene.medium;
  options.integrator = scene.integrator;
  options.tolerance = scene.tolerance;
  options.seed = scene.seed;
  options.sleeping = scene.sleeping;
  if (scene.contact_law == ContactLaw::kNakamuraYamane) options.contact.take_law_of_2000();
  options.threads = threads;
  World world(options);
  try {
    SceneBuilder(scene, world, *world.impl_, out.diagnostics).build();
  } catch (const Error& error) {
    out.diagnostics.push_back({Severity::kError, "WORLD003", scene.file, 0, "", error.what(), ""});
  }
  if (!has_errors(out.diagnostics)) out.value = std::move(world);
  return out;
}

}  // namespace kansetsu
