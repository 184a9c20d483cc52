#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "io/bytes.h"
#include "io/mesh/tessellate.h"
#include "io/recording/recorders.h"
#include "io/recording/recording_codes.h"
#include "io/recording/recording_scene.h"
#include "io/text.h"
#include "kansetsu/io/mesh.h"

/// Recordings as glTF 2.0 in one file (.glb): a node per link, in the tree of the figure, and an animation that moves them.
namespace kansetsu::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFloat = 5126, kUnsigned = 5125, kArrayBuffer = 34962, kElementBuffer = 34963;

constexpr std::size_t kLargestGlb = 0xffffffff;  ///< bytes: its header counts them in 32 bits

/// Bytes. One mesh file in many sizes would make a file of any size.
constexpr std::size_t kMostGltfShapes = std::size_t{1} << 30;

/// The document as it grows, and the bytes that it refers to.
class Document {
 public:
  int add(const char* kind, Json value) {
    json[kind].push_back(std::move(value));
    return int(json[kind].size()) - 1;
  }

  /// Numbers as an accessor; `type` is SCALAR, VEC3 or VEC4. Bounds where glTF wants them.
  template <class T>
  int accessor(const std::vector<T>& values, const char* type, std::size_t width, int target, bool bounds) {
    Json view{{"buffer", 0}, {"byteOffset", bytes.size()}, {"byteLength", values.size() * sizeof(T)}};
    if (target) view["target"] = target;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    Json out{{"bufferView", add("bufferViews", view)},
             {"componentType", std::is_same_v<T, float> ? kFloat : kUnsigned},
             {"count", values.size() / width},
             {"type", type}};
    for (std::size_t k = 0; k < width && bounds; ++k) {
      T low = values[k], high = values[k];
      for (std::size_t i = k; i < values.size(); i += width) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
      }
      out["min"].push_back(low);
      out["max"].push_back(high);
    }
    return add("accessors", out);
  }

  int material(const std::array<double, 4>& colour) {
    const auto [known, is_new] = colours_.try_emplace(colour, int(colours_.size()));
    if (!is_new) return known->second;
    // Colours of models are meant as shown (sRGB); glTF wants them linear.
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    const auto clamped = [](double c) { return std::clamp(c, 0.0, 1.0); };
    Json out{
        {"pbrMetallicRoughness",
         {{"baseColorFactor",
           {linear(clamped(colour[0])), linear(clamped(colour[1])), linear(clamped(colour[2])), clamped(colour[3])}},
          {"metallicFactor", 0},
          {"roughnessFactor", 0.7}}}};
    if (colour[3] < 1) out["alphaMode"] = "BLEND";
    return add("materials", out);
  }

  int mesh(const Triangles& triangles, const std::array<double, 4>& colour) {
    const Json attributes{{"POSITION", accessor(triangles.positions, "VEC3", 3, kArrayBuffer, true)},
                          {"NORMAL", accessor(triangles.normals, "VEC3", 3, kArrayBuffer, false)}};
    const Json primitive{{"attributes", attributes},
                         {"indices", accessor(triangles.indices, "SCALAR", 1, kElementBuffer, false)},
                         {"material", material(colour)}};
    return add("meshes", {{"primitives", Json::array({primitive})}});
  }

  std::string glb() {
    json["buffers"] = Json::array({{{"byteLength", bytes.size()}}});
    if (bytes.empty()) json.erase("buffers");
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.append((4 - text.size() % 4) % 4, ' ');
    bytes.append((4 - bytes.size() % 4) % 4, '\0');
    ByteWriter out;
    const std::size_t total = 12 + 8 + text.size() + (bytes.empty() ? 0 : 8 + bytes.size());
    out.raw("glTF").put(std::uint32_t{2}).put(static_cast<std::uint32_t>(total));
    out.put(static_cast<std::uint32_t>(text.size())).raw("JSON").raw(text);
    if (!bytes.empty()) out.put(static_cast<std::uint32_t>(bytes.size())).raw({"BIN\0", 4}).raw(bytes);
    return std::move(out.bytes);
  }

  Json json{{"asset", {{"version", "2.0"}, {"generator", "kansetsu"}}}};
  std::string bytes;

 private:
  std::map<std::array<double, 4>, int> colours_;
};

Json translation(const Vec3<>& p) { return {float(p.x), float(p.y), float(p.z)}; }
Json rotation(const Mat3<>& R) {
  const Quaternion<> q = to_quaternion(R);
  return {q.x, q.y, q.z, q.w};
}

/// Where a link is in its parent, for every key.
struct Track {
  std::vector<float> translations, rotations;

