#include <cmath>
#include <filesystem>

#include "io/file_report.h"
#include "io/number.h"
#include "io/scene/scene_codes.h"
#include "io/scene/scene_masks.h"
#include "io/scene/toml_writer.h"
#include "kansetsu/io/scene.h"

namespace kansetsu::io {
namespace scene {

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}
std::string toml_text(double x) {
  if (!std::isfinite(x)) return {};
  std::string text = format_number(x);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}
std::string toml_text(std::uint64_t x) { return std::to_string(x); }
std::string toml_text(int x) { return std::to_string(x); }
std::string toml_text(const Vec3<>& v) { return toml_text(std::array{v.x, v.y, v.z}); }
std::string toml_text(std::span<const double> numbers) {
  std::vector<std::string> parts;
  for (const double x : numbers) parts.push_back(toml_text(x));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}
std::string toml_text(const Interval& range) {
  const auto end = [](double x) { return std::isfinite(x) ? toml_text(x) : x > 0 ? "inf" : "-inf"; };
  return fmt::format("[{}, {}]", end(range.lower), end(range.upper));
}
std::string toml_text(SensorKind kind) { return toml_text(sensor_name(kind)); }
std::string toml_text(const std::vector<Recorded>& what) {
  std::vector<std::string> words;
  for (const Recorded one : what) words.push_back(toml_text(word_of(one)));
  return fmt::format("[{}]", fmt::join(words, ", "));
}
std::string toml_text(const std::vector<Vec3<>>& points) {
  std::vector<double> numbers;
  for (const Vec3<>& p : points) numbers.insert(numbers.end(), {p.x, p.y, p.z});
  return toml_text(numbers);
}
std::string toml_text(const std::map<std::string, std::vector<double>>& values) {
  std::vector<std::string> parts;
  for (const auto& [name, x] : values)
    parts.push_back(fmt::format("{} = {}", toml_text(name), x.size() == 1 ? toml_text(x[0]) : toml_text(x)));
  return toml_table(parts);
}
std::string toml_text(const std::map<std::string, double>& values) {
  std::vector<std::string> parts;
  for (const auto& [name, x] : values) parts.push_back(fmt::format("{} = {}", toml_text(name), toml_text(x)));
  return toml_table(parts);
}
std::string toml_text(const PerDirection& x, const PerDirection& usual) {
  std::vector<std::string> parts;
  for (int k = 0; k < 6; ++k) {
    if (x[k] != usual[k]) parts.push_back(fmt::format("{} = {}", kDirectionNames[k], toml_text(x[k])));
  }
  return toml_table(parts);
}
std::string toml_table(std::span<const std::string> entries) { return fmt::format("{{{}}}", fmt::join(entries, ", ")); }

std::pair<const char*, std::string> mask_entry(ConstraintMask mask) {
  for (std::size_t i = 0; i < std::size(kMasks); ++i) {
    if (kMasks[i] == mask) return {"kind", toml_text(kMaskWords[i])};
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < 6; ++i) {
    if (mask >> i & 1) words.push_back(toml_text(kDirectionNames[i]));
  }
  return {"constrain", fmt::format("[{}]", fmt::join(words, ", "))};
}

namespace {

class SceneWriter {
 public:
  /// @param folder  mesh files are named relative to it; empty: as found
  explicit SceneWriter(const SceneDescription& scene, std::filesystem::path folder = {})
      : scene_(scene), folder_(std::move(folder)) {}

  std::string write() {
    out_.text() += "[scene]\n";
    out_.fields(scene_);
    write_surfaces();
    for (const FigureDescription& figure : scene_.figures) write(figure);
    for (const EnvironmentShape& shape : scene_.environment) write(shape);
    for (const ConnectionDescription& c : scene_.connections) out_.record("connection", c);
    for (const SpringDescription& s : scene_.springs) out_.record("spring", s);
    for (const ControllerDescription& c : scene_.controllers) write(c);
    for (const SensorDescription& s : scene_.sensors) write(s);
    for (const EventDescription& e : scene_.events) out_.record("event", e);
    for (const RecordingDescription& r : scene_.recordings) out_.record("record", r);
    for (const Keyframe& key : scene_.keyframes) write(key);
    return std::move(out_.text());
  }

