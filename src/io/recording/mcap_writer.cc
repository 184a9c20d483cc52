#include <utility>

#include "io/recording/compress.h"
#include "io/recording/crc32.h"
#include "io/recording/mcap.h"

namespace kansetsu::io::mcap {
namespace {

std::string as_record(Op op, std::string_view content) {
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(op)).put(std::uint64_t{content.size()}).raw(content);
  return std::move(out.bytes);
}

}  // namespace

Writer::Writer(Sink sink, Compression compression, std::string_view library)
    : sink_(std::move(sink)), compression_(compression) {
  emit(kMagic);
  record(Op::kHeader, ByteWriter().text("").text(library).bytes);
}

void Writer::emit(std::string_view bytes) {
  data_crc_ = crc32(bytes, data_crc_);
  offset_ += bytes.size();
  ok_ = ok_ && sink_(bytes);
}

void Writer::record(Op op, std::string_view content) { emit(as_record(op, content)); }

std::uint16_t Writer::add_schema(const std::string& name, const std::string& encoding, const std::string& data) {
  const auto id = static_cast<std::uint16_t>(schemas_.size() + 1);
  schemas_.push_back(ByteWriter().put(id).text(name).text(encoding).text(data).bytes);
  record(Op::kSchema, schemas_.back());
  return id;
}

std::uint16_t Writer::add_channel(std::uint16_t schema, const std::string& topic, const std::string& encoding,
                                  const std::map<std::string, std::string>& metadata) {
  const auto id = static_cast<std::uint16_t>(channels_.size() + 1);
  channels_.push_back(ByteWriter().put(id).put(schema).text(topic).text(encoding).map(metadata).bytes);
  record(Op::kChannel, channels_.back());
  return id;
}

void Writer::add_attachment(const Attachment& a) {
  const std::uint64_t at = offset_, zero = 0;
  ByteWriter content;
  content.put(zero).put(zero).text(a.name).text(a.media_type).put(std::uint64_t{a.data.size()}).raw(a.data);
  content.put(crc32(content.bytes));
  record(Op::kAttachment, content.bytes);
  ByteWriter index;
  index.put(at).put(offset_ - at).put(zero).put(zero).put(std::uint64_t{a.data.size()}).text(a.name).text(a.media_type);
  attachment_index_ += as_record(Op::kAttachmentIndex, index.bytes);
  ++attachments_;
}

void Writer::add_metadata(const Metadata& m) {
  const std::uint64_t at = offset_;
  record(Op::kMetadata, ByteWriter().text(m.name).map(m.values).bytes);
  metadata_index_ += as_record(Op::kMetadataIndex, ByteWriter().put(at).put(offset_ - at).text(m.name).bytes);
  ++metadata_;
}

Writer::Stream& Writer::stream(int number) {
  const auto i = static_cast<std::size_t>(number);
  if (i >= streams_.size()) streams_.resize(i + 1);
  return streams_[i];
}

void Writer::message(int number, std::uint16_t channel, std::uint64_t time, std::string_view data) {
  Stream& s = stream(number);
  ByteWriter entry;
  entry.put(time).put(std::uint64_t{s.records.size()});
  s.index[channel] += entry.bytes;
  s.records +=
      as_record(Op::kMessage, ByteWriter().put(channel).put(sequence_[channel]++).put(time).put(time).raw(data).bytes);
  s.begin = s.count == 0 ? time : std::min(s.begin, time);
  s.end = s.count == 0 ? time : std::max(s.end, time);
  ++s.count;
  ++counts_[channel];
  ++messages_;
  first_ = any_ ? std::min(first_, time) : time;
  last_ = any_ ? std::max(last_, time) : time;
  any_ = true;
}

std::size_t Writer::pending(int number) const {
  const auto i = static_cast<std::size_t>(number);
  return i < streams_.size() ? streams_[i].records.size() : 0;
}

void Writer::end_chunk(int number) {
  Stream done = std::exchange(stream(number), {});
  if (done.count == 0) return;
  const std::uint64_t at = offset_;
  const std::string packed = compress(done.records, compression_);
  const std::string_view name = compression_name(compression_);
  ByteWriter chunk;
  chunk.put(done.begin).put(done.end).put(std::uint64_t{done.records.size()}).put(crc32(done.records)).text(name);
  chunk.put(std::uint64_t{packed.size()}).raw(packed);
  record(Op::kChunk, chunk.bytes);
  const std::uint64_t length = offset_ - at;
  ByteWriter offsets;
  // An index for every channel, empty ones included: @mcap/core 2.1 stumbles over chunks without those it looks for.
  for (std::uint16_t channel = 1; channel <= channels_.size(); ++channel) {
    offsets.put(channel).put(offset_);
    record(Op::kMessageIndex, ByteWriter().put(channel).text(done.index[channel]).bytes);
  }
  ByteWriter index;
  index.put(done.begin).put(done.end).put(at).put(length).text(offsets.bytes).put(offset_ - at - length).text(name);
  index.put(std::uint64_t{packed.size()}).put(std::uint64_t{done.records.size()});
  chunk_index_ += as_record(Op::kChunkIndex, index.bytes);
  ++chunks_;
}

void Writer::write_summary() {
  ByteWriter statistics, counts, offsets;
  for (const auto& [channel, count] : counts_) counts.put(channel).put(count);
  statistics.put(messages_).put(static_cast<std::uint16_t>(schemas_.size()));
  statistics.put(static_cast<std::uint32_t>(channels_.size())).put(attachments_).put(metadata_).put(chunks_);
  statistics.put(first_).put(last_).text(counts.bytes);

  std::string schemas, channels;
  for (const std::string& s : schemas_) schemas += as_record(Op::kSchema, s);
  for (const std::string& c : channels_) channels += as_record(Op::kChannel, c);
  const std::pair<Op, std::string> groups[] = {{Op::kSchema, schemas},
                                               {Op::kChannel, channels},
                                               {Op::kStatistics, as_record(Op::kStatistics, statistics.bytes)},
                                               {Op::kChunkIndex, chunk_index_},
                                               {Op::kAttachmentIndex, attachment_index_},
                                               {Op::kMetadataIndex, metadata_index_}};
  const std::uint64_t start = offset_;
  std::string summary;
  for (const auto& [op, records] : groups) {
    if (records.empty()) continue;
    ByteWriter where;
    where.put(static_cast<std::uint8_t>(op)).put(start + summary.size()).put(std::uint64_t{records.size()});
    offsets.raw(as_record(Op::kSummaryOffset, where.bytes));
    summary += records;
  }
  const std::uint64_t offsets_at = start + summary.size();
  summary += offsets.bytes;
  // The checksum covers the summary and the footer up to itself.
  ByteWriter footer;
  footer.put(static_cast<std::uint8_t>(Op::kFooter)).put(std::uint64_t{20}).put(start).put(offsets_at);
  footer.put(crc32(footer.bytes, crc32(summary)));
  emit(summary + footer.bytes);
}

void Writer::finish() {
  for (std::size_t i = 0; i < streams_.size(); ++i) end_chunk(static_cast<int>(i));
  record(Op::kDataEnd, ByteWriter().put(data_crc_).bytes);
  write_summary();
  emit(kMagic);
}

}  // namespace kansetsu::io::mcap
