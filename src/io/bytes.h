#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

/// Numbers and texts as bytes, little endian, as MCAP, NPZ and glTF store them.
namespace kansetsu::io {

static_assert(std::endian::native == std::endian::little,
              "files are little endian, and so is every machine we build for");

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

/// Takes values off the front. Reading beyond the end gives zeros and sets `failed`.
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
