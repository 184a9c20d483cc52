#include <fmt/format.h>

#include "io/sdf/sdf_reader.h"
#include "io/text.h"

namespace kansetsu::io::sdf {
namespace {

constexpr std::size_t kMostParts = 100000;  // links, joints and frames of one model
constexpr int kDeepestModel = 50;           // models within models

/// Adds a name to a scope; links, joints, frames and models share one namespace.
bool add_frame(Reader& reader, Model& model, const std::string& name, Frame frame) {
  const Element& at = *frame.element;
  if (name == "world" || (name.starts_with("__") && name.ends_with("__") && name.size() > 4))
    return reader.report.fail(at, kReservedName, fmt::format("the name {} is reserved", quote(name)),
                              "give it another name");
  if (model.frames.size() >= kMostParts)
    return reader.report.fail(at, kTooLarge, fmt::format("more than {} parts in one model", kMostParts),
                              "make the model smaller");
  if (model.frames.emplace(name, std::move(frame)).second) return true;
  return reader.report.fail(at, kRepeatedName, fmt::format("the name {} is taken in this model", quote(name)),
                            "links, joints, frames and models of one scope have unique names");
}

void read_inertial(Reader& reader, const Element& inertial, Link& link) {
  Inertial& out = link.inertial;
  child_number(reader, inertial, "mass", out.mass);
  const WrittenPose pose = read_pose(reader, inertial);
  out.origin = to_pose(pose.X);
  link.inertial_frame = pose.relative_to;
  const Element* e = find_child(inertial, "inertia");
  if (!e) return;
  Sym3<>& I = out.inertia;
  const std::pair<const char*, double*> parts[] = {{"ixx", &I.xx}, {"ixy", &I.xy}, {"ixz", &I.xz},
                                                   {"iyy", &I.yy}, {"iyz", &I.yz}, {"izz", &I.zz}};
  for (const auto& [tag, x] : parts) child_number(reader, *e, tag, *x);
}

void read_shapes(Reader& reader, const Element& element, const char* tag, std::vector<PlacedShape>& out) {
  for (const Element* e = element.FirstChildElement(tag); e; e = e->NextSiblingElement(tag)) {
    auto shape = read_shape(reader, *e, std::string_view(tag) == "collision");
    if (shape) out.push_back({*std::move(shape), read_pose(reader, *e).relative_to, e});
  }
}

void read_link(Reader& reader, const Element& element, Model& model) {
  const auto name = read_required_text(reader.report, element, "name");
  if (!name) return;
  Link link;
  link.name = *name;
  link.element = &element;
  if (!add_frame(reader, model, *name,
                 {.kind = Frame::Kind::kLink,
                  .index = int(model.links.size()),
                  .element = &element,
                  .pose = read_pose(reader, element)}))
    return;
  read_shapes(reader, element, "collision", link.collisions);
  read_shapes(reader, element, "visual", link.visuals);
  if (const Element* inertial = find_child(element, "inertial")) {
    const char* automatic = inertial->Attribute("auto");
    const bool from_shapes = automatic && std::string_view(automatic) == "true";
    if (!from_shapes) read_inertial(reader, *inertial, link);
    if (const auto found = from_shapes ? automatic_inertial(reader, element, link.collisions) : std::nullopt)
      link.inertial = *found;
  } else if (!model.is_static) {
    reader.report.repeated_warning(element, kNoInertial, "links without <inertial> weigh 1 kg, as SDF specifies",
                                   "give the mass and the inertia");
  }
  link.has_gravity = child_bool(reader, element, "gravity").value_or(true);
  link.self_collide = child_bool(reader, element, "self_collide").value_or(model.self_collide);
  model.links.push_back(std::move(link));
}

void read_frame(Reader& reader, const Element& element, Model& model) {
  const auto name = read_required_text(reader.report, element, "name");
  if (!name) return;
  add_frame(reader, model, *name,
            {.element = &element,
             .pose = read_pose(reader, element),
             .attached_to = read_text(reader.report, element, "attached_to").value_or("")});
}

int depth_of(const Model& model) { return model.parent ? 1 + depth_of(*model.parent) : 0; }

void read_parts(Reader& reader, const Element& element, Model& model);

/// Adds a model; an <include> may override its name, pose and <static>.
void add_model(Reader& reader, const Element& element, const Element* include, Model& parent) {
  const std::string own = read_text(reader.report, element, "name").value_or("");
  const std::string name = include ? child_text(reader, *include, "name").value_or(own) : own;
  if (name.empty()) return report_missing(reader.report, element, "attribute name", "give the model a name");
  if (depth_of(parent) > kDeepestModel)
    return reader.report.error(element, kTooLarge, fmt::format("more than {} nested models", kDeepestModel),
                               "a model must not include itself");
  auto model = std::make_unique<Model>();
  model->name = name;
  model->element = &element;
  model->parent = &parent;
  model->version = reader.versions[element.GetDocument()];
  model->canonical_link = read_text(reader.report, element, "canonical_link").value_or("");
  model->placement_frame = read_text(reader.report, element, "placement_frame").value_or("");
  model->self_collide = child_bool(reader, element, "self_collide").value_or(false);
  model->is_static = parent.is_static || child_bool(reader, element, "static").value_or(false);
  WrittenPose pose = read_pose(reader, element);
  if (include) {
    if (find_child(*include, "pose")) pose = read_pose(reader, *include);
    if (const auto flag = child_bool(reader, *include, "static")) model->is_static = *flag;
    if (const auto frame = child_text(reader, *include, "placement_frame")) model->placement_frame = *frame;
  }
  const Element* at = include ? include : &element;
  if (!add_frame(reader, parent, name,
                 {.kind = Frame::Kind::kModel, .index = int(parent.nested.size()), .element = at, .pose = pose}))
    return;
  Model& added = *parent.nested.emplace_back(std::move(model));
  read_parts(reader, element, added);
  if (added.links.empty() && added.nested.empty() && !added.is_static)
    reader.report.error(element, kMissing, fmt::format("the model {} has no link", quote(name)), "give it a link");
}

/// Recursion is limited by the depth of documents and includes.
void read_parts(Reader& reader, const Element& element, Model& model) {
  for (const Element* e = element.FirstChildElement(); e; e = e->NextSiblingElement()) {
    const std::string_view tag = e->Name();
    if (tag == "link" && model.parent) {
      read_link(reader, *e, model);
    } else if (tag == "joint") {
      const std::size_t before = model.joints.size();
      read_joint(reader, *e, model);
      if (model.joints.size() == before) continue;
      if (!add_frame(reader, model, model.joints.back().name,
                     {.kind = Frame::Kind::kJoint, .index = int(before), .element = e, .pose = read_pose(reader, *e)}))
        model.joints.pop_back();
    } else if (tag == "frame") {
      read_frame(reader, *e, model);
    } else if (tag == "model") {
      add_model(reader, *e, nullptr, model);
    } else if (tag == "include") {
      const Element* included = load_include(reader, *e);
      if (!included) continue;
      check_schema(reader, *included, "model");
      add_model(reader, *included, e, model);
    }
  }
}

}  // namespace

void read_model(Reader& reader, const Element& element, Model& parent) { add_model(reader, element, nullptr, parent); }

void read_world(Reader& reader, const Element& element) {
  SceneDescription& scene = reader.scene;
  scene.name = read_text(reader.report, element, "name").value_or("");
  scene.gravity = {0, 0, -9.8};  // SDF's
  if (const Element* physics = find_child(element, "physics")) {
    double step = scene.time_step;
    if (child_number(reader, *physics, "max_step_size", step) && step > 0 && step < 1e6) scene.time_step = step;
    child_vec3(reader, *physics, "gravity", scene.gravity);  // before 1.6
    child_vec3(reader, *physics, "magnetic_field", scene.magnetic);
  }
  child_vec3(reader, element, "gravity", scene.gravity);
  child_vec3(reader, element, "magnetic_field", scene.magnetic);
  read_parts(reader, element, reader.world);
}

}  // namespace kansetsu::io::sdf
