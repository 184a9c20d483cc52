#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "io/mesh/mesh_codes.h"
#include "io/text.h"
#include "kansetsu/io/mesh.h"
#include "kansetsu/io/scene.h"

namespace kansetsu::io {
namespace {

/// Reads each file once per scale.
class MeshLoader {
 public:
  explicit MeshLoader(std::vector<Diagnostic>& report) : report_(report) {}

  void load(LinkShape& shape, bool hull) {
    const auto* mesh = std::get_if<Mesh>(&shape.shape);
    if (!mesh || mesh->path.empty()) return;
    const TriangleMesh& loaded = read(*mesh);
    if (!loaded.data || (hull && !take(loaded.data->vertices.size(), mesh->path))) return;
    if (hull)
      shape.shape = ConvexHull{loaded.data->vertices};
    else
      shape.shape = loaded;
  }

 private:
  const TriangleMesh& read(const Mesh& mesh) {
    const auto [place, is_new] =
        known_.try_emplace({mesh.path, mesh.scale.x, mesh.scale.y, mesh.scale.z}, TriangleMesh{});
    if (!is_new) return place->second;
    Loaded<TriangleMesh> loaded = load_mesh(mesh);
    for (Diagnostic& d : loaded.diagnostics) {
      d.severity = Severity::kWarning;  // the scene remains usable; World reports shapes without geometry
      report_.push_back(std::move(d));
    }
    if (loaded && take(loaded.value->data->vertices.size(), mesh.path)) place->second = *std::move(loaded.value);
    return place->second;
  }

  /// Whether so many more vertices are within the limit; the first excess is reported. Scales and hulls have vertices of their own.
  bool take(std::size_t vertices, const std::string& path) {
    constexpr std::size_t kMostVertices = 20'000'000;  // half a gigabyte
    if (vertices <= kMostVertices - taken_) {
      taken_ += vertices;
      return true;
    }
    if (!std::exchange(told_, true))
      report_.push_back(about_file(
          Severity::kWarning, mesh::kTooLarge, path,
          fmt::format("meshes have more than {} vertices together: this one and others are ignored", kMostVertices),
          "use simpler meshes"));
    return false;
  }

  std::vector<Diagnostic>& report_;
  std::size_t taken_ = 0;
  bool told_ = false;
  std::map<std::tuple<std::string, double, double, double>, TriangleMesh> known_;
};

}  // namespace

std::vector<Diagnostic> load_meshes(SceneDescription& scene) {
  std::vector<Diagnostic> report;
  MeshLoader loader(report);
  for (EnvironmentShape& shape : scene.environment) loader.load(shape.shape, false);
  for (FigureDescription& figure : scene.figures) {
    for (LinkDescription& link : figure.model.links) {
      for (LinkShape& shape : link.collisions) loader.load(shape, true);
    }
  }
  return report;
}

}  // namespace kansetsu::io
