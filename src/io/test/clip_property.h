#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.h"
#include "io/recording/npz_reader.h"
#include "io/test/deflated.h"
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

/// An array of a ZIP file.
struct ZipMember {
  std::string_view name;
  std::string data;
  bool packed = false;  ///< by DEFLATE
};

inline std::string zip_of(const std::vector<ZipMember>& members) {
  ByteWriter out, directory;
  for (const ZipMember& m : members) {
    const std::string data = m.packed ? deflate_stored(m.data) : m.data;
    const auto common = [&](ByteWriter& to) {
      to.put(std::uint16_t{20}).put(std::uint16_t{0}).put(std::uint16_t(m.packed ? 8 : 0)).put(std::uint16_t{0});
      to.put(std::uint16_t{33}).put(std::uint32_t{0}).put(std::uint32_t(data.size()));
      to.put(std::uint32_t(m.data.size())).put(std::uint16_t(m.name.size())).put(std::uint16_t{0});
    };
    const auto at = std::uint32_t(out.bytes.size());
    common(out.raw("PK\x03\x04"));
    out.raw(m.name).raw(data);
    common(directory.raw("PK\x01\x02").put(std::uint16_t{20}));
    directory.put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint32_t{0});
    directory.put(at).raw(m.name);
  }
  const auto at = std::uint32_t(out.bytes.size());
  const auto count = std::uint16_t(members.size());
  out.raw(directory.bytes).raw("PK\x05\x06").put(std::uint16_t{0}).put(std::uint16_t{0}).put(count).put(count);
  return out.put(std::uint32_t(directory.bytes.size())).put(at).put(std::uint16_t{0}).bytes;
}

/// An array with a header of version 1.
inline std::string npy_of(std::string_view header, std::string_view data) {
  ByteWriter whole;
  whole.raw("\x93NUMPY").put(std::uint8_t{1}).put(std::uint8_t{0}).put(std::uint16_t(header.size())).raw(header);
  return whole.raw(data).bytes;
}

/// A motion of AMASS: a width of its frames, then bytes of their numbers.
inline std::string amass_of(std::string_view input, bool packed) {
  constexpr std::size_t kWidths[] = {66, 72, 156, 165};
  if (input.empty()) return {};
  const std::size_t width = kWidths[input.front() & 3], row = 4 * (width + 3);
  const std::size_t rows = std::min<std::size_t>((input.size() - 1) / row, 20);
  const auto array = [&](std::size_t columns, std::string_view data) {
    const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(columns) + "), }\n";
    return npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape, data);
  };
  const std::string_view numbers = input.substr(1, rows * row);
  return zip_of({{"poses.npy", array(width, numbers.substr(std::min(numbers.size(), 12 * rows))), packed},
                 {"trans.npy", array(3, numbers.substr(0, 12 * rows)), packed},
                 {"gender.npy", npy_of("{'descr': '|S9', 'shape': ()}\n", input.substr(0, 9)), packed}});
}

/// The first byte tells whether the rest is the file, an array in a sound file, the header and data of a sound array, or a motion of AMASS;
/// and whether arrays are packed.
inline std::string npz_violation(std::string_view input) {
  static const Model model = pendulum();
  if (input.empty()) return {};
  const int kind = input.front() & 3;
  const bool packed = input.front() & 4;
  const std::string_view rest = input.substr(1);
  std::string bytes(rest);
  if (kind == 1) bytes = zip_of({{"pendulum/q.npy", std::string(rest), packed}});
  if (kind == 2) {
    const std::size_t line = rest.find('\n');
    const std::size_t head = std::min<std::size_t>(line == rest.npos ? rest.size() : line + 1, 60000);
    bytes = zip_of({{"pendulum/q.npy", npy_of(rest.substr(0, head), rest.substr(head)), packed}});
  }
  if (kind == 3) bytes = amass_of(rest, packed);
  for (const auto& [name, array] : parse_npz(bytes).arrays) {
    if (!array.numbers.empty() && array.numbers.size() != array.rows * array.columns) return "an array of another size";
  }
  const Loaded<Capture> motion = parse_amass(bytes, "x.npz");
  if (bool(motion) == has_errors(motion.diagnostics)) return "a motion with errors, or none without";
  if (motion && motion.value->poses.size() % motion.value->bones.size() != 0) return "a frame that is not whole";
  return violation_of(parse_clip_npz(model, bytes, "x.npz"));
}

}  // namespace kansetsu::io::test
