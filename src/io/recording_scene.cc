#include "io/recording_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/recording_codes.h"
#include "io/text.h"
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

const MeshFile* find_mesh(const Mesh& mesh, const std::vector<MeshFile>& meshes) {
  const auto found = std::find_if(meshes.begin(), meshes.end(), [&](auto& m) { return m.path == mesh.path; });
  return mesh.path.empty() || found == meshes.end() ? nullptr : &*found;
}

/// Fills in what kind of shape it is; kinds that are not drawn stay without a type.
struct ShapeToJson {
  Json& out;
  const std::vector<MeshFile>& meshes;

  void operator()(const Sphere& s) const { out.update({{"type", "sphere"}, {"radius", s.radius}}); }
  void operator()(const Box& s) const { out.update({{"type", "box"}, {"size", to_json(s.size)}}); }
  void operator()(const Cylinder& s) const {
    out.update({{"type", "cylinder"}, {"radius", s.radius}, {"length", s.length}});
  }
  void operator()(const Capsule& s) const {
    out.update({{"type", "capsule"}, {"radius", s.radius}, {"length", s.length}});
  }
  void operator()(const Mesh& s) const {
    const MeshFile* file = find_mesh(s, meshes);
    if (file) out.update({{"type", "mesh"}, {"file", file->name}, {"uri", s.uri}, {"scale", to_json(s.scale)}});
  }
  template <class Other>
  void operator()(const Other&) const {}
};

Json to_json(const LinkShape& shape, const ModelDescription* model, const std::vector<MeshFile>& meshes) {
  Json out = Json::object();
  std::visit(ShapeToJson{out, meshes}, shape.shape);
  if (!out.contains("type")) return out;
  if (!shape.name.empty()) out["name"] = shape.name;
  out["pose"] = to_json(to_transform(shape.origin));
  if (!model) out["rpy"] = to_json(shape.origin.rpy);  // the environment is read back from here, to the bit
  if (const auto colour = colour_of(shape, model)) out["color"] = *colour;
  return out;
}

Json to_json(const std::vector<LinkShape>& shapes, const ModelDescription* model, const std::vector<MeshFile>& meshes) {
  Json out = Json::array();
  for (const LinkShape& shape : shapes) {
    Json one = to_json(shape, model, meshes);
    if (one.contains("type")) out.push_back(std::move(one));
  }
  return out;
}

Json links_json(const Model& model, const std::vector<MeshFile>& meshes) {
  const auto shapes = body_shapes(model);
  Json links = Json::array();
  for (int i = 0; i < model.link_count(); ++i) {
    const LinkDescription& link = model.link(LinkId(i));
    const auto parent = model.parent(LinkId(i));
    Json out{{"name", link.name}, {"parent", parent ? parent->value() : -1}};
    if (link.inertial) out.update({{"mass", link.inertial->mass}, {"com", to_json(link.inertial->origin.p)}});
    out["shapes"] = to_json(shapes[std::size_t(i)], &model.description(), meshes);
    links.push_back(std::move(out));
  }
  return links;
}

/// Where a column of v has its position in q; of quaternions the first number.
std::vector<int> position_columns(const Model& model) {
  std::vector<int> position(std::size_t(model.nv()), -1);
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange range = model.coordinates(JointId(j));
    const bool whole = has_quaternion(model.joint(JointId(j)).type);
    for (int k = 0; k < range.nv; ++k) position[std::size_t(range.v + k)] = whole ? range.q : range.q + k;
  }
  return position;
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

Json figure_json(const RecordedFigure& figure, const std::vector<MeshFile>& meshes) {
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

/// Every mesh of the header, in order.
std::vector<const Mesh*> meshes_of(const RecordingHeader& header) {
  std::vector<const Mesh*> found;
  const auto look = [&](const std::vector<LinkShape>& shapes) {
    for (const LinkShape& shape : shapes) {
      if (const auto* mesh = std::get_if<Mesh>(&shape.shape)) found.push_back(mesh);
    }
  };
  for (const RecordedFigure& figure : header.figures) {
    for (int i = 0; i < figure.model.link_count(); ++i) {
      const LinkDescription& link = figure.model.link(LinkId(i));
      look(link.visuals.empty() ? link.collisions : link.visuals);
    }
  }
  look(header.environment);
  return found;
}

}  // namespace

std::optional<std::array<double, 4>> colour_of(const LinkShape& shape, const ModelDescription* model) {
  const auto four = [](const std::vector<double>& c) { return std::array<double, 4>{c[0], c[1], c[2], c[3]}; };
  if (!shape.material) return std::nullopt;
  if (shape.material->rgba && shape.material->rgba->size() == 4) return four(*shape.material->rgba);
  if (!model) return std::nullopt;
  for (const Material& material : model->materials) {
    if (material.name == shape.material->name && material.rgba && material.rgba->size() == 4)
      return four(*material.rgba);
  }
  return std::nullopt;
}

std::vector<MeshFile> collect_meshes(const RecordingHeader& header, std::vector<Diagnostic>& diagnostics) {
  std::vector<MeshFile> files;
  std::vector<std::string> refused;
  for (const Mesh* mesh : meshes_of(header)) {
    if (mesh->path.empty() || find_mesh(*mesh, files)) continue;
    if (std::count(refused.begin(), refused.end(), mesh->path)) continue;
    FileText text = read_file(mesh->path);
    if (text.problem || text.text.size() > kLargestMesh) {
      refused.push_back(mesh->path);
      diagnostics.push_back({Severity::kWarning,
                             recording::kMeshLeftOut,
                             mesh->path,
                             0,
                             {},
                             text.problem
                                 ? "the mesh cannot be read and is left out"
                                 : fmt::format("the mesh is larger than {} MiB and is left out", kLargestMesh >> 20),
                             "the recording shows the figure without it"});
      continue;
    }
    std::string extension = std::filesystem::path(mesh->path).extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    files.push_back({mesh->path, fmt::format("mesh/{}{}", files.size(), extension), std::move(text.text)});
  }
  return files;
}

std::string scene_json(const RecordingHeader& header, const std::vector<MeshFile>& meshes) {
  Json figures = Json::array(), numbers = Json::array();
  for (const RecordedFigure& figure : header.figures) figures.push_back(figure_json(figure, meshes));
  for (const NumberChannel& number : header.numbers) numbers.push_back({{"name", number.name}, {"unit", number.unit}});
  const Json scene{{"format", "kansetsu-scene"},    {"version", kSceneVersion},
                   {"figures", std::move(figures)}, {"environment", to_json(header.environment, nullptr, meshes)},
                   {"numbers", std::move(numbers)}, {"notes", header.notes}};
  return scene.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kansetsu::io