  void add(const Transform<>& X) {
    for (const double x : {X.p.x, X.p.y, X.p.z}) translations.push_back(static_cast<float>(x));
    Quaternion<> q = to_quaternion(X.R);
    const std::size_t n = rotations.size();
    if (n >= 4) {  // the near one of q and −q, so that players do not take the long way round
      const double along =
          q.x * rotations[n - 4] + q.y * rotations[n - 3] + q.z * rotations[n - 2] + q.w * rotations[n - 1];
      if (along < 0) q = -q;
    }
    for (const double x : {q.x, q.y, q.z, q.w}) rotations.push_back(static_cast<float>(x));
  }
  static bool moves(const std::vector<float>& values, std::size_t width) {
    for (std::size_t i = width; i < values.size(); ++i) {
      if (std::abs(values[i] - values[i % width]) > 1e-6f) return true;  // a micrometre, a microradian
    }
    return false;
  }
};

std::optional<Triangles> triangles_of(const MeshFile& file, const Vec3<>& scale) {
  const std::string ending = std::filesystem::path(file.name).extension().string();
  const std::optional<MeshFormat> format = ending == ".stl"   ? std::optional(MeshFormat::kStl)
                                           : ending == ".obj" ? std::optional(MeshFormat::kObj)
                                           : ending == ".msh" ? std::optional(MeshFormat::kMsh)
                                                              : std::nullopt;
  if (!format) return std::nullopt;
  const Loaded<TriangleMesh> mesh = parse_mesh(*file.data, *format, file.place, scale);
  return mesh ? tessellate(*mesh.value) : std::nullopt;
}

class GltfRecorder final : public Recorder {
 public:
  GltfRecorder(std::unique_ptr<OutputFile> file, RecordingHeader header, const RecorderOptions& options)
      : Recorder(std::move(header)), file_(std::move(file)), options_(options) {
    for (const RecordedFigure& figure : this->header().figures)
      tracks_.emplace_back(std::size_t(figure.model.link_count()));
  }
  ~GltfRecorder() override { finish_begun(); }

