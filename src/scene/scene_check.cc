#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "kansetsu/base/suggest.h"
#include "kansetsu/scene/scene.h"
#include "model/checks.h"
#include "scene/scene_codes.h"
#include "scene/scene_schema.h"

namespace kansetsu {
namespace {

using Names = std::vector<std::string>;

/// One model's names, looked up often.
struct FigureNames {
  const FigureDescription* figure = nullptr;
  std::unordered_map<std::string_view, const JointDescription*> joints;
  std::set<std::string_view> links, shapes, actuators, tendons;

  explicit FigureNames(const FigureDescription& f) : figure(&f) {
    for (const JointDescription& joint : f.model.joints) joints.emplace(joint.name, &joint);
    for (const FrameDescription& frame : f.model.frames) links.insert(frame.name);
    for (const Actuator& motor : f.model.actuators) actuators.insert(motor.name);
    for (const ActuatorDescription& actuator : f.actuation.actuators) actuators.insert(actuator.name);
    for (const TendonDescription& tendon : f.actuation.tendons) tendons.insert(tendon.name);
    for (const LinkDescription& link : f.model.links) {
      links.insert(link.name);
      for (const LinkShape& shape : link.collisions) shapes.insert(shape.name);
    }
  }
};

/// The names of a set or a map, in order.
template <class Known>
Names listed(const Known& known) {
  Names names;
  for (const auto& entry : known) {
    if constexpr (requires { entry.first; })
      names.emplace_back(entry.first);
    else
      names.emplace_back(entry);
  }
  std::ranges::sort(names);
  return names;
}

class SceneCheck {
 public:
  explicit SceneCheck(const SceneDescription& scene) : scene_(scene) {
    for (const FigureDescription& figure : scene.figures) figures_.emplace(figure.name, FigureNames(figure));
    for (const Surface& surface : scene.surfaces) surfaces_.insert(surface.name);
    for (const ConnectionDescription& c : scene.connections) connections_.insert(c.name);
    for (const ControllerDescription& c : scene.controllers) controllers_.insert(c.name);
    for (const EnvironmentShape& shape : scene.environment) shapes_.insert(shape.shape.name);
  }

  std::vector<Diagnostic> run() {
    check_numbers_of_scene();
    check_unique_names();
    for (const FigureDescription& figure : scene_.figures) check(figure);
    for (const EnvironmentShape& shape : scene_.environment) check(shape);
    for (const Surface& surface : scene_.surfaces) check(surface.material, 0, fmt::format("surface[{}]", surface.name));
    for (const SurfacePair& pair : scene_.surface_pairs) check(pair);
    for (const ContactExclusion& e : scene_.exclusions) check_pair(e.a, e.b, e.line, "exclude");
    for (const ContactPair& pair : scene_.pairs) {
      check_pair(pair.a, pair.b, pair.line, "pair");
      at(pair.line, "pair").surface(pair.surface);
    }
    for (const ConnectionDescription& c : scene_.connections) check(c);
    for (const SpringDescription& s : scene_.springs) check(s);
    for (const ControllerDescription& c : scene_.controllers) check(c);
    for (const SensorDescription& s : scene_.sensors) check(s);
    for (const EventDescription& e : scene_.events) check(e);
    for (const RecordingDescription& r : scene_.recordings) at(r.line, "record").numbers(r);
    for (const Keyframe& key : scene_.keyframes) check(key);
    std::ranges::stable_sort(found_, {}, &Diagnostic::line);
    return std::move(found_);
  }

 private:
  /// Reports about one part of the scene.
  struct At {
    SceneCheck& check;
    int line;
    std::string path;

