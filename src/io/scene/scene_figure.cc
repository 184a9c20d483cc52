#include <fmt/format.h>

#include <algorithm>

#include "io/scene/scene_actuator.h"
#include "io/scene/scene_reader.h"
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
    table.error_at("model", kModel, fmt::format("{} cannot be used", quote(source)), "see what is said about it");
  for (Diagnostic& d : diagnostics) {
    if (d.is_error())
      reader.report.add(std::move(d));
    else
      reader.warnings.push_back(std::move(d));
  }
}

/// The figure of an MJCF or SDF file that is asked for, with its loops and couplings.
void take_figure(Reader& reader, TomlTable& table, const std::filesystem::path& path, Loaded<SceneDescription> scene,
                 FigureDescription& out) {
  const std::string wanted = table.text("figure").value_or("");
  take_diagnostics(reader, table, std::move(scene.diagnostics), path.string());
  if (!scene) return;
  std::vector<std::string> known;
  for (FigureDescription& figure : scene.value->figures) {
    known.push_back(figure.name);
    if (figure.name != wanted && !(wanted.empty() && scene.value->figures.size() == 1)) continue;
    out.model = std::move(figure.model);
    out.loops = std::move(figure.loops);
    out.couplings = std::move(figure.couplings);
    out.actuation = std::move(figure.actuation);
    out.initial = std::move(figure.initial);
    out.self_collision = figure.self_collision;
    out.switches = figure.switches;
    out.gravity_compensation = std::move(figure.gravity_compensation);
    // Surfaces of the file are not those of the scene.
    for (LinkDescription& link : out.model.links) {
      for (LinkShape& shape : link.collisions) shape.surface.clear();
    }
    return;
  }
  table.error_at("model", kNoSuchPart, fmt::format("the file has {} figures", known.size()),
                 known.empty() ? "name another file" : fmt::format("name one by figure = \"{}\"", known.front()));
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
  switch (find_format(path)) {
    case FileFormat::kMjcf:
      return take_figure(reader, table, path, read_mjcf(path, reader.options), out);
    case FileFormat::kSdf:
      return take_figure(reader, table, path, read_sdf(path, reader.options), out);
    case FileFormat::kScene:
      table.error_at("model", kModel, "a scene cannot be the model of a figure", "name a .urdf, .xml or .sdf file");
      return;
    case FileFormat::kUrdf:
      break;
  }
  Loaded<ModelDescription> model = read_urdf(path, {.package_paths = reader.options.package_paths,
                                                    .allowed_paths = reader.options.allowed_paths,
                                                    .package = reader.options.package});
  take_diagnostics(reader, table, std::move(model.diagnostics), path.string());
  if (model) out.model = *std::move(model.value);
}

/// A model of the scene's own, a built-in one, or one from a file.
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
  return !out.model.links.empty();
}

LinkDescription* find_link(ModelDescription& model, const std::string& name) {
  const auto found = std::find_if(model.links.begin(), model.links.end(),
                                  [&](const LinkDescription& link) { return link.name == name; });
  return found == model.links.end() ? nullptr : &*found;
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
    LinkDescription* link = find_link(model, name);
    if (!link && !name.empty())
      shape.error_at("link", kNoSuchPart, fmt::format("there is no link '{}'", name),
                     nearest(shape, name, model.links));
    if (link && read) link->collisions.push_back(*std::move(read));
    shape.finish();
  }
}

/// Data of joints in place of those of the model.
void adjust_joints(TomlTable& table, ModelDescription& model) {
  for (TomlTable& adjust : table.tables("adjust")) {
    const std::string name = adjust.required("joint");
    const auto joint = std::find_if(model.joints.begin(), model.joints.end(),
                                    [&](const JointDescription& j) { return j.name == name; });
    if (joint == model.joints.end()) {
      if (!name.empty())
        adjust.error_at("joint", kNoSuchPart, fmt::format("there is no joint '{}'", name),
                        nearest(adjust, name, model.joints));
      continue;
    }
    joint->dofs.resize(std::size_t(info(joint->type).nv));
    for (DofDescription& dof : joint->dofs) read_dof(adjust, dof);
    adjust.finish();
  }
}

void add_parts(TomlTable& table, ModelDescription& model) {
  for (TomlTable& frame : table.tables("frame")) {
    FrameDescription out;
    out.name = frame.required("name");
    out.link = frame.required("link");
    out.origin = read_pose(frame);
    frame.finish();
    model.frames.push_back(std::move(out));
  }
  for (TomlTable& pair : table.tables("exclude")) {
    model.collision_filters.push_back({pair.required("a"), pair.required("b")});
    pair.finish();
  }
}

