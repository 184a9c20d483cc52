#pragma once

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/recording/compress.h"
#include "io/test/recording_edit.h"
#include "io/test/recording_support.h"

/// What holds for bytes of any origin that are taken for a recording.
namespace kansetsu::io::test {

inline const std::string& usual_recording() {
  static const std::string bytes = [] {
    Recording recording{.header = {.figures = {{"figure", pendulum()}}}};
    for (int i = 0; i < 3; ++i) recording.frames.push_back({.time = 0.1 * i, .states = {State(pendulum())}});
    return to_mcap(recording, {.compression = Compression::kNone, .foxglove_rate = 0});
  }();
  return bytes;
}

/// The first byte tells what of a recording the others are; the rest of it is sound, with the right checksums. So that what is
/// tried does not end at the first checksum.
inline std::string composed_recording(std::string_view input) {
  if (input.empty()) return {};
  const int part = input.front() & 7;
  const std::string_view payload = input.substr(1);
  const auto replace = [&](std::string_view name) {
    return with_attachment(usual_recording(), name, [&](std::string_view) { return std::string(payload); });
  };
  const auto add = [&](mcap::Op before, const std::string& what) {
    return edited(usual_recording(), [&](mcap::Op op, std::string_view content) {
      return record(op, content) + (op == before ? what : std::string());
    });
  };
  ByteWriter message;  // on channel 1, the frames'
  message.put(std::uint16_t{1}).put(std::uint32_t{0}).put(std::uint64_t{0}).put(std::uint64_t{0}).raw(payload);
  switch (part) {
    case 0:
      return std::string(mcap::kMagic) + std::string(payload);
    case 1:
      return replace("scene.json");
    case 2:
      return replace("model/0.json");
    case 3:
      return add(mcap::Op::kChannel, record(mcap::Op::kMessage, message.bytes));
    case 4:
      return add(mcap::Op::kChannel, chunk(payload, payload, "", payload.size()));
    case 5:
      return add(mcap::Op::kHeader, attachment("mesh/0.stl", payload));
    case 6:  // what the packed bytes claim is up to them
      return add(mcap::Op::kChannel, chunk("", payload, "zstd", payload.size() * 100));
    default:
      return add(mcap::Op::kChannel, chunk("", payload, "lz4", payload.size() * 10));
  }
}

/// Empty if all is well: what is refused says why, and what is accepted can be written in every format and read again.
inline std::string recording_violation(std::string_view bytes) {
  const Loaded<Recording> read = parse_recording(bytes);
  if (!read) return has_errors(read.diagnostics) ? "" : "refused without an error";
  for (const RecordedFrame& frame : read.value->frames) {
    if (!std::isfinite(frame.time)) return "a time that is not finite";
    for (const State& state : frame.states) {
      if (!state.q.allFinite() || !state.v.allFinite()) return "a state that is not finite";
    }
  }
  if (crc32(bytes) % 16 != 0) return {};  // writing takes longer than all the rest: some of them will do
  const Loaded<Recording> again = parse_recording(to_mcap(*read.value));
  if (!again || again.value->frames.size() != read.value->frames.size()) return "not the same when written and read";
  static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("kansetsu_property_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const char* ending : {".glb", ".csv", ".npz"}) {
    if (has_errors(write_recording(*read.value, folder / (std::string("out") + ending)))) return "cannot be written";
  }
  return {};
}

}  // namespace kansetsu::io::test
