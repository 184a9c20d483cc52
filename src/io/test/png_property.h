#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "io/png.h"
#include "io/test/deflated.h"

/// What holds for bytes of any origin that are taken for a picture.
namespace kansetsu::io::test {

inline std::string big_endian_text(std::uint32_t x) {
  return {char(x >> 24), char(x >> 16 & 0xff), char(x >> 8 & 0xff), char(x & 0xff)};
}

/// A chunk; sums are not looked at.
inline std::string png_chunk(std::string_view kind, std::string_view content) {
  return big_endian_text(std::uint32_t(content.size())) + std::string(kind) + std::string(content) + std::string(4, 0);
}

/// The first byte tells whether the rest is the file, its chunks, or depth, colour, width and height, then a palette's size, its bytes and
/// rows of pixels, soundly packed.
inline std::string composed_png(std::string_view input) {
  const std::string signature("\x89PNG\r\n\x1a\n", 8);
  if (input.empty()) return {};
  const std::string_view rest = input.substr(1);
  if ((input.front() & 3) == 0) return std::string(rest);
  if ((input.front() & 3) == 1 || rest.size() < 5) return signature + std::string(rest);
  const std::string size = big_endian_text(std::uint8_t(rest[2])) + big_endian_text(std::uint8_t(rest[3]));
  const std::size_t palette = std::min<std::size_t>(3 * std::uint8_t(rest[4]), rest.size() - 5);
  return signature + png_chunk("IHDR", size + std::string(rest.substr(0, 2)) + std::string(3, 0)) +
         png_chunk("PLTE", rest.substr(5, palette)) + png_chunk("IDAT", zlib_stored(rest.substr(5 + palette))) +
         png_chunk("IEND", {});
}

inline std::string png_violation(std::string_view bytes) {
  constexpr std::size_t kMost = 1 << 20;
  const char* problem = nullptr;
  const auto picture = parse_png(bytes, kMost, problem);
  if (bool(picture) == (problem != nullptr)) return "a picture with a problem, or none without";
  if (!picture) return {};
  const std::size_t pixels = std::size_t(picture->width) * std::size_t(picture->height);
  if (pixels != picture->value.size() || pixels == 0 || pixels > kMost) return "a picture of another size";
  return pixels == png_pixels(bytes) ? "" : "another size than its header tells";
}

}  // namespace kansetsu::io::test
