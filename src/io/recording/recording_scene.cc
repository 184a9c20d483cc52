#include "io/recording/recording_scene.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "model/joint_motion.h"

namespace kansetsu::io {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Vec3<>& a) { return {a.x, a.y, a.z}; }

/// [x, y, z, qx, qy, qz, qw]
Json to_json(const Transform<>& X) {
  const Quaternion<> q = to_quaternion(X.R);
  return {X.p.x, X.p.y, X.p.z, q.x, q.y, q.z, q.w};
}

Json or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Fills in what kind of shape it is; kinds that are not drawn stay without a type.
struct ShapeToJson {
  Json& out;
  MeshSet meshes;

  void operator()(const Sphere& s) const { out.update({{"type", "sphere"}, {"radius", s.radius}}); }
  void operator()(const Box& s) const { out.update({{"type", "box"}, {"size", to_json(s.size)}}); }
  void operator()(const Cylinder& s) const {
    out.update({{"type", "cylinder"}, {"radius", s.radius}, {"length", s.length}});
  }
  void operator()(const Capsule& s) const {
    out.update({{"type", "capsule"}, {"radius", s.radius}, {"length", s.length}});
  }
  void operator()(const Mesh& s) const {
    const MeshFile* file = meshes.find(s);
    if (file) out.update({{"type", "mesh"}, {"file", file->name}, {"uri", s.uri}, {"scale", to_json(s.scale)}});
  }
  void operator()(const Plane&) const { out.update({{"type", "plane"}}); }
  void operator()(const ConvexHull& s) const {
    out.update({{"type", "hull"}, {"vertices", Json::array()}});
    for (const Vec3<>& v : s.vertices) out["vertices"].push_back(to_json(v));
  }
  void operator()(const HeightField& s) const {
    out.update({{"type", "heights"}, {"columns", s.columns}, {"rows", s.rows}, {"heights", s.heights}});
    out["size"] = {s.size_x, s.size_y};
  }
  void operator()(const TriangleMesh& s) const {
    if (!s.data) return;
    out.update({{"type", "triangles"}, {"vertices", Json::array()}, {"triangles", s.data->triangles}});
    for (const Vec3<>& v : s.data->vertices) out["vertices"].push_back(to_json(v));
  }
};

Json to_json(const LinkShape& shape, const Materials* materials, const MeshSet& meshes) {
  Json out = Json::object();
  std::visit(ShapeToJson{out, meshes}, shape.shape);
  if (!out.contains("type")) return out;
  if (!shape.name.empty()) out["name"] = shape.name;
  out["pose"] = to_json(to_transform(shape.origin));
  if (!materials) out["rpy"] = to_json(shape.origin.rpy);  // the environment is read back from here, to the bit
  const Materials none;
  const Materials& looks = materials ? *materials : none;
  if (const auto colour = looks.colour(shape)) out["color"] = *colour;
  const std::string texture = looks.texture(shape);
  if (const MeshFile* file = meshes.find_texture(texture)) {
    out.update({{"texture", file->name}, {"texture_name", std::filesystem::path(texture).filename().string()}});
  }
  return out;
}

Json to_json(const std::vector<LinkShape>& shapes, const Materials* materials, const MeshSet& meshes) {
  Json out = Json::array();
  for (const LinkShape& shape : shapes) {
    Json one = to_json(shape, materials, meshes);
    if (one.contains("type")) out.push_back(std::move(one));
  }
  return out;
}

Json links_json(const Model& model, const MeshSet& meshes) {
  const auto shapes = shown_shapes(model, meshes), bones = bone_shapes(model);
  const Materials materials(model.description());
  Json links = Json::array();
  for (int i = 0; i < model.link_count(); ++i) {
    const LinkDescription& link = model.link(LinkId(i));
    const auto parent = model.parent(LinkId(i));
    Json out{{"name", link.name}, {"parent", parent ? parent->value() : -1}};
    if (link.inertial) out.update({{"mass", link.inertial->mass}, {"com", to_json(link.inertial->origin.p)}});
    out["shapes"] = to_json(shapes[std::size_t(i)], &materials, meshes);
    if (bones[std::size_t(i)] != shapes[std::size_t(i)])
      out["bones"] = to_json(bones[std::size_t(i)], &materials, meshes);
    links.push_back(std::move(out));
  }
  return links;
}

Json chain_json(const JointDescription& joint) {
  static constexpr const char* kKinds[] = {"hinge", "slide", "screw", "ball", "free"};
  Json chain = Json::array();
  for (const Primitive& p : info(joint.type).chain) {
    Json out{{"kind", kKinds[int(p.kind)]}, {"coordinate", p.coordinate}};
    if (p.kind != PrimitiveKind::kBall && p.kind != PrimitiveKind::kFree) {
      out["axis"] = to_json(primitive_axis(joint, p.axis));
    }
    if (p.kind == PrimitiveKind::kScrew) out["pitch"] = joint.pitch;
    chain.push_back(std::move(out));
  }
  return chain;
}

