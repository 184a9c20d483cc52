#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>

#include "io/number.h"
#include "io/scene/scene_actuator.h"
#include "io/scene/scene_codes.h"
#include "io/text.h"
#include "io/urdf/dof_attributes.h"
#include "kansetsu/io/scene.h"

namespace kansetsu::io {
namespace {

constexpr std::string_view kKinds[] = {"weld",        "point",     "hinge",          "slider",
                                       "cylindrical", "universal", "point_in_plane", "orientation"};
constexpr ConstraintMask kMasks[] = {kWeldMask,        kPointMask,     kHingeMask,        kSliderMask,
                                     kCylindricalMask, kUniversalMask, kPointInPlaneMask, kOrientationMask};
constexpr std::string_view kRules[] = {"geometric_mean", "mean", "minimum", "maximum"};
constexpr std::string_view kRecorded[] = {"q",        "v",           "tau",     "energy", "momentum",
                                          "contacts", "connections", "sensors", "events", "actuators"};

/// Text of TOML values.
std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}
std::string value(double x) {
  std::string text = format_number(x);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}
std::string value(const Vec3<>& v) { return fmt::format("[{}, {}, {}]", value(v.x), value(v.y), value(v.z)); }
std::string value(const std::vector<double>& numbers) {
  std::string text;
  for (const double x : numbers) text += (text.empty() ? "" : ", ") + value(x);
  return "[" + text + "]";
}
std::string value(const std::string& text) { return toml_text(text); }
std::string value(bool b) { return b ? "true" : "false"; }

class SceneWriter {
 public:
  /// @param folder  that mesh files are named from; empty: as they were found
  explicit SceneWriter(const SceneDescription& scene, std::filesystem::path folder = {})
      : scene_(scene), folder_(std::move(folder)) {}

  std::string write() {
    write_settings();
    for (const FigureDescription& figure : scene_.figures) write(figure);
    for (const EnvironmentShape& shape : scene_.environment) write(shape);
    for (const ConnectionDescription& c : scene_.connections) write(c);
    for (const SpringDescription& s : scene_.springs) write(s);
    for (const ControllerDescription& c : scene_.controllers) write(c);
    for (const SensorDescription& s : scene_.sensors) write(s);
    for (const EventDescription& e : scene_.events) write(e);
    for (const RecordingDescription& r : scene_.recordings) write(r);
    for (const Keyframe& key : scene_.keyframes) write(key);
    return std::move(text_);
  }

 private:
  void open(std::string_view header) { text_ += fmt::format("\n[[{}]]\n", header); }
  void raw(std::string_view key, const std::string& text) { text_ += fmt::format("{} = {}\n", key, text); }
  template <class T>
  void put(std::string_view key, const T& x) {
    raw(key, value(x));
  }
  /// Only what differs from the default.
  template <class T>
  void maybe(std::string_view key, const T& x, const T& standard) {
    if (!(x == standard)) put(key, x);
  }
  void limit(std::string_view key, double x) {
    if (std::isfinite(x)) put(key, x);
  }

