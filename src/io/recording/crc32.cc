#include "io/recording/crc32.h"

#include <array>
#include <cstring>

namespace kansetsu::io {
namespace {

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

/// Row k: what a byte does when k more bytes follow it, so that eight are taken at once.
constexpr Table make_table() {
  Table table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xEDB88320u : 0u);
    table[0][i] = value;
  }
  for (std::size_t k = 1; k < table.size(); ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = table[k - 1][i];
      table[k][i] = (before >> 8) ^ table[0][before & 0xff];
    }
  }
  return table;
}
constexpr Table kTable = make_table();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint32_t low = 0, high = 0;
    std::memcpy(&low, bytes.data(), 4);
    std::memcpy(&high, bytes.data() + 4, 4);
    low ^= crc;
    crc = kTable[7][low & 0xff] ^ kTable[6][(low >> 8) & 0xff] ^ kTable[5][(low >> 16) & 0xff] ^ kTable[4][low >> 24] ^
          kTable[3][high & 0xff] ^ kTable[2][(high >> 8) & 0xff] ^ kTable[1][(high >> 16) & 0xff] ^
          kTable[0][high >> 24];
  }
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

}  // namespace kansetsu::io