/// Where a name of a joint stands for the frame of the joint on its child link, as in loop files of others.
void resolve_joint(const ModelDescription& model, std::string& link, Pose& pose) {
  const auto named = [&](const auto& thing) { return thing.name == link; };
  if (std::ranges::any_of(model.links, named) || std::ranges::any_of(model.frames, named)) return;
  const auto joint = std::ranges::find_if(model.joints, named);
  if (joint == model.joints.end()) return;
  link = joint->child;
  if (joint->plug != Pose{}) pose = to_pose(to_transform(joint->plug) * to_transform(pose));
}

void add_loops(TomlTable& table, FigureDescription& figure) {
  for (TomlTable& loop : table.tables("loop")) {
    LoopClosure out;
    out.line = loop.line();
    out.name = loop.required("name");
    out.link_a = loop.required("a");
    out.link_b = loop.required("b");
    out.pose_a = read_pose(loop, "pose_a");
    out.pose_b = read_pose(loop, "pose_b");
    out.mask = read_mask(loop);
    resolve_joint(figure.model, out.link_a, out.pose_a);
    resolve_joint(figure.model, out.link_b, out.pose_b);
    loop.finish();
    figure.loops.push_back(std::move(out));
  }
  for (TomlTable& coupling : table.tables("coupling")) {
    PolynomialCoupling out;
    out.line = coupling.line();
    out.name = coupling.required("name");
    out.tendons = coupling.has("tendon");
    out.dependent = {coupling.required(out.tendons ? "tendon" : "joint"), 0};
    if (const auto driver = coupling.text("driver")) out.driver = DofRef{*driver, 0};
    coupling.read("reference", out.reference);
    coupling.read("driver_reference", out.driver_reference);
    const auto numbers = coupling.numbers("coefficients").value_or(std::vector<double>{0, 1});
    if (numbers.size() > out.coefficient.size())
      coupling.error_at("coefficients", kLength, "more than five coefficients", "the degree is four at most");
    else
      std::copy(numbers.begin(), numbers.end(), out.coefficient.begin());
    coupling.finish();
    figure.couplings.push_back(std::move(out));
  }
}

void read_switches(TomlTable& table, JointSwitches& out) {
  auto inner = table.table("joints");
  if (!inner) return;
  inner->read("limits", out.limits);
  inner->read("friction", out.friction);
  inner->read("damping", out.damping);
  inner->read("springs", out.springs);
  inner->read("effort_limits", out.effort_limits);
  inner->read("rotor_inertia", out.rotor_inertia);
  inner->read("actuators", out.actuators);
  inner->finish();
}

}  // namespace

void read_figure(Reader& reader, TomlTable& table) {
  FigureDescription figure;
  figure.line = table.line();
  figure.name = table.required("name");
  const bool loaded = load_model(reader, table, figure);
  if (const auto base = table.keyword("base", {"fixed", "free"}))
    figure.model.base = *base == 1 ? Base::kFree : Base::kFixed;
  const FigureState given = read_state(table);
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
  figure.base_motion = read_motion(table, "motion");
  table.read("surface", figure.surface);
  if (const auto self = table.keyword("self_collision", {"none", "not_neighbours", "all"}))
    figure.self_collision = SelfCollision(*self);
  read_switches(table, figure.switches);
  for (const auto& [link, share] : read_numbers(table, "gravity_compensation"))
    figure.gravity_compensation[link] = share;
  if (loaded) {
    add_shapes(reader, table, figure.model);
    adjust_joints(table, figure.model);
  }
  add_parts(table, figure.model);
  read_actuators(table, figure.actuation);
  add_loops(table, figure);
  // What belongs to another kind of model, or to one that could not be loaded, is no unknown key.
  for (const char* key : {"joint", "gear", "figure", "keep_shapes", "shape", "adjust"}) table.allow(key);
  table.finish();
  if (loaded) reader.scene.figures.push_back(std::move(figure));
}

void read_body(Reader& reader, TomlTable& table) {
  const std::string name = table.required("name");
  const Pose pose = read_pose(table, "pose");
  auto shape = read_link_shape(reader, table);
  const auto mass = table.number("mass"), density = table.number("density");
  const Motion<> velocity = read_velocity(table, "velocity");
  table.finish();
  if (!shape) return;
  const bool heavy = table.has("mass"), dense = table.has("density");
  const auto V = volume(shape->shape);
  if (!V)
    return table.error(kShape, "a body needs a sphere, box, cylinder or capsule",
                       "use a figure with a link for other shapes");
  if (heavy == dense) return table.error(kConflict, "a body has either mass or density", "write mass = 1.0");
  if (!mass && !density) return;  // what it is has been told
  FigureDescription body = make_body(name, shape->shape, mass ? *mass : *density * *V, pose);
  shape->origin = {};
  shape->name = name;
  body.model.links[0].collisions = {*shape};
  body.initial.velocity = velocity;
  body.line = table.line();
  reader.scene.figures.push_back(std::move(body));
}

}  // namespace kansetsu::io::scene
