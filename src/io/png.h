#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kansetsu::io {

/// Brightness 0 … 255, rows from the top; the red channel of coloured images.
struct GreyPicture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> value;
};

/// The number of pixels stated in the header; 0 if it is not a PNG file.
std::size_t png_pixels(std::string_view bytes);

/// Parses a PNG file of at most `most` pixels, not interlaced. On failure `problem` says why.
std::optional<GreyPicture> parse_png(std::string_view bytes, std::size_t most, const char*& problem);

}  // namespace kansetsu::io
