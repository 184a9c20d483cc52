#include "io/inflate.h"

#include <limits>

#include <zlib.h>

namespace kansetsu::io {

std::optional<std::string> inflate(std::string_view stream, DeflateForm form, std::size_t size) {
  // DEFLATE expands at most 1032 times (two bits for 258 bytes), so a small file cannot request much memory.
  constexpr std::size_t kMostGrowth = 1032, kMost = std::numeric_limits<uInt>::max();
  if (size > kMostGrowth * (stream.size() + 1) || size >= kMost || stream.size() >= kMost) return std::nullopt;
  z_stream z{};
  if (inflateInit2(&z, form == DeflateForm::kRaw ? -MAX_WBITS : MAX_WBITS) != Z_OK) return std::nullopt;
  std::string out(size + 1, '\0');  // one more, to detect a longer stream
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  z.avail_in = uInt(stream.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = uInt(out.size());
  const int status = ::inflate(&z, Z_FINISH);
  const std::size_t written = out.size() - z.avail_out;
  inflateEnd(&z);
  if (status != Z_STREAM_END || written != size) return std::nullopt;
  out.resize(size);
  return out;
}

}  // namespace kansetsu::io
