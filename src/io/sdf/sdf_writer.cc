#include "io/sdf/sdf_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lookup.h"
#include "io/file_report.h"
#include "io/text.h"
#include "io/unique_names.h"
#include "kansetsu/io/sdf.h"

namespace kansetsu::io {
namespace sdf {
namespace {

constexpr XmlFormat kSdfFormat{"SDF", kCannotHold, kNotWritable, kCannotWrite};

bool has_plain_masks(const SceneDescription& scene) {
  const auto plain = [](const LinkShape& s) { return s.contype == s.conaffinity && s.contype <= 1; };
  for (const EnvironmentShape& e : scene.environment) {
    if (!plain(e.shape)) return false;
  }
  for (const FigureDescription& f : scene.figures) {
    for (const LinkDescription& link : f.model.links) {
      if (!std::ranges::all_of(link.collisions, plain)) return false;
    }
  }
  return true;
}

/// Whether a file with a single model is sufficient: nothing else in the scene, and default settings.
bool is_one_model(const SceneDescription& scene) {
  const SceneDescription usual;
  const auto top = [](const FigureDescription& f) { return f.name.substr(0, f.name.find("::")); };
  return !scene.figures.empty() && scene.environment.empty() && scene.connections.empty() &&
         scene.gravity == usual.gravity && scene.magnetic == usual.magnetic && scene.time_step == usual.time_step &&
         std::ranges::all_of(scene.figures, [&](const auto& f) { return top(f) == top(scene.figures[0]); });
}

/// "model::inner::part" part by part.
std::vector<std::string> parts_of(const std::string& name) {
  const auto parts = io::split(name, "::");
  return {parts.begin(), parts.end()};
}

std::string flattened(const std::string& name) { return fmt::format("{}", fmt::join(io::split(name, "::"), "_")); }

/// A free name that is not reserved.
std::string take(std::set<std::string>& names, const std::string& wanted, PartKind kind) {
  const bool reserved = wanted.empty() || wanted == "world" || (wanted.starts_with("__") && wanted.ends_with("__"));
  if (!reserved && names.insert(wanted).second) return wanted;
  static constexpr const char* kSuffixes[] = {"_link", "_joint", "_frame"};
  return unique_name(names, wanted + kSuffixes[int(kind)]);
}

void write_world_settings(Writer& w, Element& world) {
  w.set(world, "name", w.scene.name.empty() ? std::string("world") : w.scene.name);
  Element& physics = w.add(world, "physics");
  w.set(physics, "name", "usual"), w.set(physics, "type", "ignored");
  w.put(physics, "max_step_size", w.scene.time_step);
  w.put(physics, "real_time_factor", 1.0);
  w.put(world, "gravity", w.scene.gravity);
  w.put(world, "magnetic_field", w.scene.magnetic);
}

/// Shapes named "model::link::shape" are written there; others get a model each.
void write_environment(Writer& w) {
  struct Target {
    Element* link = nullptr;
    ShapeNames names{};
  };
  std::map<std::string, std::pair<WrittenModel*, std::map<std::string, Target>>> made;
  for (const EnvironmentShape& e : w.scene.environment) {
    std::vector<std::string> names = parts_of(e.shape.name);
    if (names.size() < 3) names = {flattened(e.shape.name), "link", "shape"};
    const std::string link = fmt::format("{}", fmt::join(names.begin() + 1, names.end() - 1, "::"));
    auto& [model, links] = made[names.front()];
    if (!model) {
      model = w.add_model(names.front()).second;
      w.put(*model->scope.element, "static", "true");
    }
    Target& target = links[link];
    if (!target.link) {
      const NamedPart part = name_part(w, model->scope, link, PartKind::kLink);
      target.link = &w.add(*part.scope->element, "link");
      w.set(*target.link, "name", part.name);
    }
    LinkShape shape = e.shape;
    shape.name = names.back();
    const bool touches = shape.contype != 0 || shape.conaffinity != 0;
    write_shape(w, *target.link, target.names, shape, to_transform(shape.origin), shape.surface,
                touches ? ShapeUse::kCollision : ShapeUse::kVisual);
  }
}

bool is_plain(const ConnectionDescription& c) {
  const ConnectionDescription usual;
  return c.active && c.break_force == kInfinity && c.break_torque == kInfinity && c.restitution == usual.restitution &&
         c.compliance == usual.compliance && !c.motion;
}

void write_connections(Writer& w) {
  for (const ConnectionDescription& c : w.scene.connections) {
    if (!is_plain(c)) {
      w.lose("connections with compliance, breaking force, restitution, motion or later activation", c.name);
      continue;
    }
    const auto part = [&](const Anchor& anchor) -> WrittenPart {
      if (anchor.figure.empty()) return {{}, "world", {}};
      const WrittenPart* found = find_in(w.parts, {anchor.figure, anchor.link});
      return found ? *found : w.parts.at({anchor.figure, ""});
    };
    HeldPair pair{c.name, part(c.a), part(c.b), c.a.pose, c.b.pose, c.mask};
    if (c.b.figure.empty()) std::swap(pair.a, pair.b), std::swap(pair.pose_a, pair.pose_b);
    if (c.hold == Hold::kRelativePose)
      pair.pose_a = to_pose(inverse(pair.a.X_W) * pair.b.X_W * to_transform(pair.pose_b));
    if (pair.a.model.empty() || pair.a.model == pair.b.model) {
      if (pair.name.starts_with(pair.b.model + "::")) pair.name.erase(0, pair.b.model.size() + 2);
      write_holding_joint(w, &w.models.at(pair.b.model).scope, pair);
    } else {
      w.needs_newest = true;
      for (WrittenPart* p : {&pair.a, &pair.b}) p->name = p->model + "::" + p->name;
      write_holding_joint(w, nullptr, pair);
    }
  }
}

void tell_surfaces(Writer& w) {
  std::vector<std::string> used = used_surfaces(w.scene);
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const std::string& name : used) {
    const ContactMaterial& m = surface_material(w.scene, name);
    if (m.mu_d != m.mu_s || m.rolling_radius != 0 || m.clearance != 0)
      w.lose("dynamic friction other than static friction, rolling friction, and clearance", name);
  }
  constexpr CombineRule kSmaller = CombineRule::kMinimum;
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t j = i; j < used.size(); ++j) {
      const ContactMaterial here = surface_pair(w.scene, used[i], used[j]);
      const ContactMaterial there = combine(surface_material(w.scene, used[i]), surface_material(w.scene, used[j]),
                                            {kSmaller, kSmaller, CombineRule::kMaximum, CombineRule::kMaximum});
      if (here.mu_s != there.mu_s || here.restitution != there.restitution || here.spin_radius != there.spin_radius)
        w.lose("how these surfaces combine; Gazebo uses the smaller friction",
               fmt::format("{} and {}", used[i], used[j]));
    }
  }
}

