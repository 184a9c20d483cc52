#include <fmt/format.h>

#include <algorithm>

#include "base/lookup.h"
#include "io/scene/toml_record.h"
#include "io/text.h"
#include "kansetsu/base/suggest.h"

namespace kansetsu::io::scene {
namespace {

void add_joint(TomlTable& table, const FigureDescription& figure, const std::string& name, const JointControl& control,
               std::vector<JointControl>& out) {
  const auto& joints = figure.model.joints;
  const JointDescription* joint = find_named(joints, name);
  if (!joint) {
    const std::string hint = table.report().hints.nearest(name, joints.size(), [&] {
      std::vector<std::string> known;
      for (const JointDescription& j : joints) known.push_back(j.name);
      return known;
    });
    return table.error(kNoSuchPart, fmt::format("there is no joint '{}'", name), hint);
  }
  for (int k = 0; k < info(joint->type).nv; ++k) {
    out.push_back(control);
    out.back().dof = {name, k};
  }
}

/// joints = ["a", "b"], by default all joints that are not coupled; target = {a = 0.1} sets values.
void read_joints(TomlTable& table, const FigureDescription& figure, ControllerDescription& out) {
  JointControl common;
  read_fields(table, common);
  if (const auto names = table.texts("joints")) {
    for (const std::string& name : *names) add_joint(table, figure, name, common, out.joints);
  } else if (!table.has("joint")) {
    for (const JointDescription& joint : figure.model.joints) {
      const auto follows = [&](const Coupling& c) { return c.dependent.joint == joint.name; };
      if (std::ranges::none_of(figure.model.couplings, follows))
        add_joint(table, figure, joint.name, common, out.joints);
    }
  }
  for (TomlTable& inner : table.tables("joint")) {
    JointControl control = common;
    const std::string name = inner.required("name");
    const auto index = inner.integer("index");
    read_fields(inner, control);
    inner.finish();
    std::vector<JointControl> all;
    add_joint(inner, figure, name, control, all);
    for (const JointControl& one : all) {
      if (!index || one.dof.index == *index) out.joints.push_back(one);
    }
  }
  std::map<std::string, std::vector<double>> target;
  read_value(table, "target", target);
  for (const auto& [name, values] : target) {
    bool found = false;
    for (JointControl& control : out.joints) {
      if (control.dof.joint != name || std::size_t(control.dof.index) >= values.size()) continue;
      control.value = values[std::size_t(control.dof.index)];
      found = true;
    }
    if (!found)
      table.error_at("target", kNoSuchPart, fmt::format("the controller has no joint '{}'", name), "name it in joints");
  }
}

}  // namespace

void read_surfaces(Reader& reader, TomlTable& root) {
  SceneDescription& scene = reader.scene;
  read_value(root, "surface_rules", scene.surface_rules);
  std::vector<Surface> surfaces;
  read_value(root, "surfaces", surfaces);
  for (Surface& surface : surfaces) {
    if (surface.name == "default")
      scene.default_surface = surface.material;
    else
      scene.surfaces.push_back(std::move(surface));
  }
  read_value(root, "surface_pairs", scene.surface_pairs);
  for (SurfacePair& pair : scene.surface_pairs) {
    for (std::string* name : {&pair.a, &pair.b}) {
      if (*name == "default") name->clear();
    }
  }
  read_value(root, "excludes", scene.exclusions);
  read_value(root, "pairs", scene.pairs);
}

void read_environment(Reader& reader, TomlTable& table) {
  EnvironmentShape out;
  out.line = table.line();
  if (!table.has("name")) table.required("name");
  auto shape = read_link_shape(reader, table);
  read_value(table, "motion", out.motion);
  table.read("surface_velocity", out.surface_velocity);
  table.finish();
  if (!shape) return;
  out.shape = *std::move(shape);
  reader.scene.environment.push_back(std::move(out));
}

void read_controller(Reader& reader, TomlTable& table) {
  ControllerDescription c;
  read_fields(table, c);
  if (const FigureDescription* figure = find_named(reader.scene.figures, c.figure)) {
    read_joints(table, *figure, c);
    table.finish();
  }
  reader.scene.controllers.push_back(std::move(c));
}

void read_sensor(Reader& reader, TomlTable& table) {
  SensorDescription s;
  read_fields(table, s);
  if (!RecordSchema<SensorDescription>::at_anchor(s)) s.at.figure = table.required("figure");
  if (auto volume = table.table("volume")) {
    s.volume = read_shape(reader, *volume);
    volume->finish();
  }
  table.finish();
  reader.scene.sensors.push_back(std::move(s));
}

void read_event(Reader& reader, TomlTable& table) {
  const EventDescription& e = reader.scene.events.emplace_back(read_record<EventDescription>(table));
  if (e.trigger == TriggerKind::kForce && !table.has("force") && !table.has("torque"))
    table.error(kMissing, "'force' or 'torque' is required", "write force = 100.0");
}

void read_keyframe(Reader& reader, TomlTable& table) {
  Keyframe key;
  read_fields(table, key);
  for (TomlTable& state : table.tables("figure")) {
    const std::string name = state.required("name");
    key.figures[name] = read_record<FigureState>(state);
  }
  table.finish();
  reader.scene.keyframes.push_back(std::move(key));
}

}  // namespace kansetsu::io::scene
