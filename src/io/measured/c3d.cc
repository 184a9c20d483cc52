#include <algorithm>
#include <cmath>
#include <limits>

#include "base/lookup.h"
#include "io/capture/capture_codes.h"
#include "io/measured/c3d_format.h"
#include "io/measured/c3d_plates.h"
#include "io/measured/measured_table.h"
#include "io/text.h"
#include "kansetsu/io/measured.h"

namespace kansetsu::io {
namespace {

using namespace capture;
using c3d::Bytes;
using c3d::kBlock;
using c3d::Parameter;
using c3d::Parameters;
using c3d::Processor;

/// How the frames lie in the file.
struct Layout {
  int points = 0, signals = 0, samples = 0;  ///< markers, analog signals, samples of each per frame
  int first = 1;
  long frames = 0;
  double rate = 0, scale = 1;  ///< [Hz]; of whole numbers, negative: floating point
  std::size_t start = 0;       ///< of the data

  bool real() const { return scale < 0; }
  std::size_t frame_size() const {
    return (4 * std::size_t(points) + std::size_t(signals) * std::size_t(samples)) * (real() ? 4 : 2);
  }
};

double unit_of(const Parameters& parameters, Report& report) {
  const auto found = parameters.find("POINT:UNITS");
  const std::string name = found == parameters.end() || found->second.texts.empty() ? "" : found->second.texts[0];
  if (same_word(name, "m")) return 1;
  if (same_word(name, "cm")) return 1e-2;
  if (same_word(name, "dm")) return 0.1;
  if (same_word(name, "in")) return 0.0254;
  if (!same_word(name, "mm"))
    report.warn(0, kGuess, "POINT:UNITS", fmt::format("{} is not a unit of length", quote(name)), "mm is assumed");
  return 1e-3;
}

class C3dReader {
 public:
  C3dReader(std::string_view bytes, const std::string& file) : bytes_(bytes), report_(file) {
    out_.file = file;
    out_.name = stem_of(file);
  }

  Loaded<Measurement> read() {
    if (read_parameters() && read_layout()) {
      read_names();
      read_frames();
      if (!report_.failed()) {
        settle_markers(out_.markers, report_);
        out_.plates = c3d::read_plates(parameters_, out_.analog, out_.markers.unit, report_);
        read_events();
      }
    }
    return loaded(std::move(out_), report_.take());
  }

 private:
  bool read_parameters() {
    if (bytes_.size() < 2 * kBlock || bytes_.byte(1) != 0x50 || bytes_.byte(0) == 0)
      return report_.fail(0, kForeign, {}, bytes_.size() == 0 ? "the file is empty" : "not a C3D file",
                          "a C3D file has 80 as its second byte, and at least two blocks of 512 bytes");
    const std::size_t start = (std::size_t(bytes_.byte(0)) - 1) * kBlock;
    const std::uint8_t processor = bytes_.byte(start + 3);
    if (bytes_.bad || processor < 84 || processor > 86)
      return report_.fail(0, kHeader, {}, fmt::format("processor {} is not known", processor),
                          "84 is Intel, 85 DEC, 86 SGI; the file is damaged");
    bytes_.processor = Processor(processor);
    parameters_ = c3d::read_parameters(bytes_, start, report_);
    return !report_.failed();
  }

  double number(const char* key, double otherwise, std::size_t i = 0) const {
    const Parameter* found = find_in(parameters_, std::string_view(key));
    return found ? found->number(i, otherwise) : otherwise;
  }
  /// Words of parameters are signed, counts are not. What is no count at all is a very large one: nothing has that many.
  static double unsigned_word(double x) {
    constexpr double kMost = 1 << 30;
    if (!(std::abs(x) < kMost)) return kMost;
    return x < 0 && x >= -32768 ? x + 65536 : x;
  }