    void error(const char* code, std::string message, std::string hint) const {
      check.found_.push_back(
          {Severity::kError, code, check.scene_.file, line, path, std::move(message), std::move(hint)});
    }
    /// Unusable numbers, in a record and in those that it holds; members that are read by hand are checked by hand.
    template <HasSchema Record>
    void numbers(const Record& x) const {
      for_each_field<Record>([&](const auto& field) {
        if (field.nesting != Nesting::kByHand) numbers(field.key, x.*field.member, field.range);
      });
    }
    template <class T>
    void numbers(std::string_view name, const T& x, NumberRange range = NumberRange::kFinite) const {
      if constexpr (std::is_same_v<T, double>) {
        number(name, x, range);
      } else if constexpr (std::is_same_v<T, Vec3<>>) {
        for (const double y : {x.x, x.y, x.z}) number(name, y, range);
      } else if constexpr (std::is_same_v<T, std::array<double, 5>>) {
        for (const double y : x) number(name, y, range);
      } else if constexpr (std::is_same_v<T, std::map<std::string, double>>) {
        for (const auto& [key, y] : x) number(fmt::format("{} of '{}'", name, key), y, range);
      } else if constexpr (kIsOptional<T>) {
        if (x) numbers(name, *x, range);
      } else if constexpr (std::is_same_v<T, PrescribedMotion>) {
        motion(x);
      } else if constexpr (HasSchema<T>) {
        numbers(x);
      }
    }
    void number(std::string_view name, double x, NumberRange range) const {
      const bool limit = range == NumberRange::kLimit;
      if (range == NumberRange::kOther) return;
      if (!limit && !(std::abs(x) <= kLargestNumber))
        return error(scene::kNumber, fmt::format("{} is {}", name, x),
                     "write a finite number in SI units, at most 1e15");
      if ((limit || range == NumberRange::kNotNegative) && !(x >= 0))
        error(scene::kRange, fmt::format("{} is {}", name, x), "give zero or more");
    }
    void motion(const PrescribedMotion& m) const {
      numbers(m);
      if (!(m.stop >= m.start))
        error(scene::kRange, fmt::format("motion stops at {} s, before it starts", m.stop), "stop is after start");
      if ((m.rate != 0 || m.swing != 0) && !(norm(m.axis) > 1e-9))
        error(scene::kRange, "the axis of the motion is the zero vector", "give a direction");
    }
    /// Whether the name is one of those that are known; an error if not.
    template <class Known>
    bool named(const char* code, std::string_view kind, const std::string& name, const Known& known) const {
      if (known.contains(name)) return true;
      error(code, fmt::format("there is no {} '{}'", kind, name),
            check.hints_.nearest(name, known.size(), [&] { return listed(known); }));
      return false;
    }
    const FigureNames* figure(const std::string& name) const {
      return named(scene::kUnknownFigure, "figure", name, check.figures_) ? &check.figures_.at(name) : nullptr;
    }
    /// Null if the figure has no such joint.
    const JointTypeInfo* joint(const FigureNames& names, const std::string& name) const {
      if (!named(scene::kUnknownJoint, "joint", name, names.joints)) return nullptr;
      return &info(names.joints.at(name)->type);
    }
    void surface(const std::string& name) const {
      if (!name.empty()) named(scene::kUnknownSurface, "surface", name, check.surfaces_);
    }
    void connection(const std::string& name) const {
      named(scene::kUnknownConnection, "connection", name, check.connections_);
    }
    void actuator(const FigureNames& names, const std::string& name) const {
      named(scene::kUnknownActuator, "actuator", name, names.actuators);
    }
    void tendon(const FigureNames& names, const std::string& name) const {
      named(scene::kUnknownTendon, "tendon", name, names.tendons);
    }
    void anchor(const Anchor& anchor) const { shape({.link = anchor.link, .figure = anchor.figure}); }
    /// The ends of a connection or a spring.
    void ends(const Anchor& a, const Anchor& b) const {
      anchor(a);
      anchor(b);
      if (a.figure.empty() && b.figure.empty())
        error(scene::kNowhere, "both ends are in the world", "name a figure at one end or both");
    }
    void dof(const FigureNames& names, const DofRef& ref) const {
      const JointTypeInfo* type = joint(names, ref.joint);
      if (!type) return;
      const int nv = type->nv;
      if (ref.index >= 0 && ref.index < nv) return;
      error(scene::kUnknownJoint, fmt::format("joint '{}' has no coordinate {}", ref.joint, ref.index),
            nv == 0 ? "it is fixed" : fmt::format("its coordinates are 0…{}", nv - 1));
    }
    void shape(const ShapeRef& ref) const {
      const FigureNames* names = ref.figure.empty() ? nullptr : figure(ref.figure);
      if (!ref.figure.empty() && !names) return;
      if (names && !ref.link.empty()) named(scene::kUnknownLink, "link", ref.link, names->links);
      if (!ref.shape.empty()) named(scene::kUnknownShape, "shape", ref.shape, names ? names->shapes : check.shapes_);
    }
    void mask(ConstraintMask mask) const {
      if (mask == 0 || mask > kWeldMask) {
        error(scene::kEmptyMask, fmt::format("mask {} selects no direction", int(mask)),
              "choose from rx, ry, rz, x, y, z");
      }
    }
  };
  At at(int line, std::string path) { return {*this, line, std::move(path)}; }

