#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "io/mesh/mesh_content.h"
#include "kansetsu/geometry/surface.h"
#include "kansetsu/io/mesh.h"

/// What holds for bytes of any origin that are taken for a mesh.
namespace kansetsu::io::test {

/// Empty if all is well. The first byte chooses the format.
inline std::string mesh_violation(std::string_view input) {
  if (input.empty()) return {};
  const MeshFormat format = input.front() & 1 ? MeshFormat::kObj : MeshFormat::kStl;
  const Vec3<> scale = input.front() & 2 ? Vec3<>{-1, 2, 0.5} : Vec3<>{1, 1, 1};
  const Loaded<TriangleMesh> mesh = parse_mesh(input.substr(1), format, "x", scale);
  if (!mesh) return has_errors(mesh.diagnostics) ? "" : "refused without an error";
  if (!mesh.value->data || mesh.value->data->triangles.empty()) return "a mesh without triangles";
  for (const Vec3<>& v : mesh.value->data->vertices) {
    if (!std::isfinite(v.x + v.y + v.z)) return "a vertex that is not finite";
  }
  return surface_problem(*mesh.value);
}

/// Empty if all is well. The first byte chooses the ending.
inline std::string content_violation(std::string_view input) {
  static constexpr std::string_view kEndings[] = {".stl", ".obj", ".dae", ".gltf", ".glb"};
  if (input.empty()) return {};
  const std::string_view ending = kEndings[std::size_t(static_cast<unsigned char>(input.front())) % 5];
  const auto content = mesh_content(input.substr(1), ending);
  if (!content) return {};
  if (!input.substr(1).starts_with(*content)) return "other bytes than those of the file";
  return mesh_content(*content, ending) == content ? "" : "no mesh when it is read again";
}

}  // namespace kansetsu::io::test
