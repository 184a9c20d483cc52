#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kansetsu::io {

/// A picture's brightness, 0 … 255, rows from the top; of coloured ones the red.
struct GreyPicture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> value;
};

/// How many the header of a PNG file tells of; none of what is no such file.
std::size_t png_pixels(std::string_view bytes);

/// A PNG file with at most `most` pixels, not interlaced; nothing, and why, if it is none.
std::optional<GreyPicture> parse_png(std::string_view bytes, std::size_t most, const char*& problem);

}  // namespace kansetsu::io