  bool read_layout() {
    Layout& l = layout_;
    l.points = int(unsigned_word(number("POINT:USED", bytes_.count(2))));
    const int per_frame = bytes_.count(4);
    l.samples = bytes_.count(18);
    l.signals = l.samples > 0 ? per_frame / l.samples : 0;
    if (l.signals == 0) l.samples = 0;
    if (const double used = unsigned_word(number("ANALOG:USED", l.signals)); int(used) != l.signals && l.signals > 0)
      report_.warn(0, kCount, "ANALOG:USED", fmt::format("{} signals, but the header states {}", used, l.signals),
                   "the header is used");
    l.first = bytes_.count(6);
    l.scale = number("POINT:SCALE", bytes_.real(12));
    l.rate = number("POINT:RATE", bytes_.real(20));
    const double block = unsigned_word(number("POINT:DATA_START", bytes_.count(16)));
    if (l.points != bytes_.count(2))
      return report_.fail(0, kHeader, "POINT:USED",
                          fmt::format("{} points, but the header states {}", l.points, bytes_.count(2)),
                          "the file is damaged");
    constexpr double kFastest = 1e6;  // [Hz] no camera is faster
    if (!(l.rate > 0) || !(l.rate <= kFastest))
      return report_.fail(0, kFrameTime, "POINT:RATE", fmt::format("{} frames per second", l.rate),
                          "a rate above zero is needed");
    if (l.scale == 0 || !std::isfinite(l.scale))
      return report_.fail(0, kHeader, "POINT:SCALE", fmt::format("a scale of {}", l.scale),
                          "it is positive for whole numbers and negative for floating point");
    if (!(block >= 1) || (std::size_t(block) - 1) * kBlock > bytes_.size())
      return report_.fail(0, kTruncated, "POINT:DATA_START", fmt::format("the frames begin in block {}", block),
                          "there is no such block; the file is truncated");
    l.start = (std::size_t(block) - 1) * kBlock;
    return count_frames();
  }

  /// Counts of 16 bits do not reach for long trials: TRIAL has two words each.
  bool count_frames() {
    Layout& l = layout_;
    const std::size_t room = l.frame_size() > 0 ? (bytes_.size() - l.start) / l.frame_size() : 0;
    const long header = long(bytes_.count(8)) - l.first + 1;
    const auto wide = [&](const char* key) {
      return unsigned_word(number(key, 0, 0)) + 65536 * unsigned_word(number(key, 0, 1));
    };
    const long trial = long(wide("TRIAL:ACTUAL_END_FIELD") - wide("TRIAL:ACTUAL_START_FIELD")) + 1;
    const double whole = unsigned_word(number("POINT:LONG_FRAMES", 0)),
                 point = unsigned_word(number("POINT:FRAMES", 0));
    l.frames = header;
    if (parameters_.contains("TRIAL:ACTUAL_END_FIELD") && trial > header && std::size_t(trial) <= room)
      l.frames = trial;
    else if (whole > double(header) && whole <= double(room))
      l.frames = long(whole);
    else if (point > double(header) && point <= double(room))
      l.frames = long(point);
    if (l.frame_size() == 0)
      return report_.fail(0, kFrameCount, {}, "the file has neither points nor signals", "nothing was measured");
    if (l.frames < 1)
      return report_.fail(0, kFrameCount, {}, fmt::format("frames {} to {}", l.first, bytes_.count(8)),
                          "the last frame does not come before the first");
    if (std::size_t(l.frames) > room)
      return report_.fail(0, kTruncated, {}, fmt::format("{} frames, the file has room for {}", l.frames, room),
                          "the file is cut off");
    return true;
  }

  void read_names() {
    Markers& m = out_.markers;
    const auto take = [](std::vector<std::string> names, int count, const char* noun) {
      names.resize(std::size_t(count));
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].empty()) names[i] = fmt::format("{} {}", noun, i + 1);
      return names;
    };
    m.names = take(c3d::texts_of(parameters_, "POINT", "LABELS"), layout_.points, "point");
    make_unique(m.names, report_, 0);
    m.unit = unit_of(parameters_, report_);
    m.rate = layout_.rate;
    m.first_frame = layout_.first;
    out_.analog.name = out_.name, out_.analog.file = out_.file;
    out_.analog.columns = take(c3d::texts_of(parameters_, "ANALOG", "LABELS"), layout_.signals, "signal");
    make_unique(out_.analog.columns, report_, 0);
  }

