#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"
#include "kansetsu/io/recording.h"

/// MCAP files (https://mcap.dev/spec), written and read record by record. Knows nothing of what is recorded.
namespace kansetsu::io::mcap {

inline constexpr std::string_view kMagic{"\x89MCAP0\r\n", 8};

enum class Op : std::uint8_t {
  kHeader = 1,
  kFooter,
  kSchema,
  kChannel,
  kMessage,
  kChunk,
  kMessageIndex,
  kChunkIndex,
  kAttachment,
  kAttachmentIndex,
  kStatistics,
  kMetadata,
  kMetadataIndex,
  kSummaryOffset,
  kDataEnd,
};

struct Channel {
  std::uint16_t id = 0, schema = 0;
  std::string topic{}, encoding{};
  std::map<std::string, std::string> metadata{};
};
struct Attachment {
  std::string name{}, media_type{}, data{};
};
struct Metadata {
  std::string name{};
  std::map<std::string, std::string> values{};
};

/// Receives the bytes of the file in order; false if they cannot be written.
using Sink = std::function<bool(std::string_view)>;

/// Writes a file front to back. Messages are gathered in streams, each with chunks of its own, so that a reader that wants
/// one kind of message does not load the other. After end_chunk() everything so far is in the sink, readable.
class Writer {
 public:
  Writer(Sink sink, Compression compression, std::string_view library);

  std::uint16_t add_schema(const std::string& name, const std::string& encoding, const std::string& data);
  std::uint16_t add_channel(std::uint16_t schema, const std::string& topic, const std::string& encoding,
                            const std::map<std::string, std::string>& metadata = {});
  void add_attachment(const Attachment& attachment);
  void add_metadata(const Metadata& metadata);
  void message(int stream, std::uint16_t channel, std::uint64_t time, std::string_view data);
  void end_chunk(int stream);
  std::size_t pending(int stream) const;  ///< bytes that wait for end_chunk()
  void finish();

  bool ok() const { return ok_; }

 private:
  struct Stream {
    std::string records;
    std::map<std::uint16_t, std::string> index;  ///< of each channel: (time, offset), …
    std::uint64_t begin = 0, end = 0, count = 0;
  };
  void emit(std::string_view bytes);
  void record(Op op, std::string_view content);
  Stream& stream(int number);
  void write_summary();

  Sink sink_;
  Compression compression_;
  bool ok_ = true, any_ = false;
  std::uint64_t offset_ = 0, messages_ = 0, first_ = 0, last_ = 0;
  std::uint32_t data_crc_ = 0, attachments_ = 0, metadata_ = 0, chunks_ = 0;
  std::vector<std::string> schemas_, channels_;  ///< contents of records, repeated in the summary
  std::vector<Stream> streams_;
  std::map<std::uint16_t, std::uint64_t> counts_;
  std::map<std::uint16_t, std::uint32_t> sequence_;
  std::string chunk_index_, attachment_index_, metadata_index_;  ///< whole records
};

/// What a file holds. Chunks are opened one at a time, by the visitor.
struct Contents {
  std::string library{};
  std::map<std::uint16_t, Channel> channels{};
  std::vector<Attachment> attachments{};
  std::vector<Metadata> metadata{};
  bool complete = false;            ///< ends as it should
  bool too_large = false;           ///< more than the limit; what came later was not opened
  std::vector<std::string> damage;  ///< what had to be left out, in words
};

/// A message as the visitor gets it; the channel is known by then.
struct Message {
  const Channel& channel;
  std::uint64_t time = 0;
  std::string_view data{};
};

/// Reads from front to back whatever is whole; never throws, whatever the bytes are. No value: this is no MCAP file. Records whose
/// checksum does not fit are damage, and so are those without one: our files have them.
/// @param visit  none: chunks stay closed
/// @param limit  bytes of all opened chunks together
std::optional<Contents> read(std::string_view bytes, const std::function<void(const Message&)>& visit,
                             std::uint64_t limit = std::uint64_t{1} << 40);

}  // namespace kansetsu::io::mcap
