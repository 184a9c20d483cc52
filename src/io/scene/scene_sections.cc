#include <fmt/format.h>

#include <algorithm>

#include "io/scene/scene_reader.h"
#include "io/text.h"
#include "kansetsu/base/suggest.h"

namespace kansetsu::io::scene {
namespace {

CombineRule read_rule(TomlTable& table, const char* key, CombineRule rule) {
  const auto word = table.keyword(key, {"geometric_mean", "mean", "minimum", "maximum"});
  return word ? CombineRule(*word) : rule;
}

const FigureDescription* find_figure(const Reader& reader, const std::string& name) {
  for (const FigureDescription& figure : reader.scene.figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

/// What a controller does with a joint, over what it does with all.
void read_control(TomlTable& table, JointControl& control) {
  table.read("value", control.value);
  table.read("amplitude", control.amplitude);
  table.read("frequency", control.frequency);
  table.read("phase", control.phase);
  table.read("deviation", control.deviation);
  table.read("kp", control.kp);
  table.read("kd", control.kd);
  table.read("effort", control.effort);
}

void add_joint(TomlTable& table, const FigureDescription& figure, const std::string& name, const JointControl& control,
               std::vector<JointControl>& out) {
  const auto& joints = figure.model.joints;
  const auto joint =
      std::find_if(joints.begin(), joints.end(), [&](const JointDescription& j) { return j.name == name; });
  if (joint == joints.end()) {
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

/// joints = ["a", "b"], all joints that no gear determines without it; target = {a = 0.1} sets values of joints.
void read_joints(TomlTable& table, const FigureDescription& figure, ControllerDescription& out) {
  JointControl common;
  read_control(table, common);
  if (const auto names = table.texts("joints")) {
    for (const std::string& name : *names) add_joint(table, figure, name, common, out.joints);
  } else if (!table.has("joint")) {
    for (const JointDescription& joint : figure.model.joints) {
      const auto follows = [&](const Coupling& c) { return c.dependent.joint == joint.name; };
      if (std::none_of(figure.model.couplings.begin(), figure.model.couplings.end(), follows))
        add_joint(table, figure, joint.name, common, out.joints);
    }
  }
  for (TomlTable& inner : table.tables("joint")) {
    JointControl control = common;
    const std::string name = inner.required("name");
    const auto index = inner.integer("index");
    read_control(inner, control);
    inner.finish();
    std::vector<JointControl> all;
    add_joint(inner, figure, name, control, all);
    for (const JointControl& one : all) {
      if (!index || one.dof.index == *index) out.joints.push_back(one);
    }
  }
  for (const auto& [name, values] : read_values(table, "target")) {
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

void read_settings(Reader& reader, TomlTable& table) {
  SceneDescription& scene = reader.scene;
  table.read("name", scene.name);
  table.read("gravity", scene.gravity);
  table.read("magnetic", scene.magnetic);
  if (auto medium = table.table("medium")) {
    medium->read("density", scene.medium.density);
    medium->read("viscosity", scene.medium.viscosity);
    medium->read("wind", scene.medium.wind);
    medium->finish();
  }
  table.read("time_step", scene.time_step);
  table.read("duration", scene.duration);
  if (const auto word = table.keyword("integrator", {"semi_implicit", "rk4", "adaptive"}))
    scene.integrator = Integrator(*word);
  table.read("tolerance", scene.tolerance);
  scene.seed = read_seed(table).value_or(0);
  table.read("contacts", scene.contacts);
  if (const auto word = table.keyword("contact_law", {"engine", "nakamura_yamane"}))
    scene.contact_law = ContactLaw(*word);
  table.read("sleeping", scene.sleeping);
  table.finish();
}

void read_surfaces(Reader& reader, TomlTable& root) {
  SceneDescription& scene = reader.scene;
  if (auto rules = root.table("surface_rules")) {
    scene.surface_rules.friction = read_rule(*rules, "friction", scene.surface_rules.friction);
    scene.surface_rules.restitution = read_rule(*rules, "restitution", scene.surface_rules.restitution);
    scene.surface_rules.spin_radius = read_rule(*rules, "spin_radius", scene.surface_rules.spin_radius);
    scene.surface_rules.rolling_radius = read_rule(*rules, "rolling_radius", scene.surface_rules.rolling_radius);
    rules->finish();
  }
  for (TomlTable& table : root.tables("surface")) {
    const std::string name = table.required("name");
    const ContactMaterial material = read_material(table, {});
    table.finish();
    if (name == "default")
      scene.default_surface = material;
    else
      scene.surfaces.push_back({name, material});
  }
  for (TomlTable& table : root.tables("surface_pair")) {
    SurfacePair pair{table.required("a"), table.required("b"), read_material(table, {}), table.line()};
    for (std::string* name : {&pair.a, &pair.b}) {
      if (*name == "default") name->clear();
    }
    table.finish();
    scene.surface_pairs.push_back(std::move(pair));
  }
  for (TomlTable& table : root.tables("exclude")) {
    scene.exclusions.push_back({read_shape_ref(table, "a"), read_shape_ref(table, "b"), table.line()});
    table.finish();
  }
  for (TomlTable& table : root.tables("pair")) {
    ContactPair pair{read_shape_ref(table, "a"), read_shape_ref(table, "b"), {}, table.line()};
    table.read("surface", pair.surface);
    table.finish();
    scene.pairs.push_back(std::move(pair));
  }
}

void read_environment(Reader& reader, TomlTable& table) {
  EnvironmentShape out;
  out.line = table.line();
  if (!table.has("name")) table.required("name");
  auto shape = read_link_shape(reader, table);
  out.motion = read_motion(table, "motion");
  table.read("surface_velocity", out.surface_velocity);
  table.finish();
  if (!shape) return;
  out.shape = *std::move(shape);
  reader.scene.environment.push_back(std::move(out));
}

void read_connection(Reader& reader, TomlTable& table) {
  ConnectionDescription c;
  c.line = table.line();
  c.name = table.required("name");
  c.a = read_anchor(table, "a");
  c.b = read_anchor(table, "b");
  c.mask = read_mask(table);
  if (const auto hold = table.keyword("hold", {"relative_pose", "together"})) c.hold = Hold(*hold);
  table.read("active", c.active);
  table.read("break_force", c.break_force);
  table.read("break_torque", c.break_torque);
  read_directions(table, "restitution", AllAtOnce::kYes, c.restitution);
  read_directions(table, "stiffness", AllAtOnce::kNo, c.compliance.stiffness);
  read_directions(table, "damping", AllAtOnce::kNo, c.compliance.damping);
  c.motion = read_motion(table, "motion");
  table.finish();
  reader.scene.connections.push_back(std::move(c));
}

void read_spring(Reader& reader, TomlTable& table) {
  SpringDescription s;
  s.line = table.line();
  s.name = table.required("name");
  s.a = read_anchor(table, "a");
  s.b = read_anchor(table, "b");
  table.read("stiffness", s.stiffness);
  table.read("damping", s.damping);
  s.rest_length = table.number("rest_length");
  table.read("pull_only", s.pull_only);
  table.finish();
  reader.scene.springs.push_back(std::move(s));
}

void read_controller(Reader& reader, TomlTable& table) {
  ControllerDescription c;
  c.line = table.line();
  c.name = table.required("name");
  c.figure = table.required("figure");
  if (const auto kind = table.keyword("kind", {"torque", "pd", "motion"})) c.kind = ControlKind(*kind);
  table.read("period", c.period);
  c.seed = read_seed(table);
  table.read("active", c.active);
  const FigureDescription* figure = find_figure(reader, c.figure);
  if (figure) {
    read_joints(table, *figure, c);
    table.finish();
  }
  reader.scene.controllers.push_back(std::move(c));
}

void read_sensor(Reader& reader, TomlTable& table) {
  SensorDescription s;
  s.line = table.line();
  s.name = table.required("name");
  const std::string kind = table.required("kind");
  if (const auto known = sensor_kind(kind))
    s.kind = *known;
  else if (!kind.empty())
    table.error_at("kind", kKeyword, fmt::format("there is no sensor '{}'", kind), "see docs/formats/scene.md");
  using enum SensorKind;
  if (table.has("at")) s.at = read_anchor(table, "at");
  if (table.has("reference")) s.reference = read_anchor(table, "reference");
  if (s.kind == kJointForce) {
    s.at.figure = table.required("figure");
    s.joint = table.required("joint");
  }
  if (s.kind >= kJointPosition && s.kind <= kActuatorForce) {
    s.at.figure = table.required("figure");
    s.target = table.required("target");
  }
  if (s.kind == kConnectionForce) s.connection = table.required("connection");
  if (s.kind == kContact || table.has("of")) s.contact = read_shape_ref(table, "of");
  if (table.has("to")) s.other = read_shape_ref(table, "to");
  table.read("cutoff", s.cutoff);
  table.read("noise", s.noise);
  table.read("angular_noise", s.angular_noise);
  table.read("linear_noise", s.linear_noise);
  s.seed = read_seed(table);
  if (auto volume = table.table("volume")) {
    s.volume = read_shape(reader, *volume);
    volume->finish();
  }
  table.finish();
  reader.scene.sensors.push_back(std::move(s));
}

void read_event(Reader& reader, TomlTable& table) {
  EventDescription e;
  e.line = table.line();
  e.name = table.required("name");
  if (const auto when = table.keyword("when", {"time", "near", "force", "touch", "lift", "limit"}))
    e.trigger = TriggerKind(*when);
  else if (!table.has("when"))
    table.required("when");
  table.read("time", e.time);
  table.read("delay", e.delay);
  table.read("once", e.once);
  if (e.trigger == TriggerKind::kNear || e.trigger == TriggerKind::kForce) e.connection = table.required("connection");
  if (e.trigger == TriggerKind::kNear) {
    if (!table.has("distance")) table.error(kMissing, "key 'distance' is missing", "write distance = 0.05");
    table.read("distance", e.distance);
  }
  if (e.trigger == TriggerKind::kForce) {
    if (!table.has("force") && !table.has("torque"))
      table.error(kMissing, "neither 'force' nor 'torque' is there", "write force = 100.0");
    table.read("force", e.force);
    table.read("torque", e.torque);
  }
  if (e.trigger == TriggerKind::kTouch || e.trigger == TriggerKind::kLift) {
    e.a = read_shape_ref(table, "a");
    e.b = read_shape_ref(table, "b");
  }
  if (e.trigger == TriggerKind::kLimit) {
    e.figure = table.required("figure");
    e.dof.joint = table.required("joint");
    e.dof.index = int(std::min<std::int64_t>(table.integer("index").value_or(0), 100));
  }
  if (const auto action = table.keyword("do", {"note", "connect", "cut", "start_controller", "stop_controller", "end"}))
    e.action = ActionKind(*action);
  if (e.action != ActionKind::kNote && e.action != ActionKind::kEndSimulation) e.target = table.required("target");
  table.finish();
  reader.scene.events.push_back(std::move(e));
}

void read_recording(Reader& reader, TomlTable& table) {
  static constexpr std::string_view kWhat[] = {"q",        "v",           "tau",     "energy", "momentum",
                                               "contacts", "connections", "sensors", "events", "actuators"};
  RecordingDescription r;
  r.line = table.line();
  r.file = table.required("file");
  table.read("rate", r.rate);
  if (const auto what = table.texts("what")) {
    r.what.clear();
    for (const std::string& word : *what) {
      const auto* found = std::find(std::begin(kWhat), std::end(kWhat), word);
      if (found == std::end(kWhat))
        table.error_at("what", kKeyword, fmt::format("'{}' cannot be recorded", word),
                       "known: q, v, tau, energy, momentum, contacts, connections, sensors, events, actuators");
      else
        r.what.push_back(Recorded(found - kWhat));
    }
  }
  table.finish();
  reader.scene.recordings.push_back(std::move(r));
}

void read_keyframe(Reader& reader, TomlTable& table) {
  Keyframe key;
  key.line = table.line();
  key.name = table.required("name");
  table.read("time", key.time);
  key.controls = read_values(table, "controls");
  for (TomlTable& state : table.tables("figure")) {
    const std::string name = state.required("name");
    key.figures[name] = read_state(state);
    state.finish();
  }
  table.finish();
  reader.scene.keyframes.push_back(std::move(key));
}

}  // namespace kansetsu::io::scene
