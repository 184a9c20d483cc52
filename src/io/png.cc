#include "io/png.h"

#include <array>
#include <cstdlib>
#include <string>

#include "io/bytes.h"
#include "io/inflate.h"

namespace kansetsu::io {
namespace {

struct Header {
  std::uint32_t width = 0, height = 0;
  int depth = 0, colour = 0;

  int channels() const { return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1; }
  int pixel_bits() const { return channels() * depth; }
  std::size_t row_bytes() const { return (std::size_t(width) * std::size_t(pixel_bits()) + 7) / 8; }
  bool is_known() const {
    const bool small = depth == 1 || depth == 2 || depth == 4;
    if (colour == 0) return small || depth == 8 || depth == 16;
    if (colour == 3) return small || depth == 8;
    return (colour == 2 || colour == 4 || colour == 6) && (depth == 8 || depth == 16);
  }
};

/// The contents of a file's chunks.
struct Chunks {
  std::optional<Header> header;
  std::string data;
  std::array<std::uint8_t, 256> palette{};  ///< red channel
};

const char* read_chunks(std::string_view bytes, Chunks& out) {
  constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
  if (!bytes.starts_with(kSignature)) return "it is not a PNG file";
  for (std::size_t at = kSignature.size(); bytes.size() - at >= 12;) {
    const std::size_t size = big_endian(bytes.substr(at, 4));
    const std::string_view kind = bytes.substr(at + 4, 4);
    if (size > bytes.size() - at - 12) return "it is cut short";
    const std::string_view piece = bytes.substr(at + 8, size);
    if (kind == "IHDR" && size == 13) {
      if (piece[10] != 0 || piece[11] != 0) return "it is packed in an unknown way";
      if (piece[12] != 0) return "it is interlaced";
      out.header = Header{big_endian(piece.substr(0, 4)), big_endian(piece.substr(4, 4)), std::uint8_t(piece[8]),
                          std::uint8_t(piece[9])};
    } else if (kind == "PLTE") {
      for (std::size_t i = 0; i < size / 3 && i < 256; ++i) out.palette[i] = std::uint8_t(piece[3 * i]);
    } else if (kind == "IDAT") {
      out.data += piece;
    } else if (kind == "IEND") {
      return nullptr;
    }
    at += size + 12;
  }
  return "it is cut short";
}

/// The Paeth predictor [PNG, 9.4].
int nearest(int a, int b, int c) {
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/// Reverses the filters of all rows; false if a filter type is unknown.
bool unfilter(std::string& rows, const Header& h) {
  const std::size_t width = h.row_bytes(), step = std::size_t((h.pixel_bits() + 7) / 8);
  for (std::size_t y = 0; y < h.height; ++y) {
    char* row = rows.data() + y * (width + 1) + 1;
    const char* above = y > 0 ? row - width - 1 : nullptr;
    const int kind = std::uint8_t(row[-1]);
    if (kind > 4) return false;
    for (std::size_t i = 0; i < width; ++i) {
      const int a = i >= step ? std::uint8_t(row[i - step]) : 0, b = above ? std::uint8_t(above[i]) : 0;
      const int c = above && i >= step ? std::uint8_t(above[i - step]) : 0;
      const std::array<int, 5> guess{0, a, b, (a + b) / 2, nearest(a, b, c)};
      row[i] = char(std::uint8_t(row[i]) + guess[std::size_t(kind)]);
    }
  }
  return true;
}

std::uint8_t grey_at(const char* row, std::size_t x, const Chunks& chunks) {
  const Header& h = *chunks.header;
  if (h.depth >= 8) {
    const std::uint8_t first = std::uint8_t(row[x * std::size_t(h.pixel_bits() / 8)]);
    return h.colour == 3 ? chunks.palette[first] : first;
  }
  const std::size_t bit = x * std::size_t(h.depth);
  const unsigned most = (1u << h.depth) - 1;
  const unsigned value = unsigned(std::uint8_t(row[bit / 8])) >> (8 - h.depth - int(bit % 8)) & most;
  return h.colour == 3 ? chunks.palette[value] : std::uint8_t(value * 255 / most);
}

}  // namespace

std::size_t png_pixels(std::string_view bytes) {
  Chunks chunks;
  read_chunks(bytes, chunks);
  return chunks.header ? std::size_t(chunks.header->width) * chunks.header->height : 0;
}

std::optional<GreyPicture> parse_png(std::string_view bytes, std::size_t most, const char*& problem) {
  Chunks chunks;
  problem = read_chunks(bytes, chunks);
  if (!problem && (!chunks.header || !chunks.header->is_known())) problem = "it is of an unknown kind";
  if (problem) return std::nullopt;
  const Header& h = *chunks.header;
  problem = "it has no pixels, or too many";
  if (h.width == 0 || h.height == 0 || h.width > most / h.height) return std::nullopt;
  problem = "its pixels are damaged";
  auto rows = inflate(chunks.data, DeflateForm::kZlib, h.height * (h.row_bytes() + 1));
  if (!rows || !unfilter(*rows, h)) return std::nullopt;
  GreyPicture out{int(h.width), int(h.height), {}};
  out.value.reserve(std::size_t(h.width) * h.height);
  for (std::size_t y = 0; y < h.height; ++y) {
    const char* row = rows->data() + y * (h.row_bytes() + 1) + 1;
    for (std::size_t x = 0; x < h.width; ++x) out.value.push_back(grey_at(row, x, chunks));
  }
  problem = nullptr;
  return out;
}

}  // namespace kansetsu::io