  void check_numbers_of_scene() {
    const At here = at(0, "scene");
    here.numbers(scene_);
    if (!(scene_.time_step > 0 && scene_.time_step <= 1e6)) {
      here.error(scene::kRange, fmt::format("time step is {} s", scene_.time_step), "give a time above 0, e.g. 0.001");
    }
    if (!(scene_.tolerance > 0 && scene_.tolerance < 1)) {
      here.error(scene::kRange, fmt::format("tolerance is {}", scene_.tolerance),
                 "give a number between 0 and 1, e.g. 1e-6");
    }
    check(scene_.default_surface, 0, "surface");
  }

  template <class Items, class NameOf>
  void check_unique(const Items& items, const char* kind, const NameOf& name_of) {
    std::set<std::string_view> seen;
    for (const auto& item : items) {
      const std::string& name = name_of(item);
      int line = 0;
      if constexpr (requires { item.line; }) line = item.line;
      if (name.empty()) {
        at(line, kind).error(scene::kNoName, fmt::format("{} without a name", kind), "give it a name");
      } else if (!seen.insert(name).second) {
        at(line, fmt::format("{}[{}]", kind, name))
            .error(scene::kDuplicateName, fmt::format("{} '{}' is defined twice", kind, name), "rename one of them");
      }
    }
  }
  void check_unique_names() {
    const auto name = [](const auto& item) -> const std::string& { return item.name; };
    check_unique(scene_.figures, "figure", name);
    check_unique(scene_.environment, "environment",
                 [](const EnvironmentShape& s) -> const std::string& { return s.shape.name; });
    check_unique(scene_.surfaces, "surface", name);
    check_unique(scene_.connections, "connection", name);
    check_unique(scene_.springs, "spring", name);
    check_unique(scene_.controllers, "controller", name);
    check_unique(scene_.sensors, "sensor", name);
    check_unique(scene_.events, "event", name);
    check_unique(scene_.keyframes, "keyframe", name);
  }

  void check(const ContactMaterial& m, int line, const std::string& path) {
    const At here = at(line, path);
    here.numbers(m);
    if (m.mu_d > m.mu_s) {
      here.error(scene::kRange, fmt::format("dynamic friction {} is above static friction {}", m.mu_d, m.mu_s),
                 "exchange them");
    }
    if (!(m.restitution >= 0 && m.restitution <= 1)) {
      here.error(scene::kRange, fmt::format("restitution is {}", m.restitution), "it lies in 0…1");
    }
  }

