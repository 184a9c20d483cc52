#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kansetsu::io {

/// What surrounds a DEFLATE stream [RFC 1951]: nothing, as in ZIP files, or the head and sum of zlib [RFC 1950], as in PNG.
enum class DeflateForm { kRaw, kZlib };

/// The bytes that a stream holds: exactly `size`, or none where it is damaged or holds another number.
std::optional<std::string> inflate(std::string_view stream, DeflateForm form, std::size_t size);

}  // namespace kansetsu::io