Json joint_json(const Model& model, JointId id, const std::vector<int>& position) {
  const JointDescription& joint = model.joint(id);
  const JointTypeInfo& type = info(joint.type);
  Json out{{"name", joint.name},
           {"type", type.name},
           {"parent", model.parent_link(id).value()},
           {"child", model.child_link(id).value()},
           {"socket", to_json(to_transform(joint.socket))},
           {"plug", to_json(to_transform(joint.plug))},
           {"chain", chain_json(joint)},
           {"follows", model.coordinates(id).nq == 0 && type.nq > 0}};
  if (has_quaternion(joint.type)) {
    out["quaternion"] = position[std::size_t(model.row(id, 0).terms.at(0).first)];
    return out;
  }
  Json rows = Json::array();
  for (int k = 0; k < type.nv; ++k) {
    const Model::Row& row = model.row(id, k);
    Json terms = Json::array();
    for (const auto& [column, ratio] : row.terms) terms.push_back({position[std::size_t(column)], ratio});
    const DofDescription& dof = model.dof(id, k);
    rows.push_back(
        {{"terms", terms}, {"offset", row.offset}, {"lower", or_null(dof.lower)}, {"upper", or_null(dof.upper)}});
  }
  out["rows"] = std::move(rows);
  return out;
}

Json figure_json(const RecordedFigure& figure, const MeshSet& meshes) {
  const Model& model = figure.model;
  const std::vector<int> position = position_columns(model);
  Json joints = Json::array(), frames = Json::array();
  for (int j = 0; j < model.joint_count(); ++j) joints.push_back(joint_json(model, JointId(j), position));
  for (int f = 0; f < model.frame_count(); ++f) {
    const FrameDescription& frame = model.frame(FrameId(f));
    frames.push_back({{"name", frame.name},
                      {"link", model.frame_link(FrameId(f)).value()},
                      {"pose", to_json(to_transform(frame.origin))}});
  }
  return {{"name", figure.name},
          {"model", model.name()},
          {"base", model.base() == Base::kFree ? "free" : "fixed"},
          {"base_pose", to_json(to_transform(model.description().base_pose))},
          {"gravity", to_json(model.gravity())},
          {"mass", model.mass()},
          {"nq", model.nq()},
          {"nv", model.nv()},
          {"q_names", position_names(model)},
          {"v_names", model.dof_names()},
          {"links", links_json(model, meshes)},
          {"joints", std::move(joints)},
          {"frames", std::move(frames)}};
}

}  // namespace

std::vector<std::vector<LinkShape>> shown_shapes(const Model& model, const MeshSet& meshes) {
  const auto is_missing = [&](const LinkShape& shape) {
    const auto* mesh = std::get_if<Mesh>(&shape.shape);
    return mesh && !meshes.find(*mesh);
  };
  auto shapes = body_shapes(model);
  std::optional<std::vector<std::vector<LinkShape>>> bones;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (std::erase_if(shapes[i], is_missing) == 0 || !shapes[i].empty()) continue;
    shapes[i] = model.link(LinkId(int(i))).collisions;
    std::erase_if(shapes[i], is_missing);
    if (!shapes[i].empty()) continue;
    if (!bones) bones = bone_shapes(model);
    shapes[i] = (*bones)[i];
  }
  return shapes;
}

std::string scene_json(const RecordingHeader& header, const MeshFiles& meshes) {
  Json figures = Json::array(), numbers = Json::array(), missing = Json::array();
  std::set<std::string> named;
  for (const ShownMesh& shown : meshes_of(header)) {
    if (meshes.find(shown.mesh, shown.figure)) continue;
    const std::string& file = shown.mesh.uri.empty() ? shown.mesh.path : shown.mesh.uri;
    if (named.insert(file).second) missing.push_back(file);
  }
  for (std::size_t i = 0; i < header.figures.size(); ++i)
    figures.push_back(figure_json(header.figures[i], {meshes, int(i)}));
  for (const NumberChannel& number : header.numbers) {
    numbers.push_back({{"name", number.name}, {"unit", number.unit}});
    if (!number.topic) numbers.back()["topic"] = false;
  }
  const Json scene{{"format", "kansetsu-scene"},    {"version", kSceneVersion},
                   {"figures", std::move(figures)}, {"environment", to_json(header.environment, nullptr, {meshes})},
                   {"numbers", std::move(numbers)}, {"missing", std::move(missing)},
                   {"notes", header.notes}};
  return scene.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kansetsu::io