 protected:
  void write(const RecordedFrame& frame) override {
    // Keys must be apart in single precision, too.
    if (!times_.empty() && frame.time < next_) return;
    if (!times_.empty() && !(static_cast<float>(frame.time) > times_.back())) return;
    next_ = frame.time + (options_.gltf_rate > 0 ? 1 / options_.gltf_rate : 0) - 5e-4;
    times_.push_back(static_cast<float>(frame.time));
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      const Model& model = header().figures[i].model;
      const auto X_WL = recorded_poses(model, frame.states[i].q);
      for (std::size_t k = 0; k < X_WL.size(); ++k) {
        const auto parent = model.parent(LinkId(int(k)));
        tracks_[i][k].add(parent ? inverse(X_WL[std::size_t(parent->value())]) * X_WL[k] : X_WL[k]);
      }
    }
  }

  std::vector<Diagnostic> close() override {
    if (options_.embed_meshes) meshes_ = collect_meshes(header(), diagnostics_);
    if (times_.empty()) {  // a file that shows nothing but the figures as they are built
      RecordedFrame frame;
      for (const RecordedFigure& figure : header().figures) frame.states.emplace_back(figure.model);
      write(frame);
    }
    build();
    const std::string glb = document_.glb();
    if (glb.size() > kLargestGlb) {
      diagnostics_.push_back(about_file(Severity::kError, recording::kTooLarge, file_->path(),
                                        "more than 4 GiB do not fit into a .glb file", "write .mcap instead"));
      return std::move(diagnostics_);
    }
    file_->write(glb);
    for (Diagnostic& d : io::close(*file_)) diagnostics_.push_back(std::move(d));
    return std::move(diagnostics_);
  }

 private:
  void build() {
    const double half = std::sqrt(0.5);  // z up here, y up in glTF
    Json world{{"name", "world"}, {"rotation", {-half, 0, 0, half}}};
    document_.add("nodes", world);
    Json children = Json::array(), channels = Json::array(), samplers = Json::array();
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      const int first = add_links(int(i), tracks_[i]);
      children.push_back(document_.add("nodes", {{"name", header().figures[i].name}, {"children", {first}}}));
      if (times_.size() < 2) continue;
      for (std::size_t k = 0; k < tracks_[i].size(); ++k) animate(tracks_[i][k], first + int(k), channels, samplers);
    }
    for (const LinkShape& shape : header().environment) {
      if (const auto node = add_shape(shape, {})) children.push_back(*node);
    }
    if (!children.empty()) document_.json["nodes"][0]["children"] = children;
    document_.json["scene"] = 0;
    document_.json["scenes"] = Json::array({{{"nodes", {0}}}});
    if (channels.empty()) return;
    document_.add("animations", {{"name", "recording"}, {"samplers", samplers}, {"channels", channels}});
  }

  /// Nodes of all links, one after the other; the first one's index.
  int add_links(int index, const std::vector<Track>& tracks) {
    const RecordedFigure& figure = header().figures[std::size_t(index)];
    const int first = document_.json.contains("nodes") ? int(document_.json["nodes"].size()) : 0;
    const auto shapes = shown_shapes(figure.model, {meshes_, index});
    const Materials materials(figure.model.description());
    std::vector<Json> children(shapes.size(), Json::array());
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      const Track& t = tracks[k];
      document_.add("nodes", {{"name", figure.model.link(LinkId(int(k))).name},
                              {"translation", {t.translations[0], t.translations[1], t.translations[2]}},
                              {"rotation", {t.rotations[0], t.rotations[1], t.rotations[2], t.rotations[3]}}});
      if (const auto parent = figure.model.parent(LinkId(int(k)))) {
        children[std::size_t(parent->value())].push_back(first + int(k));
      }
    }
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      for (const LinkShape& shape : shapes[k]) {
        if (const auto node = add_shape(shape, materials, index)) children[k].push_back(*node);
      }
      if (!children[k].empty()) document_.json["nodes"][std::size_t(first) + k]["children"] = children[k];
    }
    return first;
  }

  std::optional<int> add_shape(const LinkShape& shape, const Materials& materials, int figure = -1) {
    const std::array<double, 4> colour = materials.colour(shape).value_or(std::array{0.45, 0.6, 0.75, 1.0});
    std::optional<int> mesh;
    if (const auto* file = std::get_if<Mesh>(&shape.shape)) {
      mesh = add_mesh(*file, figure, colour);
    } else if (const std::optional<Triangles> triangles = tessellate(shape.shape)) {
      mesh = document_.mesh(*triangles, colour);
    }
    if (!mesh) return std::nullopt;
    const Transform<> X = to_transform(shape.origin);
    Json node{{"mesh", *mesh}, {"translation", translation(X.p)}, {"rotation", rotation(X.R)}};
    if (!shape.name.empty()) node["name"] = shape.name;
    return document_.add("nodes", node);
  }

  /// Once, however many shapes of this size and colour show it.
  std::optional<int> add_mesh(const Mesh& mesh, int figure, const std::array<double, 4>& colour) {
    const MeshFile* file = meshes_.find(mesh, figure);
    if (!file) return std::nullopt;
    const auto [known, is_new] =
        known_.try_emplace({file, {mesh.scale.x, mesh.scale.y, mesh.scale.z}, colour}, std::nullopt);
    if (!is_new) return known->second;
    if (document_.bytes.size() > kMostGltfShapes) {
      if (!std::exchange(full_, true))
        leave_out(file->place,
                  fmt::format("more than {} MiB of shapes: this mesh and others are ignored", kMostGltfShapes >> 20),
                  "write .mcap instead");
    } else if (const auto triangles = triangles_of(*file, mesh.scale)) {
      known->second = document_.mesh(*triangles, colour);
    } else {
      leave_out(file->place, "only STL, OBJ and MSH meshes are written to .glb files; this one is omitted",
                "convert the mesh to STL or OBJ");
    }
    return known->second;
  }

  void leave_out(const std::string& place, std::string why, std::string hint) {
    diagnostics_.push_back(
        {Severity::kWarning, recording::kMeshLeftOut, place, 0, {}, std::move(why), std::move(hint)});
  }

  void animate(const Track& track, int node, Json& channels, Json& samplers) {
    const auto add = [&](const std::vector<float>& values, const char* type, std::size_t width, const char* path) {
      if (!Track::moves(values, width)) return;
      if (!time_) time_ = document_.accessor(times_, "SCALAR", 1, 0, true);
      channels.push_back({{"sampler", samplers.size()}, {"target", {{"node", node}, {"path", path}}}});
      samplers.push_back({{"input", *time_}, {"output", document_.accessor(values, type, width, 0, false)}});
    };
    add(track.translations, "VEC3", 3, "translation");
    add(track.rotations, "VEC4", 4, "rotation");
  }

  std::unique_ptr<OutputFile> file_;
  RecorderOptions options_;
  MeshFiles meshes_;
  std::map<std::tuple<const MeshFile*, std::array<double, 3>, std::array<double, 4>>, std::optional<int>> known_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<std::vector<Track>> tracks_;
  std::vector<float> times_;
  std::optional<int> time_;  ///< accessor of the times; none where nothing moves
  double next_ = 0;
  bool full_ = false;  ///< meshes have been left out for their size
  Document document_;
};

}  // namespace

std::unique_ptr<Recorder> make_gltf_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header,
                                             const RecorderOptions& options) {
  return std::make_unique<GltfRecorder>(std::move(file), std::move(header), options);
}

}  // namespace kansetsu::io
