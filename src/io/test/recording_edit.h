#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "io/bytes.h"
#include "io/recording/crc32.h"
#include "io/recording/mcap.h"

/// Recordings changed on purpose, whole and with the right checksums: what a reader meets that was not written by us.
namespace kansetsu::io::test {

inline std::string record(mcap::Op op, std::string_view content) {
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(op)).put(std::uint64_t{content.size()}).raw(content);
  return std::move(out.bytes);
}

enum class Checksum { kRight, kZero };

inline std::string attachment(std::string_view name, std::string_view data, Checksum checksum = Checksum::kRight) {
  ByteWriter out;
  out.put(std::uint64_t{0}).put(std::uint64_t{0}).text(name).text("application/json");
  out.put(std::uint64_t{data.size()}).raw(data);
  const std::uint32_t crc = checksum == Checksum::kRight ? crc32(out.bytes) : 0;
  return record(mcap::Op::kAttachment, out.put(crc).bytes);
}

/// A chunk without messages of its own: `records` as they are, said to be `size` bytes.
inline std::string chunk(std::string_view records, std::string_view packed, std::string_view compression,
                         std::uint64_t size) {
  ByteWriter out;
  out.put(std::uint64_t{0}).put(std::uint64_t{0}).put(size).put(crc32(records)).text(compression);
  out.put(std::uint64_t{packed.size()}).raw(packed);
  return record(mcap::Op::kChunk, out.bytes);
}

/// What `change` makes of each record at the top, up to the end of the data; the index is left out, readers do without.
inline std::string edited(std::string_view bytes,
                          const std::function<std::string(mcap::Op, std::string_view content)>& change) {
  std::string out(mcap::kMagic);
  ByteReader in(bytes.substr(mcap::kMagic.size()));
  while (in.rest.size() >= 9) {
    const auto op = static_cast<mcap::Op>(in.take<std::uint8_t>());
    const std::string_view content = in.raw(in.take<std::uint64_t>());
    if (in.failed || op == mcap::Op::kDataEnd) break;
    out += change(op, content);
  }
  return out + record(mcap::Op::kDataEnd, std::string(4, '\0')) + record(mcap::Op::kFooter, std::string(20, '\0')) +
         std::string(mcap::kMagic);
}

/// With what `change` makes of the data of the attachment.
inline std::string with_attachment(std::string_view bytes, std::string_view name,
                                   const std::function<std::string(std::string_view data)>& change,
                                   Checksum checksum = Checksum::kRight) {
  return edited(bytes, [&](mcap::Op op, std::string_view content) {
    if (op == mcap::Op::kAttachment) {
      ByteReader in(content);
      in.raw(16);
      const std::string_view own = in.text();
      in.text();
      const std::string_view data = in.raw(in.take<std::uint64_t>());
      if (own == name) return attachment(own, change(data), checksum);
    }
    return record(op, content);
  });
}

}  // namespace kansetsu::io::test
