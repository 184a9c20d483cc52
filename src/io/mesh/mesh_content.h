#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kansetsu::io {

/// The part of a file that is a valid mesh or image, by its lower-case extension: all of an OBJ, COLLADA or glTF file, an STL file up to
/// its last triangle, a PNG file up to its last chunk, at most kLargestSide wide and high. None for anything else, so that no other data
/// get into a recording.
std::optional<std::string_view> mesh_content(std::string_view bytes, std::string_view ending);

/// Limit of the width and height of a texture [pixel].
inline constexpr std::uint32_t kLargestSide = 16384;

/// The lower-case extension of a file name, with its dot.
std::string lower_ending(std::string_view file);

}  // namespace kansetsu::io
