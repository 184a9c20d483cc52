#include "io/recording_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "io/mesh_content.h"
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

Json to_json(const LinkShape& shape, const ModelDescription* model, const MeshSet& meshes) {
  Json out = Json::object();
  std::visit(ShapeToJson{out, meshes}, shape.shape);
  if (!out.contains("type")) return out;
  if (!shape.name.empty()) out["name"] = shape.name;
  out["pose"] = to_json(to_transform(shape.origin));
  if (!model) out["rpy"] = to_json(shape.origin.rpy);  // the environment is read back from here, to the bit
  if (const auto colour = colour_of(shape, model)) out["color"] = *colour;
  if (const MeshFile* texture = meshes.find_texture(texture_of(shape, model))) {
    out.update({{"texture", texture->name}, {"texture_name", texture->uri}});
  }
  return out;
}

Json to_json(const std::vector<LinkShape>& shapes, const ModelDescription* model, const MeshSet& meshes) {
  Json out = Json::array();
  for (const LinkShape& shape : shapes) {
    Json one = to_json(shape, model, meshes);
    if (one.contains("type")) out.push_back(std::move(one));
  }
  return out;
}

Json links_json(const Model& model, const MeshSet& meshes) {
  const auto shapes = shown_shapes(model, meshes), bones = bone_shapes(model);
  Json links = Json::array();
  for (int i = 0; i < model.link_count(); ++i) {
    const LinkDescription& link = model.link(LinkId(i));
    const auto parent = model.parent(LinkId(i));
    Json out{{"name", link.name}, {"parent", parent ? parent->value() : -1}};
    if (link.inertial) out.update({{"mass", link.inertial->mass}, {"com", to_json(link.inertial->origin.p)}});
    out["shapes"] = to_json(shapes[std::size_t(i)], &model.description(), meshes);
    if (bones[std::size_t(i)] != shapes[std::size_t(i)])
      out["bones"] = to_json(bones[std::size_t(i)], &model.description(), meshes);
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

/// A mesh of the header, and the figure that shows it.
struct ShownMesh {
  const Mesh& mesh;
  int figure = -1;
};

/// Whether a file for it was found, here or in the recording that the header came with.
bool has_file(const ShownMesh& shown, const RecordingHeader& header) {
  if (!shown.mesh.path.empty()) return true;
  return std::any_of(header.meshes.begin(), header.meshes.end(),
                     [&](const RecordedMesh& m) { return m.figure == shown.figure && m.uri == shown.mesh.uri; });
}

std::vector<ShownMesh> meshes_of(const RecordingHeader& header) {
  std::vector<ShownMesh> found;
  const auto look = [&](const std::vector<LinkShape>& shapes, int figure) {
    for (const LinkShape& shape : shapes) {
      if (const auto* mesh = std::get_if<Mesh>(&shape.shape)) found.push_back({*mesh, figure});
    }
  };
  for (std::size_t k = 0; k < header.figures.size(); ++k) {
    const Model& model = header.figures[k].model;
    for (int i = 0; i < model.link_count(); ++i) {
      const LinkDescription& link = model.link(LinkId(i));
      const std::size_t before = found.size();
      look(link.visuals, int(k));
      const bool missing = std::any_of(found.begin() + std::ptrdiff_t(before), found.end(),
                                       [&](const ShownMesh& m) { return !has_file(m, header); });
      if (link.visuals.empty() || missing) look(link.collisions, int(k));
    }
  }
  look(header.environment, -1);
  return found;
}

/// A texture that a shape of the header names, and the figure that shows it.
struct ShownTexture {
  std::string file{};
  int figure = -1;
};
std::vector<ShownTexture> textures_of(const RecordingHeader& header) {
  std::vector<ShownTexture> found;
  for (std::size_t k = 0; k < header.figures.size(); ++k) {
    const ModelDescription& model = header.figures[k].model.description();
    for (const LinkDescription& link : model.links) {
      for (const LinkShape& shape : link.visuals.empty() ? link.collisions : link.visuals) {
        if (std::string file = texture_of(shape, &model); !file.empty()) found.push_back({std::move(file), int(k)});
      }
    }
  }
  return found;
}

/// The bytes of a PNG picture: of the file of this absolute name, else of the recording that the header came with.
std::shared_ptr<const std::string> picture_of(const ShownTexture& shown, const RecordingHeader& header) {
  std::shared_ptr<const std::string> data;
  if (std::filesystem::path(shown.file).is_absolute()) {
    FileText text = read_file(shown.file, kLargestMesh);
    if (!text.problem) data = std::make_shared<const std::string>(std::move(text.text));
  } else {
    for (const RecordedMesh& m : header.meshes) {
      if (m.figure == shown.figure && m.uri == shown.file) data = m.data;
    }
  }
  return data && data->starts_with("\x89PNG\r\n\x1a\n") ? data : nullptr;
}

void collect_textures(const RecordingHeader& header, std::vector<MeshFile>& files) {
  int count = 0;
  for (const ShownTexture& shown : textures_of(header)) {
    if (MeshSet{files, shown.figure}.find_texture(shown.file)) continue;
    auto data = picture_of(shown, header);
    if (!data) continue;
    const bool here = std::filesystem::path(shown.file).is_absolute();
    files.push_back({.path = here ? shown.file : "",
                     .figure = shown.figure,
                     .uri = std::filesystem::path(shown.file).filename().string(),
                     .name = fmt::format("texture/{}.png", count++),
                     .data = std::move(data)});
  }
}

/// The file behind a mesh, or why there is none; neither if it was never found.
struct Found {
  MeshFile file{};
  std::string problem{};
};
Found file_of(const ShownMesh& shown, const RecordingHeader& header) {
  Found out;
  out.file = {.path = shown.mesh.path, .figure = shown.figure, .uri = shown.mesh.uri};
  if (shown.mesh.path.empty()) {
    for (const RecordedMesh& m : header.meshes) {
      if (m.figure != shown.figure || m.uri != shown.mesh.uri) continue;
      out.file.data = m.data;
      out.file.name = m.ending;
    }
  } else {
    FileText text = read_file(shown.mesh.path, kLargestMesh);
    if (text.problem) {
      out.problem = *text.problem == FileProblem::kTooLarge
                        ? fmt::format("the mesh is larger than {} MiB and is left out", kLargestMesh >> 20)
                        : "the mesh cannot be read and is left out";
      return out;
    }
    out.file.data = std::make_shared<const std::string>(std::move(text.text));
    out.file.name = lower_ending(shown.mesh.path);
  }
  if (!out.file.data) return out;
  if (auto clean = mesh_content(*out.file.data, out.file.name))
    out.file.data =
        clean->size() == out.file.data->size() ? out.file.data : std::make_shared<const std::string>(*clean);
  else
    out.problem = "this is no mesh that can be shown, and is left out";
  return out;
}

}  // namespace

std::string texture_of(const LinkShape& shape, const ModelDescription* model) {
  if (!shape.material) return {};
  if (!shape.material->texture.empty() || !model) return shape.material->texture;
  for (const Material& material : model->materials) {
    if (material.name == shape.material->name) return material.texture;
  }
  return {};
}

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

const MeshFile* MeshSet::find(const Mesh& mesh) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const MeshFile& file) {
    if (!mesh.path.empty()) return file.path == mesh.path;
    return file.path.empty() && file.figure == figure && file.uri == mesh.uri;
  });
  return found == files.end() ? nullptr : &*found;
}

