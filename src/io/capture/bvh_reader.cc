#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "io/capture/capture_codes.h"
#include "io/capture/capture_reader.h"
#include "io/number.h"
#include "io/text.h"

/// BVH: a HIERARCHY of joints with channels, then MOTION, one line of channel values per frame.
namespace kansetsu::io {
namespace {

using namespace capture;

constexpr double kDegree = std::numbers::pi / 180;

/// What the channels of a joint are, in the order of the file: 0 1 2 positions x y z, 3 4 5 turns about x y z.
struct Channels {
  std::array<int, 6> kind{};
  int count = 0;
  bool has(int k) const {
    for (int i = 0; i < count; ++i)
      if (kind[static_cast<std::size_t>(i)] == k) return true;
    return false;
  }
};

/// X/Y/Z then "position" or "rotation".
std::optional<int> channel_kind(std::string_view word) {
  if (word.empty()) return std::nullopt;
  const int axis = same_word(word.substr(0, 1), "x") ? 0 : same_word(word.substr(0, 1), "y") ? 1 : 2;
  if (axis == 2 && !same_word(word.substr(0, 1), "z")) return std::nullopt;
  if (same_word(word.substr(1), "position")) return axis;
  if (same_word(word.substr(1), "rotation")) return 3 + axis;
  return std::nullopt;
}

/// Turns in the order of the file; axes that are not turned about come last.
EulerOrder order_of(const Channels& channels) {
  std::string letters;
  for (int i = 0; i < channels.count; ++i)
    if (const int k = channels.kind[static_cast<std::size_t>(i)]; k >= 3) letters += "XYZ"[k - 3];
  for (const char c : {'Z', 'Y', 'X'})
    if (letters.find(c) == std::string::npos) letters += c;
  return find_euler_order(letters).value_or(EulerOrder::kZYX);
}

class BvhReader {
 public:
  BvhReader(std::string_view text, const std::string& file) : words_(text), report_(file) {
    capture_.file = file;
    capture_.name = stem_of(file);
  }

  Loaded<Capture> read(std::string_view text, const CaptureOptions& options) {
    if (check_text(text, report_, "BVH") && read_hierarchy()) read_motion();
    if (report_.failed()) return {std::nullopt, report_.take()};
    settle(capture_, options, std::nullopt, report_);
    return {std::move(capture_), report_.take()};
  }

 private:
  std::string path() const { return bone_ < 0 ? std::string("HIERARCHY") : "joint " + bone().name; }
  Bone& bone() { return capture_.bones[static_cast<std::size_t>(bone_)]; }
  const Bone& bone() const { return capture_.bones[static_cast<std::size_t>(bone_)]; }

  /// Errors of syntax end the reading: what follows would be misread.
  bool syntax(std::string_view word, const char* expected) {
    if (word.empty()) {
      report_.error(words_.line(), kEnds, path(), fmt::format("the file ends where {} should be", expected),
                    "the file is truncated; get a complete copy");
    } else {
      report_.error(words_.line(), kSyntax, path(), fmt::format("{} is not {}", quote(word), expected),
                    "see docs/formats/capture.md for what a BVH file looks like");
    }
    return false;
  }

  bool read_hierarchy() {
    if (const auto word = words_.next(); !same_word(word, "HIERARCHY"))
      return report_.fail(words_.line(), kForeign, {},
                          fmt::format("the file begins with {}, not with HIERARCHY", quote(word)), "is it a BVH file?");
    if (const auto word = words_.next(); !same_word(word, "ROOT")) return syntax(word, "ROOT");
    if (!open_bone()) return false;
    while (bone_ >= 0)
      if (!read_member()) return false;
    if (same_word(words_.peek(), "ROOT")) {
      words_.next();
      return report_.fail(words_.line(), kTree, {}, "there is a second ROOT",
                          "put each skeleton into a file of its own");
    }
    return true;
  }

  bool open_bone() {
    Bone next;
    next.name = words_.rest_of_line();
    next.parent = bone_;
    if (next.name.empty() || !is_clean(next.name))
      return report_.fail(words_.line(), kName, path(), fmt::format("{} is not a valid joint name", quote(next.name)),
                          "write JOINT and a name on one line");
    if (!names_.insert(next.name).second)
      report_.error(words_.line(), kName, "joint " + next.name, "there are two joints of this name",
                    "names must be unique; rename one");
    if (capture_.bones.size() >= kMostBones)
      return report_.fail(words_.line(), kTooMany, path(), fmt::format("there are more than {} joints", kMostBones),
                          "is this the right file?");
    capture_.bones.push_back(std::move(next));
    channels_.push_back({});
    bone_ = static_cast<int>(capture_.bones.size()) - 1;
    const auto word = words_.next();
    return word == "{" || syntax(word, "'{'");
  }