  void check(const FigureDescription& figure) {
    const std::string path = fmt::format("figure[{}]", figure.name);
    const At here = at(figure.line, path);
    for (Diagnostic d : validate(figure.model)) {
      // Lines of a model that has a file of its own are lines of that file.
      if (d.file.empty()) d.file = scene_.file, d.line = figure.line;
      d.path = path + (d.path.empty() || d.path.starts_with("model[") ? "" : "/" + d.path);
      found_.push_back(std::move(d));
    }
    for (Diagnostic d : validate(figure.model, figure.actuation)) {
      d.file = scene_.file;
      d.path = path + "/" + d.path;
      found_.push_back(std::move(d));
    }
    const FigureNames names(figure);
    check(figure.initial, names, here);
    check_limits(figure, here);
    for (const auto& [link, share] : figure.gravity_compensation) {
      const auto named = [&name = link](const LinkDescription& l) { return l.name == name; };
      if (std::ranges::none_of(figure.model.links, named))
        here.error(scene::kUnknownLink, fmt::format("gravity_compensation: there is no link '{}'", link),
                   "name a link of the figure");
    }
    for (const FluidEllipsoid& e : figure.ellipsoids) {
      const At there = at(e.line, fmt::format("{}/ellipsoid", path));
      there.numbers(e);
      if (std::ranges::none_of(figure.model.links, [&](const LinkDescription& l) { return l.name == e.link; }))
        there.error(scene::kUnknownLink, fmt::format("ellipsoid: there is no link '{}'", e.link),
                    "name a link of the figure");
      const Vec3<>& r = e.drag.radii;
      if (!(r.x > 0 && r.y > 0 && r.z > 0))
        there.error(scene::kNumber, fmt::format("radii of an ellipsoid: {} {} {}", r.x, r.y, r.z),
                    "give three positive lengths [m]");
    }
    here.surface(figure.surface);
    here.numbers(figure);
    if (figure.base_motion && figure.model.base == Base::kFree)
      here.error(scene::kBaseMotion, "the base is free and its motion is given", "fix the base");
    for (const LinkDescription& link : figure.model.links) {
      for (const LinkShape& shape : link.collisions) {
        here.surface(shape.surface);
        if (std::holds_alternative<Plane>(shape.shape)) {
          here.error(scene::kPlaneOnLink, fmt::format("link '{}' has a plane", link.name),
                     "planes belong to the environment");
        }
      }
    }
    for (const LoopClosure& loop : figure.loops) {
      const At loop_at = at(loop.line, fmt::format("{}/loop[{}]", path, loop.name));
      loop_at.numbers(loop);
      loop_at.mask(loop.mask);
      for (const std::string& link : {loop.link_a, loop.link_b}) loop_at.anchor({figure.name, link, {}});
    }
    for (const PolynomialCoupling& coupling : figure.couplings) {
      const At coupling_at = at(coupling.line, fmt::format("{}/coupling[{}]", path, coupling.name));
      for (const DofRef* ref : {&coupling.dependent, coupling.driver ? &*coupling.driver : nullptr}) {
        if (ref && !coupling.tendons) coupling_at.dof(names, *ref);
        if (ref && coupling.tendons) coupling_at.tendon(names, ref->joint);
      }
      coupling_at.numbers(coupling);
    }
  }

  static void check_values(const std::map<std::string, std::vector<double>>& values, bool positions,
                           const FigureNames& names, const At& here) {
    for (const auto& [name, numbers] : values) {
      const JointTypeInfo* found = here.joint(names, name);
      if (!found) continue;
      const JointTypeInfo& type = *found;
      const int size = positions ? type.nq : type.nv;
      if (int(numbers.size()) != size) {
        here.error(scene::kCoordinates,
                   fmt::format("joint '{}' ({}) has {} numbers, {} are needed", name, type.name, numbers.size(), size),
                   "see kansetsu conventions");
      }
      for (const double x : numbers) here.numbers(name, x);
      if (positions && type.type == JointType::kBall && numbers.size() == 4) {
        double square = 0;
        for (const double x : numbers) square += x * x;
        if (!(std::abs(std::sqrt(square) - 1) < 1e-6)) {
          here.error(scene::kQuaternion,
                     fmt::format("the quaternion of joint '{}' has length {}", name, std::sqrt(square)),
                     "its length is 1");
        }
      }
    }
  }
  void check(const FigureState& state, const FigureNames& names, const At& here) {
    here.numbers(state);
    check_values(state.q, true, names, here);
    check_values(state.v, false, names, here);
    for (const auto* values : {&state.control, &state.activation}) {
      for (const auto& [name, x] : *values) here.actuator(names, name);
    }
  }