const MeshFile* MeshSet::find_texture(const std::string& texture) const {
  if (texture.empty()) return nullptr;
  const bool here = std::filesystem::path(texture).is_absolute();
  const auto found = std::find_if(files.begin(), files.end(), [&](const MeshFile& file) {
    if (!file.name.starts_with("texture/")) return false;
    return here ? file.path == texture : file.path.empty() && file.figure == figure && file.uri == texture;
  });
  return found == files.end() ? nullptr : &*found;
}

std::vector<std::vector<LinkShape>> shown_shapes(const Model& model, const MeshSet& meshes) {
  const auto is_missing = [&](const LinkShape& shape) {
    const auto* mesh = std::get_if<Mesh>(&shape.shape);
    return mesh && !meshes.find(*mesh);
  };
  auto shapes = body_shapes(model);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (std::erase_if(shapes[i], is_missing) == 0 || !shapes[i].empty()) continue;
    shapes[i] = model.link(LinkId(int(i))).collisions;
    std::erase_if(shapes[i], is_missing);
    if (shapes[i].empty()) shapes[i] = bone_shapes(model)[i];
  }
  return shapes;
}

std::vector<MeshFile> collect_meshes(const RecordingHeader& header, std::vector<Diagnostic>& diagnostics) {
  std::vector<MeshFile> files;
  std::set<std::string> refused;
  for (const ShownMesh& shown : meshes_of(header)) {
    if (MeshSet{files, shown.figure}.find(shown.mesh)) continue;
    const std::string& place = shown.mesh.path.empty() ? shown.mesh.uri : shown.mesh.path;
    if (refused.contains(place)) continue;
    Found found = file_of(shown, header);
    if (!found.problem.empty()) {
      refused.insert(place);
      diagnostics.push_back({Severity::kWarning,
                             recording::kMeshLeftOut,
                             place,
                             0,
                             {},
                             found.problem,
                             "the recording shows the figure without it"});
    } else if (found.file.data) {
      found.file.name = fmt::format("mesh/{}{}", files.size(), found.file.name);
      files.push_back(std::move(found.file));
    }
  }
  collect_textures(header, files);
  return files;
}

std::string scene_json(const RecordingHeader& header, const std::vector<MeshFile>& meshes) {
  Json figures = Json::array(), numbers = Json::array(), missing = Json::array();
  std::set<std::string> named;
  for (const ShownMesh& shown : meshes_of(header)) {
    if (MeshSet{meshes, shown.figure}.find(shown.mesh)) continue;
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