 private:
  void write_surfaces() {
    out_.text() += "\n[surface_rules]\n";
    out_.fields(scene_.surface_rules);
    out_.record("surface", Surface{"default", scene_.default_surface});
    for (const Surface& surface : scene_.surfaces) out_.record("surface", surface);
    for (SurfacePair pair : scene_.surface_pairs) {
      for (std::string* name : {&pair.a, &pair.b}) {
        if (name->empty()) *name = "default";
      }
      out_.record("surface_pair", pair);
    }
    for (const ContactExclusion& e : scene_.exclusions) out_.record("exclude", e);
    for (const ContactPair& pair : scene_.pairs) out_.record("pair", pair);
  }

  // Shapes: the type, then the sizes.
  void write(const Shape& shape) {
    static constexpr const char* kTypes[] = {"sphere", "box",  "cylinder",     "capsule", "mesh",
                                             "plane",  "hull", "height_field", ""};
    static_assert(std::size(kTypes) == std::variant_size_v<Shape>);
    if (std::holds_alternative<TriangleMesh>(shape)) return;
    out_.put("type", toml_text(kTypes[shape.index()]));
    std::visit([&](const auto& s) { size(s); }, shape);
  }
  template <class S>
  void size(const S& shape) {
    out_.fields(shape);
  }
  void size(const Mesh& s) {
    out_.put("file", toml_text(s.path.empty() ? s.uri : name_from(folder_, s.path)));
    if (s.scale != Mesh{}.scale) out_.put("scale", toml_text(s.scale));
  }

  void link_shape(const LinkShape& shape) {
    if (!shape.name.empty()) out_.put("name", toml_text(shape.name));
    if (shape.origin != Pose{}) out_.put("pose", inline_table(shape.origin));
    write(shape.shape);
    if (!shape.surface.empty()) out_.put("surface", toml_text(shape.surface));
    if (shape.contype != 1) out_.put("contype", std::to_string(shape.contype));
    if (shape.conaffinity != 1) out_.put("conaffinity", std::to_string(shape.conaffinity));
    if (shape.material && shape.material->rgba) out_.put("color", toml_text(*shape.material->rgba));
  }
  /// Missing meshes could not be read again, and loaded ones have no file.
  static bool can_write(const LinkShape& shape) {
    if (std::holds_alternative<TriangleMesh>(shape.shape)) return false;
    const Mesh* mesh = std::get_if<Mesh>(&shape.shape);
    return !mesh || !mesh->path.empty();
  }

  void write(const FigureDescription& f) {
    out_.open("figure");
    out_.put("name", toml_text(f.name));
    out_.put("base", toml_text(word_of(f.model.base)));
    out_.fields(f.initial);
    out_.fields(f);
    for (const LinkDescription& link : f.model.links) write(link);
    for (const JointDescription& joint : f.model.joints) write(joint);
    for (const Coupling& coupling : f.model.couplings) out_.record("figure.gear", coupling);
    for (const FrameDescription& frame : f.model.frames) out_.record("figure.frame", frame);
    for (const TendonDescription& tendon : f.actuation.tendons) write(tendon);
    for (const ActuatorDescription& actuator : all_actuators(f.model, f.actuation)) write(actuator);
    for (const CollisionFilter& pair : f.model.collision_filters) out_.record("figure.exclude", pair);
    for (const LoopClosure& loop : f.loops) out_.record("figure.loop", loop);
    for (const FluidEllipsoid& e : f.ellipsoids) out_.record("figure.ellipsoid", e);
    for (const PolynomialCoupling& c : f.couplings) {
      out_.record("figure.coupling", c);
      out_.put(c.tendons ? "tendon" : "joint", toml_text(c.dependent.joint));
      if (c.driver) out_.put("driver", toml_text(c.driver->joint));
    }
  }

