#include <fmt/format.h>

#include <algorithm>

#include "base/lookup.h"
#include "io/scene/toml_record.h"
#include "io/text.h"
#include "kansetsu/base/suggest.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/io/sdf.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/model/solid.h"

namespace kansetsu::io::scene {
namespace {

void take_diagnostics(Reader& reader, TomlTable& table, std::vector<Diagnostic>&& diagnostics,
                      const std::string& source) {
  if (has_errors(diagnostics))
    table.error_at("model", kModel, fmt::format("{} cannot be used", quote(source)), "see its other messages");
  for (Diagnostic& d : diagnostics) {
    if (d.is_error())
      reader.report.add(std::move(d));
    else
      reader.warnings.push_back(std::move(d));
  }
}

/// The diagnostics of a file. After the first use only one error remains, so that details are reported once.
std::vector<Diagnostic> once(std::vector<Diagnostic>& diagnostics) {
  std::vector<Diagnostic> out = std::move(diagnostics);
  diagnostics.clear();
  if (const auto error = std::ranges::find_if(out, &Diagnostic::is_error); error != out.end())
    diagnostics.push_back(*error);
  return out;
}

/// The requested figure of a model file.
void take_figure(Reader& reader, TomlTable& table, const std::filesystem::path& path, ModelFile& file,
                 FigureDescription& out) {
  const std::string wanted = file.first.empty() ? "" : table.text("figure").value_or("");
  take_diagnostics(reader, table, once(file.diagnostics), path.string());
  const auto found = wanted.empty() && file.figures.size() == 1 ? file.figures.begin() : file.figures.find(wanted);
  if (found != file.figures.end()) {
    const FigureDescription& figure = found->second;
    out.model = figure.model;
    if (file.first.empty()) return;  // a URDF file contains only a model
    out.loops = figure.loops;
    out.couplings = figure.couplings;
    out.actuation = figure.actuation;
    out.initial = figure.initial;
    out.self_collision = figure.self_collision;
    out.switches = figure.switches;
    out.gravity_compensation = figure.gravity_compensation;
    out.ellipsoids = figure.ellipsoids;
    out.base_motion = figure.base_motion;
    for (ContactExclusion e : file.exclusions) {
      if (e.a.figure != figure.name) continue;
      e.a.figure = e.b.figure = out.name, e.line = table.line();
      reader.scene.exclusions.push_back(std::move(e));
    }
  } else if (file.readable) {
    table.error_at("model", kNoSuchPart, fmt::format("the file has {} figures", file.figures.size()),
                   file.first.empty() ? "name another file" : fmt::format("name one by figure = \"{}\"", file.first));
  }
}

/// The figures of an MJCF or SDF file. Their surfaces are dropped: the scene has its own.
ModelFile figures_of(Loaded<SceneDescription> scene) {
  ModelFile out{.diagnostics = std::move(scene.diagnostics), .readable = bool(scene)};
  if (!scene) return out;
  for (ContactExclusion& e : scene.value->exclusions) {
    if (!e.a.figure.empty() && e.a.figure == e.b.figure) out.exclusions.push_back(std::move(e));
  }
  for (FigureDescription& figure : scene.value->figures) {
    for (LinkDescription& link : figure.model.links) {
      for (LinkShape& shape : link.collisions) shape.surface.clear();
    }
    if (out.first.empty()) out.first = figure.name;
    const std::string name = figure.name;
    out.figures.emplace(name, std::move(figure));
  }
  return out;
}

ModelFile figure_of(Loaded<ModelDescription> model) {
  ModelFile out{.diagnostics = std::move(model.diagnostics), .readable = bool(model)};
  if (model) out.figures[""].model = *std::move(model.value);
  return out;
}

void load_file(Reader& reader, TomlTable& table, const std::string& source, FigureDescription& out) {
  const std::filesystem::path path = reader.folder / source;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    const std::string near = nearest_name(source, figure_names());
    table.error_at("model", kModel, fmt::format("there is no file '{}' and no figure '{}'", path.string(), source),
                   near.empty() ? "name a .urdf, .xml or .sdf file relative to the scene, or a built-in figure" : near);
    return;
  }
  if (!reader.gate.allows(path)) {
    table.error_at("model", kOutside, fmt::format("the model {} is outside of the scene's package", quote(source)),
                   reader.gate.hint(path));
    return;
  }
  auto known = reader.files.find(path.string());
  if (known == reader.files.end()) {
    ModelFile file;
    switch (find_format(path)) {
      case FileFormat::kMjcf:
        file = figures_of(read_mjcf(path, reader.options));
        break;
      case FileFormat::kSdf:
        file = figures_of(read_sdf(path, reader.options));
        break;
      case FileFormat::kScene:
        table.error_at("model", kModel, "a scene cannot be the model of a figure", "name a .urdf, .xml or .sdf file");
        return;
      case FileFormat::kUrdf:
        file = figure_of(read_urdf(path, {.package_paths = reader.options.package_paths,
                                          .allowed_paths = reader.options.allowed_paths,
                                          .package = reader.options.package}));
        break;
    }
    known = reader.files.emplace(path.string(), std::move(file)).first;
  }
  take_figure(reader, table, path, known->second, out);
}

/// Loads a model: inline links, a built-in figure, or a file.
bool load_model(Reader& reader, TomlTable& table, FigureDescription& out) {
  const bool own = table.has("link");
  if (own) {
    if (table.has("model")) table.error_at("model", kConflict, "both a model and links", "give one of them");
    out.model = read_model(reader, table, out.name);
    return true;
  }
  const std::string source = table.required("model");
  if (source.empty()) return false;
  out.source = source;
  if (const auto figure = find_figure(source))
    out.model = figure->description();
  else
    load_file(reader, table, source, out);
  constexpr std::size_t kMostLinks =
      500'000;  // ten times more than the largest scene of tests; a few words ask for any number
  reader.links += out.model.links.size();
  if (reader.links > kMostLinks) {
    table.error_at("model", kModel, fmt::format("figures have more than {} links in total", kMostLinks),
                   "make the scene smaller");
    return false;
  }
  return !out.model.links.empty();
}

std::string nearest(TomlTable& table, const std::string& name, const auto& items) {
  return table.report().hints.nearest(name, items.size(), [&] {
    std::vector<std::string> names;
    for (const auto& item : items) names.push_back(item.name);
    return names;
  });
}

void add_shapes(Reader& reader, TomlTable& table, ModelDescription& model) {
  if (const auto keep = table.boolean("keep_shapes"); keep && !*keep) {
    for (LinkDescription& link : model.links) link.collisions.clear();
  }
  for (TomlTable& shape : table.tables("shape")) {
    const std::string name = shape.required("link");
    auto read = read_link_shape(reader, shape);
    LinkDescription* link = find_named(model.links, name);
    if (!link && !name.empty())
      shape.error_at("link", kNoSuchPart, fmt::format("there is no link '{}'", name),
                     nearest(shape, name, model.links));
    if (link && read) link->collisions.push_back(*std::move(read));
    shape.finish();
  }
}

/// Overrides joint data of the model.
void adjust_joints(TomlTable& table, ModelDescription& model) {
  for (TomlTable& adjust : table.tables("adjust")) {
    const std::string name = adjust.required("joint");
    JointDescription* joint = find_named(model.joints, name);
    if (!joint) {
      if (!name.empty())
        adjust.error_at("joint", kNoSuchPart, fmt::format("there is no joint '{}'", name),
                        nearest(adjust, name, model.joints));
      continue;
    }
    joint->dofs.resize(std::size_t(info(joint->type).nv));
    for (DofDescription& dof : joint->dofs) read_fields(adjust, dof);
    adjust.finish();
  }
}

/// Resolves a joint name to the joint frame on the child link, as loop files of other programs use it.
void resolve_joint(const ModelDescription& model, std::string& link, Pose& pose) {
  const auto named = [&](const auto& thing) { return thing.name == link; };
  if (std::ranges::any_of(model.links, named) || std::ranges::any_of(model.frames, named)) return;
  const auto joint = std::ranges::find_if(model.joints, named);
  if (joint == model.joints.end()) return;
  link = joint->child;
  if (joint->plug != Pose{}) pose = to_pose(to_transform(joint->plug) * to_transform(pose));
}

void add_loops(TomlTable& table, FigureDescription& figure) {
  const std::size_t before = figure.loops.size();  // from the model file
  read_value(table, "loops", figure.loops);
  for (std::size_t i = before; i < figure.loops.size(); ++i) {
    LoopClosure& loop = figure.loops[i];
    resolve_joint(figure.model, loop.link_a, loop.pose_a);
    resolve_joint(figure.model, loop.link_b, loop.pose_b);
  }
  for (TomlTable& coupling : table.tables("coupling")) {
    PolynomialCoupling out{.coefficient = {0, 1}};
    out.tendons = coupling.has("tendon");
    out.dependent = {coupling.required(out.tendons ? "tendon" : "joint"), 0};
    if (const auto driver = coupling.text("driver")) out.driver = DofRef{*driver, 0};
    read_fields(coupling, out);
    coupling.finish();
    figure.couplings.push_back(std::move(out));
  }
}

/// rest = [lower, upper], and the keys of the schema.
void read_tendon(TomlTable& table, ActuationDescription& actuation) {
  TendonDescription out;
  read_fields(table, out);
  Interval rest{0, 0};
  read_value(table, "rest", rest);
  out.rest_lower = rest.lower, out.rest_upper = rest.upper;
  table.finish();
  actuation.tendons.push_back(std::move(out));
}

/// kp and kd define a servo; a wrench without a joint acts on the base.
void read_actuator(TomlTable& table, ActuationDescription& actuation) {
  ActuatorDescription out;
  double kp = 0, kd = 0;
  table.read("kp", kp);
  table.read("kd", kd);
  if (table.has("kp"))
    make_position_servo(out, kp, kd);
  else if (table.has("kd"))
    make_velocity_servo(out, kd);
  read_fields(table, out);
  if (RecordSchema<ActuatorDescription>::acts_on_joint(out)) {
    if (table.has("wrench") && !table.has("joint"))
      table.read("index", out.dof.index);
    else
      read_fields(table, out.dof);
  }
  table.finish();
  actuation.actuators.push_back(std::move(out));
}

}  // namespace

