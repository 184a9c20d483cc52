#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/spatial/vec3.h"

/// The subset of the protocol buffers wire format that recordings use.
namespace kansetsu::io::proto {

enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Appends the fields of one message.
class Writer {
 public:
  Writer& varint(int field, std::uint64_t value) {
    tag(field, Wire::kVarint);
    return raw_varint(value);
  }
  Writer& signed_varint(int field, std::int32_t value) {  // sint32: small negative numbers stay small
    return varint(field, (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31));
  }
  Writer& number(int field, double value) {
    tag(field, Wire::kFixed64);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& text(int field, std::string_view value) {
    tag(field, Wire::kBytes);
    raw_varint(value.size());
    bytes += value;
    return *this;
  }
  Writer& message(int field, const Writer& inner) { return text(field, inner.bytes); }
  Writer& numbers(int field, std::span<const double> values) {  // packed
    return text(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  Writer& numbers(int field, const Vec3<>& a) {
    const double values[] = {a.x, a.y, a.z};
    return numbers(field, values);
  }

  std::string bytes;

 private:
  void tag(int field, Wire wire) { raw_varint((static_cast<std::uint64_t>(field) << 3) | static_cast<unsigned>(wire)); }
  Writer& raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
    return *this;
  }
};

/// Iterates over the fields of a message: while (in.next()) switch (in.field) …; invalid data set `failed` and end the loop.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  bool next() {
    if (rest_.empty() || failed) return false;
    const std::uint64_t tag = take_varint();
    field = static_cast<int>(tag >> 3);
    wire = static_cast<Wire>(tag & 7);
    switch (wire) {
      case Wire::kVarint:
        value = take_varint();
        break;
      case Wire::kFixed64:
        bytes = take(8);
        break;
      case Wire::kBytes:
        bytes = take(take_varint());
        break;
      case Wire::kFixed32:
        bytes = take(4);
        break;
      default:
        failed = true;
    }
    return !failed;
  }

  /// The field's value; another wire type sets `failed`.
  double number() {
    double result = 0;
    if (expect(wire == Wire::kFixed64)) std::memcpy(&result, bytes.data(), sizeof result);
    return result;
  }
  std::int32_t signed_varint() {
    expect(wire == Wire::kVarint && value <= 0xffffffffu);
    const auto zigzag = static_cast<std::uint32_t>(value);
    return static_cast<std::int32_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
  }
  std::string_view text() {
    expect(wire == Wire::kBytes);
    return failed ? std::string_view{} : bytes;
  }
  /// Packed numbers into `out(count)`, which returns where they go.
  template <class Out>
  void numbers(Out&& out) {
    if (!expect(wire == Wire::kBytes && bytes.size() % 8 == 0)) return;
    double* to = out(bytes.size() / 8);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }
  std::vector<double> number_list() {
    std::vector<double> out;
    numbers([&](std::size_t count) {
      out.resize(count);
      return out.data();
    });
    return out;
  }
  Vec3<> vec3() {
    double values[3] = {};
    if (expect(wire == Wire::kBytes && bytes.size() == sizeof values)) std::memcpy(values, bytes.data(), sizeof values);
    return {values[0], values[1], values[2]};
  }

  int field = 0;
  Wire wire = Wire::kVarint;
  std::uint64_t value = 0;
  std::string_view bytes{};
  bool failed = false;

 private:
  bool expect(bool condition) {
    failed = failed || !condition;
    return !failed;
  }
  std::uint64_t take_varint() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    failed = true;
    return 0;
  }
  std::string_view take(std::uint64_t size) {
    if (failed || size > rest_.size()) {
      failed = true;
      return {};
    }
    const std::string_view piece = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(piece.size());
    return piece;
  }

  std::string_view rest_;
};

}  // namespace kansetsu::io::proto
