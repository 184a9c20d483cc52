#include "io/recording/mcap.h"

#include <doctest/doctest.h>

#include <random>

#include "io/recording/compress.h"
#include "io/recording/crc32.h"
#include "io/recording/proto.h"
#include "io/recording/proto_schema.h"
#include "kansetsu/base/error.h"

namespace kansetsu::io {

TEST_CASE("the checksum is that of ZIP") {
  CHECK(crc32("123456789") == 0xCBF43926u);  // the check value of every CRC-32 table
  CHECK(crc32("") == 0);
  const std::string text = "a text longer than eight bytes";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CHECK(crc32(text.substr(cut), crc32(text.substr(0, cut))) == crc32(text));
  }
}

TEST_CASE("what is compressed comes back, and damage is noticed") {
  std::mt19937_64 rng(1);
  for (const Compression c : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{300000}}) {
      std::string text(size, 'x');
      for (std::size_t i = 0; i < size; i += 1 + rng() % 50) text[i] = static_cast<char>(rng());
      const std::string packed = compress(text, c);
      const std::string_view name = compression_name(c);
      CHECK(decompress(packed, name, size) == text);
      CHECK_FALSE(decompress(packed, name, size + 1));
      CHECK_FALSE(decompress(packed.substr(0, packed.size() / 2), name, size + (size == 0)));
    }
  }
  CHECK_FALSE(decompress("abc", "brotli", 3));
}

TEST_CASE("protobuf fields: small, negative, packed, and broken ones") {
  const double values[] = {0.1, -0.0, 1e300};
  const std::string message =
      proto::Writer().signed_varint(1, -1).signed_varint(2, 1000000).text(3, "関節").numbers(4, values).bytes;
  proto::Reader in(message);
  REQUIRE(in.next());
  CHECK(in.signed_varint() == -1);
  REQUIRE(in.next());
  CHECK(in.signed_varint() == 1000000);
  REQUIRE(in.next());
  CHECK(in.text() == "関節");
  REQUIRE(in.next());
  CHECK(in.vec3() == Vec3<>{0.1, -0.0, 1e300});
  CHECK_FALSE(in.next());
  CHECK_FALSE(in.failed);
  for (std::size_t cut = 1; cut < message.size(); ++cut) {  // any prefix: either at a field's end or noticed
    proto::Reader part(std::string_view(message).substr(0, cut));
    int fields = 0;
    while (part.next()) ++fields;
    CHECK(fields <= 4);
  }
  CHECK_THROWS_AS(proto::descriptor_set("no.Such"), Error);
}

TEST_CASE("streams have chunks of their own, and the footer's offsets hold") {
  std::string bytes;
  mcap::Writer writer(
      [&](std::string_view piece) {
        bytes += piece;
        return true;
      },
      Compression::kZstd, "test");
  const auto schema = writer.add_schema("S", "jsonschema", "{}");
  const auto a = writer.add_channel(schema, "/a", "json"), b = writer.add_channel(schema, "/b", "json");
  for (std::uint64_t i = 0; i < 100; ++i) {
    writer.message(0, a, i, "A" + std::to_string(i));
    writer.message(1, b, 1000 - i, "B");
    if (i % 10 == 9) writer.end_chunk(0);
  }
  CHECK(writer.pending(0) == 0);
  CHECK(writer.pending(1) > 0);
  writer.finish();
  std::vector<std::string> topics;
  const auto contents = mcap::read(bytes, [&](const mcap::Message& m) { topics.push_back(m.channel.topic); });
  REQUIRE(contents);
  CHECK(contents->complete);
  CHECK(topics.size() == 200);
  CHECK(std::count(topics.begin(), topics.begin() + 100, "/a") == 100);
  const std::string_view tail = std::string_view(bytes).substr(bytes.size() - 8 - 29);
  ByteReader footer(tail);
  CHECK(footer.take<std::uint8_t>() == 2);
  footer.take<std::uint64_t>();
  const auto summary = footer.take<std::uint64_t>();
  CHECK(static_cast<int>(bytes[summary]) == int(mcap::Op::kSchema));
  footer.take<std::uint64_t>();
  CHECK(footer.take<std::uint32_t>() == crc32(std::string_view(bytes).substr(summary, bytes.size() - 8 - 4 - summary)));

  const auto damage = [&](std::size_t at, char change) {
    std::string changed = bytes;
    changed[at] = char(changed[at] ^ change);
    return mcap::read(changed, {}).value().damage;
  };
  CHECK(damage(0 + 12, 0).empty());
  CHECK(damage(summary + 12, 1) == std::vector<std::string>{"the checksum of the summary does not match"});
  CHECK(damage(summary - 1, 1) == std::vector<std::string>{"the checksum of the data does not match"});
  std::string without = bytes;  // zeros stand for no checksum
  without.replace(summary - 4, 4, 4, '\0').replace(bytes.size() - 8 - 4, 4, 4, '\0');
  CHECK(mcap::read(without, {}).value().damage.empty());
}

}  // namespace kansetsu::io
