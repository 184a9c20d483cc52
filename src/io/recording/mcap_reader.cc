#include <fmt/format.h>

#include "io/recording/compress.h"
#include "io/recording/crc32.h"
#include "io/recording/mcap.h"

namespace kansetsu::io::mcap {
namespace {

/// A chunk that claims more than this is damaged: ours have a few hundred kilobytes, and memory is taken before it is known.
constexpr std::uint64_t kLargestChunk = std::uint64_t{256} << 20;

/// Reads records, at the top or within a chunk.
class Reader {
 public:
  Reader(Contents& contents, const std::function<void(const Message&)>& visit, std::uint64_t limit)
      : contents_(contents), visit_(visit), left_(limit) {}

  /// Everything in `bytes` that is whole.
  void read(std::string_view bytes, bool in_chunk) {
    ByteReader in(bytes);
    while (in.rest.size() >= kHead && !done_) {
      const auto op = static_cast<Op>(in.take<std::uint8_t>());
      const std::string_view content = in.raw(in.take<std::uint64_t>());
      if (in.failed) break;
      if (op == Op::kDataEnd && !in_chunk)
        check_data(bytes.substr(0, bytes.size() - in.rest.size() - content.size() - kHead), content);
      if (!one(op, content, in_chunk)) note(fmt::format("a record of kind {} is damaged", static_cast<int>(op)));
    }
  }
  bool footer_seen() const { return done_; }

  /// The checksum of the summary, which repeats what was read and which other programs begin with. 0: there is none.
  void check_summary(std::string_view file) {
    constexpr std::size_t kFooter = 8 + 8 + 4;
    if (file.size() < 2 * kMagic.size() + kHead + kFooter) return;
    const std::size_t crc_at = file.size() - kMagic.size() - 4;
    ByteReader footer(file.substr(crc_at + 4 - kFooter, kFooter));
    const auto start = footer.take<std::uint64_t>();
    footer.take<std::uint64_t>();
    const auto crc = footer.take<std::uint32_t>();
    if (crc == 0) return;
    if (start > crc_at || crc != crc32(file.substr(std::size_t(start), crc_at - std::size_t(start))))
      note("the checksum of the summary does not match");
  }

 private:
  static constexpr std::size_t kHead = 9;  ///< of a record: its kind and its size

  /// Of everything before the end of the data. 0: there is none. Once, not again when chunks are opened.
  void check_data(std::string_view data, std::string_view end) {
    const auto crc = ByteReader(end).take<std::uint32_t>();
    if (crc != 0 && !visit_ && crc != crc32(data, crc32(kMagic))) note("the checksum of the data does not match");
  }

  void note(std::string what) {
    if (contents_.damage.size() < 20) contents_.damage.push_back(std::move(what));
  }

  bool one(Op op, std::string_view content, bool in_chunk) {
    ByteReader in(content);
    switch (op) {
      case Op::kHeader:
        in.text();
        contents_.library = in.text();
        return !in.failed;
      case Op::kSchema:  // of messages that are not asked for
        in.take<std::uint16_t>();
        for (int k = 0; k < 3; ++k) in.text();
        return !in.failed;
      case Op::kChannel:
        return channel(in);
      case Op::kMessage:
        return message(in);
      case Op::kChunk:
        return !in_chunk && chunk(in);
      case Op::kAttachment:
        return !in_chunk && attachment(content);
      case Op::kMetadata:
        return !in_chunk && metadata(in);
      case Op::kDataEnd:
      case Op::kFooter:
        done_ = !in_chunk;  // what follows repeats what was read
        return !in_chunk;
      default:
        return true;  // indexes, and kinds that later versions add
    }
  }

  bool channel(ByteReader& in) {
    Channel c;
    c.id = in.take<std::uint16_t>();
    c.schema = in.take<std::uint16_t>();
    c.topic = in.text();
    c.encoding = in.text();
    c.metadata = in.map();
    if (!in.failed) contents_.channels.emplace(c.id, std::move(c));
    return !in.failed;
  }

  bool message(ByteReader& in) {
    const auto id = in.take<std::uint16_t>();
    in.take<std::uint32_t>();
    const auto time = in.take<std::uint64_t>();
    in.take<std::uint64_t>();
    const auto known = contents_.channels.find(id);
    if (in.failed || known == contents_.channels.end()) return false;
    if (visit_) visit_({known->second, time, in.rest});
    return true;
  }

  bool chunk(ByteReader& in) {
    if (!visit_) return true;
    in.raw(16);  // times of its messages
    const auto size = in.take<std::uint64_t>();
    const auto crc = in.take<std::uint32_t>();
    const std::string_view name = in.text();
    const std::string_view packed = in.raw(in.take<std::uint64_t>());
    // 255 is the most that lz4 can make of a byte; recordings do not have the long runs of which zstd makes more.
    if (in.failed || size > kLargestChunk || size / 4096 > packed.size()) return false;
    if (size > left_) {
      contents_.too_large = done_ = true;
      return true;
    }
    left_ -= size;
    const auto records = decompress(packed, name, static_cast<std::size_t>(size));
    if (!records || crc != crc32(*records)) return false;
    read(*records, true);
    return true;
  }

  bool attachment(std::string_view content) {
    ByteReader in(content);
    Attachment a;
    in.raw(16);
    a.name = in.text();
    a.media_type = in.text();
    a.data = in.raw(in.take<std::uint64_t>());
    const auto crc = in.take<std::uint32_t>();
    if (in.failed || !in.rest.empty() || crc != crc32(content.substr(0, content.size() - 4))) return false;
    contents_.attachments.push_back(std::move(a));
    return true;
  }

  bool metadata(ByteReader& in) {
    Metadata m;
    m.name = in.text();
    m.values = in.map();
    if (!in.failed) contents_.metadata.push_back(std::move(m));
    return !in.failed;
  }

  Contents& contents_;
  const std::function<void(const Message&)>& visit_;
  std::uint64_t left_;  ///< bytes that chunks may yet take
  bool done_ = false;
};

}  // namespace

std::optional<Contents> read(std::string_view bytes, const std::function<void(const Message&)>& visit,
                             std::uint64_t limit) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  Contents contents;
  Reader reader(contents, visit, limit);
  reader.read(bytes.substr(kMagic.size()), false);
  if (reader.footer_seen() && bytes.ends_with(kMagic) && !visit) reader.check_summary(bytes);
  contents.complete = reader.footer_seen() && bytes.size() >= 2 * kMagic.size() && bytes.ends_with(kMagic);
  return contents;
}

}  // namespace kansetsu::io::mcap