  bool read_member() {
    const auto word = words_.next();
    if (word == "}") {
      bone_ = bone().parent;
      return true;
    }
    if (same_word(word, "OFFSET")) {
      if (const auto offset = read_vector(words_, report_, path() + "/OFFSET")) bone().offset = *offset;
      return true;
    }
    if (same_word(word, "CHANNELS")) return read_channels();
    if (same_word(word, "JOINT")) return open_bone();
    if (same_word(word, "End")) return read_end_site();
    return syntax(word, "OFFSET, CHANNELS, JOINT, End Site or '}'");
  }

  bool read_end_site() {
    words_.rest_of_line();
    if (const auto word = words_.next(); word != "{") return syntax(word, "'{'");
    for (;;) {
      const auto word = words_.next();
      if (word == "}") return true;
      if (!same_word(word, "OFFSET")) return syntax(word, "OFFSET or '}'");
      if (const auto offset = read_vector(words_, report_, path() + "/End Site"))
        if (!bone().tip) bone().tip = *offset;
    }
  }

  bool read_channels() {
    Channels& channels = channels_.back();
    if (bone_ != static_cast<int>(capture_.bones.size()) - 1)
      return report_.fail(words_.line(), kChannels, path(), "the channels come after a child joint",
                          "write CHANNELS before the first JOINT");
    const int line = words_.line();
    const auto stated = words_.next();
    const std::string_view names = words_.rest_of_line();
    Words each(names);
    Channels read;
    int found = 0;
    for (auto word = each.next(); !word.empty(); word = each.next(), ++found) {
      const std::optional<int> kind = channel_kind(word);
      if (!kind || read.has(*kind)) {
        report_.error(line, kChannels, path(),
                      fmt::format("channel {} is {}", quote(word), kind ? "named twice" : "not known"),
                      "known: Xposition Yposition Zposition Xrotation Yrotation Zrotation");
        return true;
      }
      read.kind[static_cast<std::size_t>(read.count++)] = *kind;
    }
    if (read_number(stated) != static_cast<double>(found)) {
      report_.error(line, kChannels, path(), fmt::format("CHANNELS says {}, and {} follow", quote(stated), found),
                    "count the names on this line");
      return true;
    }
    channels = read;
    bone().order = order_of(channels);
    bone().moves = channels.has(0) || channels.has(1) || channels.has(2);
    return true;
  }

  void read_motion() {
    if (const auto word = words_.next(); !same_word(word, "MOTION")) {
      syntax(word, "MOTION");
      return;
    }
    const std::optional<long> stated = read_frame_count();
    const bool timed = stated && read_frame_time();
    if (timed && !report_.failed()) read_frames(*stated);
  }

  /// "Frames: N" in one or two words.
  std::optional<long> read_frame_count() {
    auto word = words_.next();
    if (same_word(word, "Frames")) word = words_.next() == ":" ? "Frames:" : "";
    if (!same_word(word, "Frames:")) {
      syntax(word, "Frames:");
      return std::nullopt;
    }
    const auto count = words_.next();
    const std::optional<double> value = read_number(count);
    constexpr double kMostBvhFrames = 1e9;  // three months at 120 Hz; what follows is counted anyway
    if (!value || *value < 1 || *value != std::floor(*value) || *value > kMostBvhFrames)
      return report_.refuse(words_.line(), kFrameCount, "MOTION",
                            fmt::format("{} is not a number of frames", quote(count)),
                            "write how many lines of values follow, one or more");
    return static_cast<long>(*value);
  }

  bool read_frame_time() {
    if (const auto word = words_.next(); !same_word(word, "Frame")) return syntax(word, "Frame Time:");
    auto word = words_.next();
    if (same_word(word, "Time")) word = words_.next() == ":" ? "Time:" : "";
    if (!same_word(word, "Time:")) return syntax(word, "Time:");
    const auto time = words_.next();
    const std::optional<double> value = read_number(time);
    constexpr double kShortestFrame = 1e-6, kLongestFrame = 1e3;  // [s] no camera is faster, no motion slower
    if (!value || !(*value >= kShortestFrame && *value <= kLongestFrame))
      return report_.fail(words_.line(), kFrameTime, "MOTION", fmt::format("the frame time is {}", quote(time)),
                          number_hint(time, "write the seconds between two frames, 1e-6 to 1000, e.g. 0.008333"));
    capture_.frame_time = *value;
    return true;
  }

