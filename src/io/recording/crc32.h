#pragma once

#include <cstdint>
#include <string_view>

namespace kansetsu::io {

/// The CRC-32 of ZIP and MCAP (polynomial 0xEDB88320). `seed` continues one: crc32(b, crc32(a)) = crc32(ab).
std::uint32_t crc32(std::string_view bytes, std::uint32_t seed = 0);

}  // namespace kansetsu::io