  void read_frames() {
    const Layout& l = layout_;
    const std::vector<double> scales = c3d::numbers_of(parameters_, "ANALOG", "SCALE"),
                              offsets = c3d::numbers_of(parameters_, "ANALOG", "OFFSET");
    const double general = number("ANALOG:GEN_SCALE", 1);
    const auto format = parameters_.find("ANALOG:FORMAT");
    const bool is_unsigned =
        format != parameters_.end() && !format->second.texts.empty() && same_word(format->second.texts[0], "UNSIGNED");
    Markers& m = out_.markers;
    m.points.reserve(std::size_t(l.frames) * std::size_t(l.points));
    out_.analog.values.resize(l.signals, l.frames * l.samples);
    std::size_t at = l.start;
    for (long k = 0; k < l.frames; ++k) {
      m.times.push_back(double(k) / l.rate);
      for (int i = 0; i < l.points; ++i) m.points.push_back(read_point(at));
      for (int s = 0; s < l.samples; ++s) {
        out_.analog.times.push_back((double(k) + double(s) / l.samples) / l.rate);
        for (int c = 0; c < l.signals; ++c) {
          const std::size_t i = std::size_t(c);
          double raw = l.real() ? bytes_.real(at) : bytes_.word(at);
          double offset = i < offsets.size() ? offsets[i] : 0;
          if (is_unsigned) offset = unsigned_word(offset);
          if (is_unsigned && !l.real()) raw = unsigned_word(raw);
          at += l.real() ? 4 : 2;
          out_.analog.values(c, k * l.samples + s) = (raw - offset) * (i < scales.size() ? scales[i] : 1) * general;
        }
      }
    }
  }

  Vec3<> read_point(std::size_t& at) {
    const bool real = layout_.real();
    const std::size_t size = real ? 4 : 2;
    double x[4];
    for (double& value : x) {
      value = real ? bytes_.real(at) : bytes_.word(at);
      at += size;
    }
    const double scale = out_.markers.unit * (real ? 1 : layout_.scale);
    if (x[3] < 0 || !std::isfinite(x[0] + x[1] + x[2])) {
      constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
      return {kNothing, kNothing, kNothing};
    }
    return scale * Vec3<>{x[0], x[1], x[2]};
  }

  /// Of the group EVENT, or of the header where there is none. Times of files count from the first frame of the trial.
  void read_events() {
    const double begin = (layout_.first - 1) / layout_.rate;
    const std::vector<std::string> labels = c3d::texts_of(parameters_, "EVENT", "LABELS"),
                                   contexts = c3d::texts_of(parameters_, "EVENT", "CONTEXTS");
    const std::vector<double> times = c3d::numbers_of(parameters_, "EVENT", "TIMES");  // minutes, seconds
    const std::size_t used =
        std::min(times.size() / 2, std::size_t(std::max(0.0, unsigned_word(number("EVENT:USED", 0)))));
    for (std::size_t i = 0; i < used; ++i) {
      const auto text = [&](const std::vector<std::string>& names) { return i < names.size() ? names[i] : ""; };
      out_.events.push_back({60 * times[2 * i] + times[2 * i + 1] - begin, text(labels), text(contexts)});
    }
    if (used == 0 && bytes_.count(298) == 12345) {
      const int count = std::min<int>(bytes_.count(300), 18);
      for (std::size_t i = 0; i < std::size_t(count); ++i)
        out_.events.push_back(
            {bytes_.real(304 + 4 * i) - begin, std::string(trim(repair_utf8(bytes_.text(396 + 4 * i, 4)))), ""});
    }
    std::erase_if(out_.events, [](const MotionEvent& e) { return !std::isfinite(e.time); });
    std::ranges::stable_sort(out_.events, [](const MotionEvent& a, const MotionEvent& b) { return a.time < b.time; });
  }

  Bytes bytes_;
  Report report_;
  Parameters parameters_;
  Layout layout_;
  Measurement out_;
};

}  // namespace

Loaded<Measurement> parse_c3d(std::string_view bytes, const std::string& file_name) {
  return C3dReader(bytes, file_name).read();
}

}  // namespace kansetsu::io
