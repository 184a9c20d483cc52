#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

/// Reads and writes little-endian numbers and strings, as MCAP, NPZ and glTF store them.
namespace kansetsu::io {

static_assert(std::endian::native == std::endian::little,
              "the formats are little endian; so are all supported machines");

/// Appends to a string of bytes.
class ByteWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  ByteWriter& put(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  ByteWriter& raw(std::string_view text) {
    bytes += text;
    return *this;
  }
  /// Length (32 bits), then the text.
  ByteWriter& text(std::string_view value) { return put(static_cast<std::uint32_t>(value.size())).raw(value); }
  ByteWriter& map(const std::map<std::string, std::string>& values) {
    ByteWriter inner;
    for (const auto& [key, value] : values) inner.text(key).text(value);
    return text(inner.bytes);
  }

  std::string bytes;
};

/// The number at a place, which must be there.
template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
/// The number of these bytes, the first of which counts most.
inline std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// Reads values from the front. Reading past the end returns zeros and sets `failed`.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest(bytes) {}

  template <class T>
    requires std::is_arithmetic_v<T>
  T take() {
    T value{};
    const std::string_view piece = raw(sizeof value);
    if (piece.size() == sizeof value) std::memcpy(&value, piece.data(), sizeof value);
    return value;
  }
  std::string_view raw(std::uint64_t size) {
    if (size > rest.size()) {
      failed = true;
      rest = {};
      return {};
    }
    const std::string_view piece = rest.substr(0, static_cast<std::size_t>(size));
    rest.remove_prefix(piece.size());
    return piece;
  }
  std::string_view text() { return raw(take<std::uint32_t>()); }
  std::map<std::string, std::string> map() {
    std::map<std::string, std::string> values;
    ByteReader inner(text());
    while (!inner.rest.empty()) {
      const std::string key(inner.text());
      values[key] = inner.text();
    }
    failed = failed || inner.failed;
    return values;
  }

  std::string_view rest;
  bool failed = false;
};

}  // namespace kansetsu::io
