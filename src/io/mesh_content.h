#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kansetsu::io {

/// What of a file's bytes is a mesh, by the ending of its name in small letters: all of an OBJ, COLLADA or glTF file, an STL file
/// up to its last triangle. None if it is no mesh that viewers show. So nothing else that a model names gets into a recording.
std::optional<std::string_view> mesh_content(std::string_view bytes, std::string_view ending);

/// The ending of a file's name in small letters, with its dot.
std::string lower_ending(std::string_view file);

}  // namespace kansetsu::io
