#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kansetsu::io {

/// The wrapper of a DEFLATE stream [RFC 1951]: none, as in ZIP files, or zlib's header and checksum [RFC 1950], as in PNG.
enum class DeflateForm { kRaw, kZlib };

/// Decompresses a stream of exactly `size` bytes; none if it is damaged or has another size.
std::optional<std::string> inflate(std::string_view stream, DeflateForm form, std::size_t size);

}  // namespace kansetsu::io