void tell_rest_of_scene(Writer& w) {
  const SceneDescription& scene = w.scene;
  w.lose_experiment();
  tell_surfaces(w);
  if (scene.medium.acts()) w.lose("the medium", scene.name);
  if (scene.integrator != Integrator::kSemiImplicit) w.lose("the integrator", scene.name);
  if (!scene.contacts) w.lose("a world without contacts", scene.name);
  for (const ContactExclusion& e : scene.exclusions) w.lose("pairs that never collide", e.a.figure + " " + e.a.link);
  for (const ContactPair& p : scene.pairs) w.lose("surfaces of single pairs", p.a.figure + " " + p.a.shape);
  for (const SpringDescription& s : scene.springs) w.lose("springs between points", s.name);
  for (const SensorDescription& s : scene.sensors) w.lose("sensors of Kansetsu", s.name);
  for (const Keyframe& k : scene.keyframes) w.lose("keyframes", k.name);
}

Loaded<std::string> sdf_text(const SceneDescription& scene, const std::filesystem::path& folder) {
  if (std::vector<Diagnostic> problems = errors_of(validate(scene)); !problems.empty())
    return {std::nullopt, std::move(problems)};
  Writer w(scene, folder);
  const bool one = is_one_model(scene);
  if (!one) write_world_settings(w, *(w.parent = &w.add(*w.root, "world")));
  for (const FigureDescription& figure : scene.figures) write_figure(w, figure);
  write_environment(w);
  write_connections(w);
  tell_rest_of_scene(w);
  w.set(*w.root, "version", w.needs_newest ? "1.11" : "1.9");
  return w.text();
}

}  // namespace