  /// The contact solver would push such a joint back at once, and hard.
  void check_limits(const FigureDescription& figure, const At& here) {
    constexpr double kSlack = 1e-6;    // [rad, m] digits of a file
    constexpr std::size_t kShown = 5;  // joints
    if (!figure.switches.limits) return;
    std::vector<std::string> nearest;
    for (const JointDescription& joint : figure.model.joints) {
      if (joint.dofs.size() != 1 || joint.continuous) continue;
      const auto given = figure.initial.q.find(joint.name);
      if (given != figure.initial.q.end() && given->second.size() != 1) continue;
      const double q = given == figure.initial.q.end() ? 0.0 : given->second[0];
      const double lower = joint.dofs[0].lower, upper = joint.dofs[0].upper;
      if (!(lower <= upper) || !(q < lower - kSlack || q > upper + kSlack)) continue;
      nearest.push_back(fmt::format("{} = {:.6g}", joint.name, q < lower ? lower : upper));
    }
    if (nearest.empty()) return;
    const std::size_t count = nearest.size();
    if (count > kShown) nearest.resize(kShown);
    found_.push_back(
        {Severity::kWarning, scene::kOutsideLimits, scene_.file, here.line, here.path,
         fmt::format("the figure starts outside of the limits of {} joint{}", count, count == 1 ? "" : "s"),
         fmt::format("nearest within: {}{}", fmt::join(nearest, ", "), count > kShown ? ", …" : "")});
  }

  void check(const EnvironmentShape& environment) {
    const std::string path = fmt::format("environment[{}]", environment.shape.name);
    const At here = at(environment.line, path);
    // The checks of a link's shape are those of any.
    ModelDescription carrier;
    carrier.name = environment.shape.name;
    carrier.links = {{.name = "shape", .collisions = {environment.shape}}};
    for (Diagnostic d : validate(carrier)) {
      d.file = scene_.file, d.line = environment.line, d.path = path;
      found_.push_back(std::move(d));
    }
    here.surface(environment.shape.surface);
    here.numbers("surface_velocity", environment.surface_velocity);
    here.numbers("motion", environment.motion);
  }

  void check(const SurfacePair& pair) {
    const std::string path = fmt::format("surface_pair[{}, {}]", pair.a, pair.b);
    const At here = at(pair.line, path);
    here.surface(pair.a);
    here.surface(pair.b);
    check(pair.material, pair.line, path);
  }

  void check_pair(const ShapeRef& a, const ShapeRef& b, int line, const char* kind) {
    at(line, kind).shape(a);
    at(line, kind).shape(b);
  }

  void check(const ConnectionDescription& c) {
    const At here = at(c.line, fmt::format("connection[{}]", c.name));
    here.ends(c.a, c.b);
    here.mask(c.mask);
    here.numbers(c);
    const std::string problem = connection_problem(c.mask, c.restitution, c.compliance);
    if (!problem.empty()) here.error(scene::kRange, problem, "see docs/formats/scene.md, connections");
  }

  void check(const SpringDescription& s) {
    const At here = at(s.line, fmt::format("spring[{}]", s.name));
    here.ends(s.a, s.b);
    here.numbers(s);
  }

