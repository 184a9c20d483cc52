#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

/// DEFLATE streams [RFC 1951] that hold bytes as they are: sound whatever the bytes, so that what is tried reaches what reads them.
namespace kansetsu::io::test {

inline std::string deflate_stored(std::string_view bytes) {
  std::string out;
  do {
    const std::string_view piece = bytes.substr(0, 0xffff);
    bytes.remove_prefix(piece.size());
    const auto size = std::uint16_t(piece.size()), other = std::uint16_t(~piece.size());
    out += char(bytes.empty());  // the last one
    for (const std::uint16_t x : {size, other}) out += {char(x & 0xff), char(x >> 8)};
    out += piece;
  } while (!bytes.empty());
  return out;
}

/// With the head and the sum of zlib [RFC 1950].
inline std::string zlib_stored(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + std::uint8_t(c)) % 65521;
    b = (b + a) % 65521;
  }
  return "\x78\x01" + deflate_stored(bytes) + std::string{char(b >> 8), char(b & 0xff), char(a >> 8), char(a & 0xff)};
}

}  // namespace kansetsu::io::test