  void read_frames(long stated) {
    std::size_t width = 0;
    for (const Channels& c : channels_) width += static_cast<std::size_t>(c.count);
    std::string_view text = words_.rest_of_text();
    int line = words_.line();
    const std::size_t most = most_poses(text);
    std::vector<double> values(width);
    long frame = 0, surplus = 0;
    for (; !text.empty(); ++line) {
      const std::string_view row = trim(next_line(text));
      if (row.empty()) continue;
      if (frame >= stated) {
        ++surplus;
        continue;
      }
      if (parse_numbers(row, values) || !sensible(values)) {
        bad_frame(line, frame, row, values.size(), trim(text).empty());
        if (report_.full()) return;
      } else if (!report_.failed()) {
        if (capture_.poses.size() + capture_.bones.size() > most)
          return report_.error(line, kTooMany, "MOTION", fmt::format("there are more than {} poses of bones", most),
                               "joints without channels are too many for so many frames");
        add_frame(values);
      }
      ++frame;
    }
    if (surplus > 0)
      report_.warn(line - 1, kSurplus, "MOTION", fmt::format("{} lines follow after frame {}", surplus, stated),
                   "they are ignored; correct 'Frames:' to use them");
    if (frame < stated)
      report_.error(line, kTruncated, "MOTION", fmt::format("the file ends after {} of {} frames", frame, stated),
                    "the file is truncated; get a complete copy, or correct 'Frames:'");
  }

  static bool sensible(const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double v) { return std::abs(v) <= kLargestNumber; });
  }

  /// Says which value of which joint it is.
  void bad_frame(int line, long frame, std::string_view row, std::size_t width, bool last) {
    const auto path = [&](std::size_t i) {
      for (std::size_t b = 0; b < channels_.size(); ++b) {
        const auto count = static_cast<std::size_t>(channels_[b].count);
        if (i < count) return fmt::format("frame {}, joint {}", frame, capture_.bones[b].name);
        i -= count;
      }
      return fmt::format("frame {}", frame);
    };
    Words each(row);
    std::size_t found = 0;
    for (auto word = each.next(); !word.empty(); word = each.next(), ++found) {
      if (read_number(word)) continue;
      return report_.error(line, kNumber, path(found),
                           fmt::format("value {} is {}, {}", found + 1, quote(word), kNoNumber),
                           number_hint(word, "correct the value or remove the frame"));
    }
    report_.error(
        line, last && found < width ? kTruncated : kFrame, path(found),
        fmt::format("the frame has {} values, the channels of the joints are {}", found, width),
        last && found < width ? "the file was cut off within this frame" : "one line per frame, one value per channel");
  }

  void add_frame(const std::vector<double>& values) {
    std::size_t at = 0;
    for (std::size_t b = 0; b < channels_.size(); ++b) {
      const Bone& bone = capture_.bones[b];
      double p[3] = {bone.offset.x, bone.offset.y, bone.offset.z}, turn[3] = {};
      for (int i = 0; i < channels_[b].count; ++i) {
        const int kind = channels_[b].kind[static_cast<std::size_t>(i)];
        const double value = values[at++];
        if (kind < 3) {
          p[kind] = value;
        } else {
          turn[kind - 3] = kDegree * value;
        }
      }
      const std::string_view letters = to_string(bone.order);
      const Vec3<> angles{turn[letters[0] - 'X'], turn[letters[1] - 'X'], turn[letters[2] - 'X']};
      capture_.poses.push_back({to_quaternion(from_euler(bone.order, angles)), {p[0], p[1], p[2]}});
    }
  }

  Words words_;
  Report report_;
  Capture capture_;
  std::vector<Channels> channels_;  ///< one per bone
  std::set<std::string, std::less<>> names_;
  int bone_ = -1;  ///< that is open
};

}  // namespace

Loaded<Capture> parse_bvh(std::string_view text, const std::string& file_name, const CaptureOptions& options) {
  const std::string_view content = without_mark(text);
  return BvhReader(content, file_name).read(content, options);
}

Loaded<Capture> read_bvh(const std::filesystem::path& file, const CaptureOptions& options) {
  return parse_file(file, kFileCodes, [&](const std::string& text) { return parse_bvh(text, file.string(), options); });
}

}  // namespace kansetsu::io
