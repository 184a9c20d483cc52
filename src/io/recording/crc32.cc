#include "io/recording/crc32.h"

#include <zlib.h>

namespace kansetsu::io {

std::uint32_t crc32(std::string_view bytes, std::uint32_t seed) {
  if (bytes.empty()) return seed;  // without bytes zlib starts again from 0
  return std::uint32_t(crc32_z(seed, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace kansetsu::io