  void check(const ControllerDescription& c) {
    const At here = at(c.line, fmt::format("controller[{}]", c.name));
    here.numbers(c);
    const FigureNames* names = here.figure(c.figure);
    if (!names) return;
    std::set<std::pair<std::string, int>> seen;
    for (const JointControl& j : c.joints) {
      here.dof(*names, j.dof);
      check_drive(c, *names, j.dof, here);
      here.numbers(j);
      if (!seen.emplace(j.dof.joint, j.dof.index).second) {
        here.error(scene::kDrivenTwice, fmt::format("joint '{}' is listed twice", j.dof.joint),
                   "name each coordinate once");
      }
    }
  }

  /// Coordinates of a ball or free joint are no angles: there is nothing that a position could be held at.
  static void check_drive(const ControllerDescription& c, const FigureNames& names, const DofRef& dof, const At& here) {
    const auto joint = names.joints.find(dof.joint);
    if (c.kind == ControlKind::kTorque || dof.index != 0 || joint == names.joints.end()) return;
    const JointTypeInfo& type = info(joint->second->type);
    if (type.nq == type.nv) return;
    here.error(scene::kNoSuchDrive,
               fmt::format("joint '{}' is of type {}: only torques can be given to it", dof.joint, type.name),
               "name the joints that are meant, or use kind = \"torque\"");
  }

  void check(const SensorDescription& s) {
    const At here = at(s.line, fmt::format("sensor[{}]", s.name));
    here.numbers(s);
    using enum SensorKind;
    const bool by_target = RecordSchema<SensorDescription>::by_target(s);
    if (RecordSchema<SensorDescription>::at_anchor(s)) here.anchor(s.at);
    if (s.reference) here.anchor(*s.reference);
    if (by_target) {
      const FigureNames* names = here.figure(s.at.figure);
      if (!names) return;
      if (s.kind >= kActuatorPosition) here.actuator(*names, s.target);
      if (s.kind >= kTendonPosition && s.kind <= kTendonLimitForce) here.tendon(*names, s.target);
      if (s.kind < kTendonPosition) here.joint(*names, s.target);
      return;
    }
    if (s.kind == kDistance || s.kind == kNormal || s.kind == kFromTo) here.shape(s.contact), here.shape(s.other);
    if (s.kind == kImu || s.kind == kForce || s.kind == kTorque) {
      if (s.at.figure.empty()) here.error(scene::kNowhere, "the sensor is on no figure", "name one: at = {figure = …}");
    }
    if (s.kind == SensorKind::kConnectionForce) here.connection(s.connection);
    if (s.kind == SensorKind::kContact) here.shape(s.contact);
    if (s.kind != SensorKind::kJointForce) return;
    if (const FigureNames* names = here.figure(s.at.figure)) here.joint(*names, s.joint);
  }

  void check(const EventDescription& e) {
    const At here = at(e.line, fmt::format("event[{}]", e.name));
    using Keys = RecordSchema<EventDescription>;
    here.numbers(e);
    if (Keys::of_connection(e)) here.connection(e.connection);
    if (Keys::of_contact(e)) here.shape(e.a), here.shape(e.b);
    if (Keys::of_limit(e)) {
      if (const FigureNames* names = here.figure(e.figure)) here.dof(*names, e.dof);
    }
    if (e.action == ActionKind::kConnect || e.action == ActionKind::kCut) here.connection(e.target);
    const bool controls = e.action == ActionKind::kStartController || e.action == ActionKind::kStopController;
    if (controls) here.named(scene::kUnknownController, "controller", e.target, controllers_);
  }

  void check(const Keyframe& key) {
    const At here = at(key.line, fmt::format("keyframe[{}]", key.name));
    here.numbers(key);
    for (const auto& [name, state] : key.figures) {
      if (const FigureNames* names = here.figure(name)) check(state, *names, here);
    }
  }

  const SceneDescription& scene_;
  std::map<std::string, FigureNames> figures_;
  std::set<std::string_view> surfaces_, connections_, controllers_, shapes_;
  std::vector<Diagnostic> found_;
  NameHints hints_;
};

}  // namespace

std::vector<Diagnostic> validate(const SceneDescription& scene) { return SceneCheck(scene).run(); }

}  // namespace kansetsu
