#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kansetsu/io/recording.h"

namespace kansetsu::io {

/// The name that MCAP has for it: "", "lz4", "zstd".
std::string_view compression_name(Compression compression);

std::string compress(std::string_view bytes, Compression compression);
/// Exactly `size` bytes, or none if the data are damaged or the name is unknown.
std::optional<std::string> decompress(std::string_view bytes, std::string_view name, std::size_t size);

}  // namespace kansetsu::io