Writer::Writer(const SceneDescription& s, std::filesystem::path f)
    : SceneXml(s, std::move(f), kSdfFormat, "sdf"), parent(root), plain_masks(has_plain_masks(s)) {
  root->SetAttribute("version", "");  // the first attribute; its value is set at the end
  root->SetAttribute("xmlns:drake", "drake.mit.edu");
}

std::pair<std::string, WrittenModel*> Writer::add_model(const std::string& wanted) {
  const std::string stem = wanted.empty() || wanted == "world" ? "model" : flattened(wanted);
  std::string name = stem;
  for (int i = 2; models.contains(name); ++i) name = fmt::format("{}_{}", stem, i);
  WrittenModel& made = models[name];
  made.scope.element = &add(*parent, "model");
  set(*made.scope.element, "name", name);
  return {name, &made};
}

void Writer::put_pose(Element& e, const Transform<>& X) {
  const Pose pose = to_pose(X);
  if (pose == Pose{}) return;
  put(e, "pose", std::array{pose.p.x, pose.p.y, pose.p.z, pose.rpy.x, pose.rpy.y, pose.rpy.z});
}

NamedPart name_part(Writer& w, Scope& top, const std::string& wanted, PartKind kind,
                    std::initializer_list<std::string> refers_to) {
  const std::vector<std::string> names = parts_of(wanted);
  Scope* scope = &top;
  std::size_t used = 0;
  for (; used + 1 < names.size(); ++used) {
    const std::string& next = names[used];
    auto found = scope->inner.find(next);
    if (found == scope->inner.end()) {
      if (kind != PartKind::kLink || next.empty() || !scope->names.insert(next).second) break;
      found = scope->inner.emplace(next, Scope{.path = scope->path + next + "::"}).first;
      found->second.element = &w.add(*scope->element, "model");
      w.set(*found->second.element, "name", next);
    }
    const auto within = [&](const std::string& name) {
      return name == "world" || name.starts_with(found->second.path);
    };
    if (!std::ranges::all_of(refers_to, within)) break;
    scope = &found->second;
  }
  const std::string rest = fmt::format("{}", fmt::join(names.begin() + std::ptrdiff_t(used), names.end(), "_"));
  std::string name = take(scope->names, rest, kind);
  if (scope->path + name != wanted) w.lose("these names, which get a suffix", wanted);
  return {scope, std::move(name)};
}

std::string name_within(const Scope& scope, const std::string& name) {
  return name == "world" ? name : name.substr(scope.path.size());
}

std::pair<Element*, NamedPart> add_joint(Writer& w, Scope* scope, const std::string& wanted, const char* type,
                                         const std::string& parent, const std::string& child, const Transform<>& X_CJ) {
  NamedPart part{nullptr, wanted};
  if (scope) part = name_part(w, *scope, wanted, PartKind::kJoint, {parent, child});
  Element& e = w.add(scope ? *part.scope->element : *w.parent, "joint");
  w.set(e, "name", part.name);
  w.set(e, "type", type);
  w.put_pose(e, X_CJ);
  w.put(e, "parent", scope ? name_within(*part.scope, parent) : parent);
  w.put(e, "child", scope ? name_within(*part.scope, child) : child);
  return {&e, part};
}

}  // namespace sdf

Loaded<std::string> to_sdf(const SceneDescription& scene) { return sdf::sdf_text(scene, {}); }

std::vector<Diagnostic> write_sdf(const SceneDescription& scene, const std::filesystem::path& file) {
  return write_scene_xml(file, sdf::kSdfFormat,
                         [&](const std::filesystem::path& folder) { return sdf::sdf_text(scene, folder); });
}

}  // namespace kansetsu::io
