#include "io/recording/compress.h"

#include <lz4frame.h>
#include <zstd.h>

#include <memory>

namespace kansetsu::io {
namespace {

std::string compress_lz4(std::string_view bytes) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentSize = bytes.size();
  std::string out(LZ4F_compressFrameBound(bytes.size(), &preferences), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), &preferences));
  return out;
}

std::optional<std::string> decompress_lz4(std::string_view bytes, std::size_t size) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) return std::nullopt;
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> owner(context,
                                                                                   &LZ4F_freeDecompressionContext);
  std::string out(size, '\0');
  std::size_t done = 0, hint = 1;
  while (!bytes.empty() && hint != 0) {
    std::size_t written = size - done, read = bytes.size();
    hint = LZ4F_decompress(context, out.data() + done, &written, bytes.data(), &read, nullptr);
    if (LZ4F_isError(hint) || (read == 0 && written == 0)) return std::nullopt;
    bytes.remove_prefix(read);
    done += written;
  }
  if (hint != 0 || done != size) return std::nullopt;
  return out;
}

std::string compress_zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

std::optional<std::string> decompress_zstd(std::string_view bytes, std::size_t size) {
  std::string out(size, '\0');
  const std::size_t done = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(done) || done != size) return std::nullopt;
  return out;
}

}  // namespace

std::string_view compression_name(Compression compression) {
  return compression == Compression::kLz4 ? "lz4" : compression == Compression::kZstd ? "zstd" : "";
}

std::string compress(std::string_view bytes, Compression compression) {
  if (compression == Compression::kLz4) return compress_lz4(bytes);
  return compression == Compression::kZstd ? compress_zstd(bytes) : std::string(bytes);
}

std::optional<std::string> decompress(std::string_view bytes, std::string_view name, std::size_t size) {
  if (name == "lz4") return decompress_lz4(bytes, size);
  if (name == "zstd") return decompress_zstd(bytes, size);
  if (!name.empty() || bytes.size() != size) return std::nullopt;
  return std::string(bytes);
}

}  // namespace kansetsu::io
