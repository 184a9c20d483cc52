#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kansetsu::io {

/// What of a file's bytes is a mesh or a picture, by the ending of its name in small letters: all of an OBJ, COLLADA or glTF file, an
/// STL file up to its last triangle, a PNG file up to its last chunk, no more than kLargestSide wide and high. None if it is neither.
/// So nothing else that a model names gets into a recording.
std::optional<std::string_view> mesh_content(std::string_view bytes, std::string_view ending);

/// Pixels of a texture: more than any graphics card takes, and a few kilobytes can ask for as many as they like.
inline constexpr std::uint32_t kLargestSide = 16384;

/// The ending of a file's name in small letters, with its dot.
std::string lower_ending(std::string_view file);

}  // namespace kansetsu::io
