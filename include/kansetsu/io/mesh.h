#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/geometry/shape.h"

/// Triangle meshes from files: STL (text and binary), OBJ and MuJoCo's MSH. What is read and every MESHnnn code: docs/formats/mesh.md.
namespace kansetsu::io {

enum class MeshFormat { kStl, kObj, kMsh };

/// Reads a file whose name ends in .stl, .obj or .msh, in any case. Coordinates are multiplied by `scale`; a scale that mirrors
/// turns the triangles, so that they still face outwards. Never throws for what is in the file.
Loaded<TriangleMesh> load_mesh(const std::filesystem::path& file, const Vec3<>& scale = {1, 1, 1});
/// What a model refers to; an error if its file was not found when the model was read.
Loaded<TriangleMesh> load_mesh(const Mesh& mesh);
/// The same for bytes in memory; `file_name` stands in diagnostics.
Loaded<TriangleMesh> parse_mesh(std::string_view bytes, MeshFormat format, const std::string& file_name = {},
                                const Vec3<>& scale = {1, 1, 1});

}  // namespace kansetsu::io