void read_figure(Reader& reader, TomlTable& table) {
  FigureDescription figure;
  figure.name = table.required("name");
  const bool loaded = load_model(reader, table, figure);
  read_value(table, "base", figure.model.base);
  FigureState given;
  read_fields(table, given);
  if (table.has("pose") || figure.model.base == Base::kFree)
    figure.initial.base = table.has("pose") ? given.base : figure.initial.base;
  else
    figure.initial.base = figure.model.base_pose;
  figure.initial.velocity = given.velocity;
  for (const auto& [joint, values] : given.q) figure.initial.q[joint] = values;
  figure.initial.v = given.v;
  for (const auto& [actuator, u] : given.control) figure.initial.control[actuator] = u;
  for (const auto& [actuator, x] : given.activation) figure.initial.activation[actuator] = x;
  if (figure.model.base == Base::kFixed) figure.model.base_pose = figure.initial.base;
  read_fields(table, figure);
  if (loaded) {
    add_shapes(reader, table, figure.model);
    adjust_joints(table, figure.model);
  }
  read_value(table, "frames", figure.model.frames);
  read_value(table, "excludes", figure.model.collision_filters);
  read_value(table, "ellipsoids", figure.ellipsoids);
  for (TomlTable& tendon : table.tables("tendon")) read_tendon(tendon, figure.actuation);
  for (TomlTable& actuator : table.tables("actuator")) read_actuator(actuator, figure.actuation);
  add_loops(table, figure);
  // Keys of other kinds of models, or of models that could not be loaded, are not unknown.
  for (const char* key : {"joint", "gear", "figure", "keep_shapes", "shape", "adjust"}) table.allow(key);
  table.finish();
  if (loaded) reader.scene.figures.push_back(std::move(figure));
}

void read_body(Reader& reader, TomlTable& table) {
  const std::string name = table.required("name");
  Pose pose;
  read_value(table, "pose", pose);
  auto shape = read_link_shape(reader, table);
  const auto mass = table.number("mass"), density = table.number("density");
  Motion<> velocity{};
  read_value(table, "velocity", velocity);
  table.finish();
  if (!shape) return;
  const bool heavy = table.has("mass"), dense = table.has("density");
  const auto body_solid = solid(shape->shape);
  if (!body_solid)
    return table.error(kShape, "the shape of a body encloses no volume",
                       "use a sphere, box, cylinder, capsule or hull, or a figure with a link and its inertia");
  if (heavy == dense) return table.error(kConflict, "a body has either mass or density", "write mass = 1.0");
  if (!mass && !density) return;  // reported
  FigureDescription body = make_body(name, shape->shape, mass ? *mass : *density * body_solid->measure, pose);
  shape->origin = {};
  shape->name = name;
  body.model.links[0].collisions = {*shape};
  body.initial.velocity = velocity;
  body.line = table.line();
  reader.scene.figures.push_back(std::move(body));
}

}  // namespace kansetsu::io::scene
