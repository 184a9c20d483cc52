#pragma once

#include <string>
#include <string_view>

#include "io/bytes.h"
#include "io/recording/npz_reader.h"
#include "kansetsu/io/capture.h"
#include "kansetsu/io/clip.h"
#include "kansetsu/model/figures.h"

/// What holds for text and bytes of any origin that are taken for a clip.
namespace kansetsu::io::test {

inline std::string violation_of(const Loaded<Clip>& clip) {
  if (!clip) return has_errors(clip.diagnostics) ? "" : "refused without an error";
  if (clip.value->times.empty() || clip.value->q.cols() != long(clip.value->times.size()))
    return "times and frames differ";
  if (!clip.value->q.allFinite()) return "a position that is not finite";
  for (std::size_t i = 1; i < clip.value->times.size(); ++i) {
    if (!(clip.value->times[i] > clip.value->times[i - 1])) return "time runs backwards";
  }
  return {};
}

/// The first byte tells whether the rest is a CSV file, the lines below a sound header, or a table of landmarks.
inline std::string clip_violation(std::string_view input) {
  static const Model model = pendulum();
  if (input.empty()) return {};
  const std::string rest(input.substr(1));
  switch (input.front() & 3) {
    case 0:
      return violation_of(parse_clip_csv(model, rest, "x.csv"));
    case 1:
      return violation_of(parse_clip_csv(model, "time,pendulum/q/hinge1\n0,0\n" + rest, "x.csv"));
    default:
      if (const auto table = parse_landmarks(rest, "x.toml"); !table && !has_errors(table.diagnostics))
        return "refused without an error";
      return {};
  }
}

/// A ZIP file of one array.
inline std::string zip_of(std::string_view name, std::string_view data) {
  ByteWriter local, directory, out;
  const auto common = [&](ByteWriter& to) {
    to.put(std::uint16_t{20}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint16_t{33});
    to.put(std::uint32_t{0}).put(std::uint32_t(data.size())).put(std::uint32_t(data.size()));
    to.put(std::uint16_t(name.size())).put(std::uint16_t{0});
  };
  common(local.raw("PK\x03\x04"));
  local.raw(name).raw(data);
  common(directory.raw("PK\x01\x02").put(std::uint16_t{20}));
  directory.put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint32_t{0});
  directory.put(std::uint32_t{0}).raw(name);
  out.raw(local.bytes).raw(directory.bytes).raw("PK\x05\x06").put(std::uint16_t{0}).put(std::uint16_t{0});
  out.put(std::uint16_t{1}).put(std::uint16_t{1}).put(std::uint32_t(directory.bytes.size()));
  return out.put(std::uint32_t(local.bytes.size())).put(std::uint16_t{0}).bytes;
}

/// The first byte tells whether the rest is the file, an array in a sound file, or the header and data of a sound array.
inline std::string npz_violation(std::string_view input) {
  static const Model model = pendulum();
  if (input.empty()) return {};
  const std::string_view rest = input.substr(1);
  std::string bytes(rest);
  if (input.front() & 3) {
    std::string array(rest);
    if ((input.front() & 3) > 1) {
      const std::size_t head =
          std::min<std::size_t>(rest.find('\n') == rest.npos ? rest.size() : rest.find('\n') + 1, 60000);
      ByteWriter whole;
      whole.raw("\x93NUMPY").put(std::uint8_t{1}).put(std::uint8_t{0}).put(std::uint16_t(head)).raw(rest);
      array = whole.bytes;
    }
    bytes = zip_of("pendulum/q.npy", array);
  }
  for (const auto& [name, array] : parse_npz(bytes).arrays) {
    if (!array.numbers.empty() && array.numbers.size() != array.rows * array.columns) return "an array of another size";
  }
  if (const Loaded<Capture> motion = parse_amass(bytes, "x.npz"); bool(motion) == has_errors(motion.diagnostics))
    return "a motion with errors, or none without";
  return violation_of(parse_clip_npz(model, bytes, "x.npz"));
}

}  // namespace kansetsu::io::test
