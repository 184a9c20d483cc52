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

/// Reading and writing MCAP files (https://mcap.dev/spec) record by record, independent of their contents.
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

/// Receives the bytes of the file in order; returns false if writing fails.
using Sink = std::function<bool(std::string_view)>;

/// Writes a file sequentially. Streams have separate chunks, so that readers need not load messages of other streams. After end_chunk()
/// all messages of the stream are in the sink.
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
  std::size_t pending(int stream) const;  ///< bytes since the last end_chunk()
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

/// The contents of a file, except messages.
struct Contents {
  std::string library{};
  std::map<std::uint16_t, Channel> channels{};
  std::vector<Attachment> attachments{};
  std::vector<Metadata> metadata{};
  bool complete = false;            ///< has a footer
  bool too_large = false;           ///< the limit was exceeded; later chunks are skipped
  std::vector<std::string> damage;  ///< descriptions of damaged records
};

/// A message, for the visitor.
struct Message {
  const Channel& channel;
  std::uint64_t time = 0;
  std::string_view data{};
};

/// Reads all valid records; never throws. None: not an MCAP file. Records with a wrong checksum, or without one, count as damaged.
/// @param visit  if empty, chunks are not opened
/// @param limit  total bytes of opened chunks
std::optional<Contents> read(std::string_view bytes, const std::function<void(const Message&)>& visit,
                             std::uint64_t limit = std::uint64_t{1} << 40);

}  // namespace kansetsu::io::mcap