  void write(const LinkDescription& link) {
    out_.open("figure.link");
    out_.put("name", toml_text(link.name));
    if (link.inertial) {
      const Sym3<>& I = link.inertial->inertia;
      out_.put("mass", toml_text(link.inertial->mass));
      out_.put("com", toml_text(link.inertial->origin.p));
      if (link.inertial->origin.rpy != Vec3<>{}) out_.put("inertia_rpy", toml_text(link.inertial->origin.rpy));
      out_.put("inertia", toml_text(std::array{I.xx, I.yy, I.zz, I.xy, I.xz, I.yz}));
    }
    for (const bool visual : {false, true}) {
      for (const LinkShape& shape : visual ? link.visuals : link.collisions) {
        if (!can_write(shape)) continue;
        out_.open(visual ? "figure.link.visual" : "figure.link.shape");
        link_shape(shape);
      }
    }
  }
  void write(const JointDescription& joint) {
    out_.record("figure.joint", joint);
    out_.put("type", toml_text(joint.continuous ? "continuous" : info(joint.type).name));
    if (joint.swing_twist) out_.fields(*joint.swing_twist);
    if (joint.dofs.size() == 1) return out_.fields(joint.dofs[0]);
    for (const DofDescription& dof : joint.dofs) out_.record("figure.joint.dof", dof);
  }
  void write(const TendonDescription& tendon) {
    out_.open("figure.tendon");
    if (const Interval rest{tendon.rest_lower, tendon.rest_upper}; rest != Interval{0, 0})
      out_.put("rest", toml_text(rest));
    out_.fields(tendon, "figure.tendon");
  }
  void write(const ActuatorDescription& actuator) {
    out_.record("figure.actuator", actuator);
    if (!actuator.dof.joint.empty()) out_.put("joint", toml_text(actuator.dof.joint));
    if (actuator.dof.index != 0) out_.put("index", toml_text(actuator.dof.index));
  }

  void write(const EnvironmentShape& e) {
    if (!can_write(e.shape)) return;
    out_.open("environment");
    link_shape(e.shape);
    if (e.motion) out_.put("motion", inline_table(*e.motion));
    if (e.surface_velocity != Vec3<>{}) out_.put("surface_velocity", toml_text(e.surface_velocity));
  }
  void write(const ControllerDescription& c) {
    out_.record("controller", c);
    if (c.joints.empty()) out_.put("joints", "[]");
    for (const JointControl& joint : c.joints) {
      out_.open("controller.joint");
      out_.put("name", toml_text(joint.dof.joint));
      out_.put("index", toml_text(joint.dof.index));
      out_.fields(joint);
    }
  }
  void write(const SensorDescription& s) {
    out_.record("sensor", s);
    if (!RecordSchema<SensorDescription>::at_anchor(s)) out_.put("figure", toml_text(s.at.figure));
    if (!s.volume) return;
    out_.text() += "[sensor.volume]\n";
    write(*s.volume);
  }
  void write(const Keyframe& key) {
    out_.record("keyframe", key);
    for (const auto& [name, figure] : key.figures) {
      out_.open("keyframe.figure");
      out_.put("name", toml_text(name));
      out_.fields(figure);
    }
  }

  const SceneDescription& scene_;
  std::filesystem::path folder_;
  TomlWriter out_;
};

}  // namespace
}  // namespace scene

namespace {

Loaded<std::string> text_of(const SceneDescription& scene, const std::filesystem::path& folder) {
  if (std::vector<Diagnostic> problems = errors_of(validate(scene)); !problems.empty())
    return {std::nullopt, std::move(problems)};
  return {scene::SceneWriter(scene, folder).write(), {}};
}

}  // namespace

Loaded<std::string> to_scene(const SceneDescription& scene) { return text_of(scene, {}); }

std::vector<Diagnostic> write_scene(const SceneDescription& scene, const std::filesystem::path& file) {
  return replace_file(file, text_of(scene, folder_of(file)), scene::kCannotWrite);
}

}  // namespace kansetsu::io