  static std::string inside(const Pose& pose) {
    std::vector<std::string> parts;
    if (pose.p != Vec3<>{}) parts.push_back("p = " + value(pose.p));
    if (pose.rpy != Vec3<>{}) parts.push_back("rpy = " + value(pose.rpy));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  void pose(std::string_view key, const Pose& pose) {
    if (pose != Pose{}) raw(key, "{" + inside(pose) + "}");
  }
  void anchor(std::string_view key, const Anchor& anchor) {
    std::vector<std::string> parts;
    if (!anchor.figure.empty()) parts.push_back("figure = " + toml_text(anchor.figure));
    if (!anchor.link.empty()) parts.push_back("link = " + toml_text(anchor.link));
    if (const std::string at = inside(anchor.pose); !at.empty()) parts.push_back(at);
    raw(key, fmt::format("{{{}}}", fmt::join(parts, ", ")));
  }
  void shape_ref(std::string_view key, const ShapeRef& ref) {
    std::vector<std::string> parts;
    if (!ref.figure.empty()) parts.push_back("figure = " + toml_text(ref.figure));
    if (!ref.link.empty()) parts.push_back("link = " + toml_text(ref.link));
    if (!ref.shape.empty()) parts.push_back("shape = " + toml_text(ref.shape));
    if (!parts.empty()) raw(key, fmt::format("{{{}}}", fmt::join(parts, ", ")));
  }
  void motion(std::string_view key, const std::optional<PrescribedMotion>& m) {
    if (!m) return;
    const PrescribedMotion standard;
    std::vector<std::string> parts;
    const auto add = [&](const char* name, const auto& x, const auto& usual) {
      if (!(x == usual)) parts.push_back(fmt::format("{} = {}", name, value(x)));
    };
    add("velocity", m->velocity, standard.velocity);
    add("amplitude", m->amplitude, standard.amplitude);
    add("axis", m->axis, standard.axis);
    add("rate", m->rate, 0.0);
    add("swing", m->swing, 0.0);
    add("frequency", m->frequency, 0.0);
    add("phase", m->phase, 0.0);
    add("start", m->start, 0.0);
    add("stop", m->stop, kInfinity);
    raw(key, fmt::format("{{{}}}", fmt::join(parts, ", ")));
  }
  void mask(ConstraintMask mask) {
    for (std::size_t i = 0; i < std::size(kMasks); ++i) {
      if (kMasks[i] == mask) return raw("kind", toml_text(kKinds[i]));
    }
    std::vector<std::string> words;
    for (std::size_t i = 0; i < 6; ++i) {
      if (mask >> i & 1) words.push_back(toml_text(kDirectionNames[i]));
    }
    raw("constrain", fmt::format("[{}]", fmt::join(words, ", ")));
  }
  void directions(std::string_view key, const PerDirection& x, double standard) {
    std::vector<std::string> parts;
    for (int k = 0; k < 6; ++k) {
      if (x[k] != standard) parts.push_back(fmt::format("{} = {}", kDirectionNames[k], value(x[k])));
    }
    if (!parts.empty()) raw(key, fmt::format("{{{}}}", fmt::join(parts, ", ")));
  }
  void material(const ContactMaterial& m) {
    put("static_friction", m.mu_s);
    put("dynamic_friction", m.mu_d);
    put("restitution", m.restitution);
    maybe("spin_radius", m.spin_radius, 0.0);
    maybe("rolling_radius", m.rolling_radius, 0.0);
    maybe("clearance", m.clearance, 0.0);
  }
  void values(std::string_view key, const std::map<std::string, std::vector<double>>& map) {
    if (map.empty()) return;
    std::vector<std::string> parts;
    for (const auto& [name, numbers] : map) {
      parts.push_back(
          fmt::format("{} = {}", toml_text(name), numbers.size() == 1 ? value(numbers[0]) : value(numbers)));
    }
    raw(key, fmt::format("{{{}}}", fmt::join(parts, ", ")));
  }
  void state(const FigureState& s) {
    pose("pose", s.base);
    if (s.velocity != Motion<>{})
      raw("velocity", fmt::format("{{omega = {}, v = {}}}", value(s.velocity.w), value(s.velocity.v)));
    values("q", s.q);
    values("v", s.v);
    values("control", s.control);
    values("activation", s.activation);
  }
  void values(std::string_view key, const std::map<std::string, double>& map) {
    std::vector<std::string> parts;
    for (const auto& [name, x] : map) parts.push_back(fmt::format("{} = {}", toml_text(name), value(x)));
    if (!parts.empty()) raw(key, fmt::format("{{{}}}", fmt::join(parts, ", ")));
  }

  void size(const Plane&) { raw("type", "\"plane\""); }
  void size(const Sphere& s) { raw("type", "\"sphere\""), put("radius", s.radius); }
  void size(const Box& s) { raw("type", "\"box\""), put("size", s.size); }
  void size(const Cylinder& s) { raw("type", "\"cylinder\""), put("radius", s.radius), put("length", s.length); }
  void size(const Capsule& s) { raw("type", "\"capsule\""), put("radius", s.radius), put("length", s.length); }
  void size(const Mesh& s) {
    raw("type", "\"mesh\"");
    put("file", s.path.empty() ? s.uri : name_of(s.path));
    maybe("scale", s.scale, Vec3<>{1, 1, 1});
  }
  std::string name_of(const std::filesystem::path& file) const {
    if (folder_.empty()) return file.string();
    std::error_code ignored;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(file, ignored);
    return (whole.empty() ? file : whole).lexically_proximate(folder_).generic_string();
  }
  void size(const ConvexHull& s) {
    std::vector<double> numbers;
    for (const Vec3<>& v : s.vertices) numbers.insert(numbers.end(), {v.x, v.y, v.z});
    raw("type", "\"hull\"");
    put("vertices", numbers);
  }
  void size(const HeightField& s) {
    raw("type", "\"height_field\"");
    raw("columns", std::to_string(s.columns));
    raw("rows", std::to_string(s.rows));
    put("size_x", s.size_x);
    put("size_y", s.size_y);
    put("heights", s.heights);
  }
  void size(const TriangleMesh&) {}

  void link_shape(const LinkShape& shape) {
    if (!shape.name.empty()) put("name", shape.name);
    pose("pose", shape.origin);
    std::visit([&](const auto& s) { size(s); }, shape.shape);
    if (!shape.surface.empty()) put("surface", shape.surface);
    if (shape.contype != 1) raw("contype", std::to_string(shape.contype));
    if (shape.conaffinity != 1) raw("conaffinity", std::to_string(shape.conaffinity));
    if (shape.material && shape.material->rgba) put("color", *shape.material->rgba);
  }
  /// Meshes that are not there cannot be read again, loaded ones have no file.
  static bool can_write(const LinkShape& shape) {
    if (std::holds_alternative<TriangleMesh>(shape.shape)) return false;
    const Mesh* mesh = std::get_if<Mesh>(&shape.shape);
    return !mesh || !mesh->path.empty();
  }

  void write_settings() {
    text_ += "[scene]\n";
    if (!scene_.name.empty()) put("name", scene_.name);
    put("gravity", scene_.gravity);
    maybe("magnetic", scene_.magnetic, SceneDescription{}.magnetic);
    if (const Medium& m = scene_.medium; m != Medium{}) {
      raw("medium", fmt::format("{{density = {}, viscosity = {}, wind = {}}}", value(m.density), value(m.viscosity),
                                value(m.wind)));
    }
    put("time_step", scene_.time_step);
    put("duration", scene_.duration);
    static constexpr std::string_view kIntegrators[] = {"semi_implicit", "rk4", "adaptive"};
    raw("integrator", toml_text(kIntegrators[int(scene_.integrator)]));
    maybe("tolerance", scene_.tolerance, 1e-6);
    if (scene_.seed != 0) raw("seed", std::to_string(scene_.seed));
    if (!scene_.contacts) put("contacts", false);
    if (scene_.contact_law == ContactLaw::kNakamuraYamane) raw("contact_law", "\"nakamura_yamane\"");
    if (!scene_.sleeping) put("sleeping", false);
    text_ += "\n[surface_rules]\n";
    raw("friction", toml_text(kRules[int(scene_.surface_rules.friction)]));
    raw("restitution", toml_text(kRules[int(scene_.surface_rules.restitution)]));
    raw("spin_radius", toml_text(kRules[int(scene_.surface_rules.spin_radius)]));
    raw("rolling_radius", toml_text(kRules[int(scene_.surface_rules.rolling_radius)]));
    open("surface");
    put("name", std::string("default"));
    material(scene_.default_surface);
    for (const Surface& surface : scene_.surfaces) {
      open("surface");
      put("name", surface.name);
      material(surface.material);
    }
    for (const SurfacePair& pair : scene_.surface_pairs) {
      open("surface_pair");
      put("a", pair.a.empty() ? std::string("default") : pair.a);
      put("b", pair.b.empty() ? std::string("default") : pair.b);
      material(pair.material);
    }
    for (const ContactExclusion& e : scene_.exclusions) {
      open("exclude");
      shape_ref("a", e.a);
      shape_ref("b", e.b);
    }
    for (const ContactPair& pair : scene_.pairs) {
      open("pair");
      shape_ref("a", pair.a);
      shape_ref("b", pair.b);
      if (!pair.surface.empty()) put("surface", pair.surface);
    }
  }

  void write(const FigureDescription& f) {
    open("figure");
    put("name", f.name);
    raw("base", f.model.base == Base::kFree ? "\"free\"" : "\"fixed\"");
    state(f.initial);
    motion("motion", f.base_motion);
    if (!f.surface.empty()) put("surface", f.surface);
    static constexpr std::string_view kSelf[] = {"none", "not_neighbours", "all"};
    raw("self_collision", toml_text(kSelf[int(f.self_collision)]));
    const JointSwitches& s = f.switches;
    if (s != JointSwitches{}) {
      raw("joints",
          fmt::format(
              "{{limits = {}, friction = {}, damping = {}, springs = {}, effort_limits = {}, rotor_inertia = {}, "
              "actuators = {}}}",
              s.limits, s.friction, s.damping, s.springs, s.effort_limits, s.rotor_inertia, s.actuators));
    }
    values("gravity_compensation", f.gravity_compensation);
    for (const LinkDescription& link : f.model.links) write(link);
    for (const JointDescription& joint : f.model.joints) write(joint);
    for (const Coupling& coupling : f.model.couplings) write(coupling);
    for (const FrameDescription& frame : f.model.frames) {
      open("figure.frame");
      put("name", frame.name);
      put("link", frame.link);
      if (frame.origin.p != Vec3<>{}) put("p", frame.origin.p);
      if (frame.origin.rpy != Vec3<>{}) put("rpy", frame.origin.rpy);
    }
    text_ += scene::actuators_as_toml({f.actuation.tendons, all_actuators(f.model, f.actuation)});
    for (const CollisionFilter& pair : f.model.collision_filters) {
      open("figure.exclude");
      put("a", pair.a);
      put("b", pair.b);
    }
    for (const LoopClosure& loop : f.loops) {
      open("figure.loop");
      put("name", loop.name);
      put("a", loop.link_a);
      put("b", loop.link_b);
      pose("pose_a", loop.pose_a);
      pose("pose_b", loop.pose_b);
      mask(loop.mask);
    }
    for (const PolynomialCoupling& c : f.couplings) {
      open("figure.coupling");
      put("name", c.name);
      put(c.tendons ? "tendon" : "joint", c.dependent.joint);
      if (c.driver) put("driver", c.driver->joint);
      maybe("reference", c.reference, 0.0);
      maybe("driver_reference", c.driver_reference, 0.0);
      put("coefficients", std::vector<double>(c.coefficient.begin(), c.coefficient.end()));
    }
  }

  void write(const LinkDescription& link) {
    open("figure.link");
    put("name", link.name);
    if (link.inertial) {
      const Sym3<>& I = link.inertial->inertia;
      put("mass", link.inertial->mass);
      put("com", link.inertial->origin.p);
      maybe("inertia_rpy", link.inertial->origin.rpy, Vec3<>{});
      put("inertia", std::vector<double>{I.xx, I.yy, I.zz, I.xy, I.xz, I.yz});
    }
    for (const bool visual : {false, true}) {
      for (const LinkShape& shape : visual ? link.visuals : link.collisions) {
        if (!can_write(shape)) continue;
        open(visual ? "figure.link.visual" : "figure.link.shape");
        link_shape(shape);
      }
    }
  }

  void dof(const DofDescription& d) {
    const DofDescription standard;
    for (const DofAttribute& attribute : kDofAttributes) {
      const double x = d.*attribute.member;
      if (std::isfinite(x) && x != standard.*attribute.member) put(attribute.name, x);
    }
  }
  void write(const JointDescription& joint) {
    open("figure.joint");
    put("name", joint.name);
    put("type", std::string(joint.continuous ? "continuous" : info(joint.type).name));
    put("parent", joint.parent);
    put("child", joint.child);
    pose("socket", joint.socket);
    pose("plug", joint.plug);
    maybe("axis", joint.axis, Vec3<>{0, 0, 1});
    maybe("second_axis", joint.second_axis, Vec3<>{0, 1, 0});
    maybe("pitch", joint.pitch, 0.0);
    if (joint.swing_twist) {
      limit("swing", joint.swing_twist->swing);
      limit("twist_lower", joint.swing_twist->twist_lower);
      limit("twist_upper", joint.swing_twist->twist_upper);
    }
    if (joint.dofs.size() == 1) return dof(joint.dofs[0]);
    for (const DofDescription& d : joint.dofs) {
      open("figure.joint.dof");
      dof(d);
    }
  }
  void write(const Coupling& coupling) {
    open("figure.gear");
    put("joint", coupling.dependent.joint);
    if (coupling.dependent.index != 0) raw("index", std::to_string(coupling.dependent.index));
    maybe("offset", coupling.offset, 0.0);
    for (const Coupling::Term& term : coupling.terms) {
      open("figure.gear.term");
      put("joint", term.dof.joint);
      if (term.dof.index != 0) raw("index", std::to_string(term.dof.index));
      put("ratio", term.ratio);
    }
  }

  void write(const EnvironmentShape& e) {
    if (!can_write(e.shape)) return;
    open("environment");
    link_shape(e.shape);
    motion("motion", e.motion);
    maybe("surface_velocity", e.surface_velocity, Vec3<>{});
  }
  void write(const ConnectionDescription& c) {
    open("connection");
    put("name", c.name);
    anchor("a", c.a);
    anchor("b", c.b);
    mask(c.mask);
    raw("hold", c.hold == Hold::kTogether ? "\"together\"" : "\"relative_pose\"");
    if (!c.active) put("active", false);
    limit("break_force", c.break_force);
    limit("break_torque", c.break_torque);
    directions("restitution", c.restitution, 0);
    directions("stiffness", c.compliance.stiffness, kInfinity);
    directions("damping", c.compliance.damping, 0);
    motion("motion", c.motion);
  }
  void write(const SpringDescription& s) {
    open("spring");
    put("name", s.name);
    anchor("a", s.a);
    anchor("b", s.b);
    put("stiffness", s.stiffness);
    maybe("damping", s.damping, 0.0);
    if (s.rest_length) put("rest_length", *s.rest_length);
    if (s.pull_only) put("pull_only", true);
  }
  void write(const ControllerDescription& c) {
    open("controller");
    put("name", c.name);
    put("figure", c.figure);
    static constexpr std::string_view kControls[] = {"torque", "pd", "motion"};
    raw("kind", toml_text(kControls[int(c.kind)]));
    maybe("period", c.period, 0.0);
    if (c.seed) raw("seed", std::to_string(*c.seed));
    if (!c.active) put("active", false);
    if (c.joints.empty()) raw("joints", "[]");
    for (const JointControl& j : c.joints) {
      open("controller.joint");
      put("name", j.dof.joint);
      raw("index", std::to_string(j.dof.index));
      maybe("value", j.value, 0.0);
      maybe("amplitude", j.amplitude, 0.0);
      maybe("frequency", j.frequency, 0.0);
      maybe("phase", j.phase, 0.0);
      maybe("deviation", j.deviation, 0.0);
      maybe("kp", j.kp, 0.0);
      maybe("kd", j.kd, 0.0);
      limit("effort", j.effort);
    }
  }
  void write(const SensorDescription& s) {
    open("sensor");
    put("name", s.name);
    raw("kind", toml_text(sensor_name(s.kind)));
    using enum SensorKind;
    const bool by_target = s.kind >= kJointPosition && s.kind <= kActuatorForce;
    if (by_target) put("figure", s.at.figure), put("target", s.target);
    if (!by_target && s.kind != kJointForce && s.at != Anchor{}) anchor("at", s.at);
    if (s.reference) anchor("reference", *s.reference);
    shape_ref("to", s.other);
    maybe("cutoff", s.cutoff, 0.0);
    maybe("noise", s.noise, 0.0);
    if (s.kind == SensorKind::kJointForce) put("figure", s.at.figure), put("joint", s.joint);
    if (s.kind == SensorKind::kConnectionForce) put("connection", s.connection);
    shape_ref("of", s.contact);
    maybe("angular_noise", s.angular_noise, 0.0);
    maybe("linear_noise", s.linear_noise, 0.0);
    if (s.seed) raw("seed", std::to_string(*s.seed));
    if (!s.volume) return;
    text_ += "[sensor.volume]\n";
    std::visit([&](const auto& shape) { size(shape); }, *s.volume);
  }
  void write(const EventDescription& e) {
    open("event");
    put("name", e.name);
    static constexpr std::string_view kWhen[] = {"time", "near", "force", "touch", "lift", "limit"};
    static constexpr std::string_view kDo[] = {"note", "connect", "cut", "start_controller", "stop_controller", "end"};
    raw("when", toml_text(kWhen[int(e.trigger)]));
    maybe("time", e.time, 0.0);
    maybe("delay", e.delay, 0.0);
    if (!e.once) put("once", false);
    if (e.trigger == TriggerKind::kNear || e.trigger == TriggerKind::kForce) put("connection", e.connection);
    if (e.trigger == TriggerKind::kNear) put("distance", e.distance);
    if (e.trigger == TriggerKind::kForce) limit("force", e.force), limit("torque", e.torque);
    if (e.trigger == TriggerKind::kTouch || e.trigger == TriggerKind::kLift) shape_ref("a", e.a), shape_ref("b", e.b);
    if (e.trigger == TriggerKind::kLimit) {
      put("figure", e.figure);
      put("joint", e.dof.joint);
      if (e.dof.index != 0) raw("index", std::to_string(e.dof.index));
    }
    raw("do", toml_text(kDo[int(e.action)]));
    if (!e.target.empty()) put("target", e.target);
  }
  void write(const RecordingDescription& r) {
    open("record");
    put("file", r.file);
    std::vector<std::string> words;
    for (const Recorded what : r.what) words.push_back(toml_text(kRecorded[int(what)]));
    raw("what", fmt::format("[{}]", fmt::join(words, ", ")));
    maybe("rate", r.rate, 0.0);
  }
  void write(const Keyframe& key) {
    open("keyframe");
    put("name", key.name);
    maybe("time", key.time, 0.0);
    values("controls", key.controls);
    for (const auto& [name, figure] : key.figures) {
      open("keyframe.figure");
      put("name", name);
      state(figure);
    }
  }

  const SceneDescription& scene_;
  std::filesystem::path folder_;
  std::string text_;
};

Loaded<std::string> text_of(const SceneDescription& scene, const std::filesystem::path& folder) {
  std::vector<Diagnostic> problems = validate(scene);
  std::erase_if(problems, [](const Diagnostic& d) { return !d.is_error(); });
  if (!problems.empty()) return {std::nullopt, std::move(problems)};
  return {SceneWriter(scene, folder).write(), {}};
}

}  // namespace

Loaded<std::string> to_scene(const SceneDescription& scene) { return text_of(scene, {}); }

std::vector<Diagnostic> write_scene(const SceneDescription& scene, const std::filesystem::path& file) {
  std::error_code ignored;
  const auto folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored).parent_path();
  Loaded<std::string> text = text_of(scene, folder);
  if (!text) return std::move(text.diagnostics);
  if (auto reason = replace_file(file, *text.value)) {
    text.diagnostics.push_back({Severity::kError,
                                scene::kCannotWrite,
                                file.string(),
                                0,
                                {},
                                "cannot be written: " + *reason,
                                "check the folder"});
  }
  return std::move(text.diagnostics);
}

}  // namespace kansetsu::io
