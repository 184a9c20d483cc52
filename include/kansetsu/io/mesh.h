#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/geometry/shape.h"

/// Triangle meshes from files: STL (text and binary), OBJ and MuJoCo's MSH. Supported features and MESHnnn codes: docs/formats/mesh.md.
namespace kansetsu::io {

enum class MeshFormat { kStl, kObj, kMsh };

/// Reads an .stl, .obj or .msh file (extension of any case). Coordinates are multiplied by `scale`; a mirroring scale reverses the
/// triangles, so that they still face outwards. Never throws because of the file's content.
Loaded<TriangleMesh> load_mesh(const std::filesystem::path& file, const Vec3<>& scale = {1, 1, 1});
/// The mesh that a model refers to; an error if its file was not found when the model was read.
Loaded<TriangleMesh> load_mesh(const Mesh& mesh);
/// The same for bytes in memory; `file_name` is used in diagnostics.
Loaded<TriangleMesh> parse_mesh(std::string_view bytes, MeshFormat format, const std::string& file_name = {},
                                const Vec3<>& scale = {1, 1, 1});

}  // namespace kansetsu::io
