#include <algorithm>
#include <cmath>
#include <map>

#include "io/capture/capture_codes.h"
#include "io/measured/measured_table.h"
#include "io/number.h"
#include "io/text.h"
#include "kansetsu/io/measured.h"

/// Track row column files: markers over time.
namespace kansetsu::io {
namespace {

using namespace capture;

const std::map<std::string, double>& units() {
  static const std::map<std::string, double> kUnits{{"mm", 1e-3}, {"cm", 1e-2},   {"dm", 0.1},
                                                    {"m", 1},     {"in", 0.0254}, {"ft", 0.3048}};
  return kUnits;
}

class TrcReader {
 public:
  TrcReader(std::string_view text, const std::string& file) : lines_(text), text_(text), report_(file) {
    out_.file = file;
    out_.name = stem_of(file);
  }

  Loaded<Measurement> read() {
    if (check_text(text_, report_, "TRC") && read_header() && read_names()) read_rows();
    return loaded(std::move(out_), report_.take());
  }

 private:
  bool read_header() {
    const std::string_view first = lines_.next();
    if (!trim(first).starts_with("PathFileType"))
      return report_.fail(1, kForeign, {}, fmt::format("the file begins with {}", quote(trim(first).substr(0, 30))),
                          "a TRC file begins with PathFileType");
    const std::vector<std::string_view> keys = split_words(lines_.next()), values = split_words(lines_.next());
    std::map<std::string, std::string_view, std::less<>> header;
    for (std::size_t i = 0; i < std::min(keys.size(), values.size()); ++i) header[std::string(keys[i])] = values[i];
    if (const auto rate = read_number(header["DataRate"])) out_.markers.rate = std::max(0.0, *rate);
    if (const auto start = read_number(header["OrigDataStartFrame"])) out_.markers.first_frame = int(*start);
    if (const auto frames = read_number(header["NumFrames"])) frames_ = *frames;
    if (const auto markers = read_number(header["NumMarkers"])) markers_ = *markers;
    const auto unit = std::find_if(units().begin(), units().end(),
                                   [&](const auto& u) { return same_word(u.first, header["Units"]); });
    if (unit == units().end())
      return report_.fail(3, kHeader, "Units", fmt::format("{} is not a unit of length", quote(header["Units"])),
                          "known: mm, cm, dm, m, in, ft; the third line has the values of the second");
    out_.markers.unit = unit->second;
    return true;
  }

  bool read_names() {
    const std::vector<std::string_view> cells = split_cells(lines_.next());
    if (cells.size() < 3 || !cells[0].starts_with("Frame"))
      return report_.fail(lines_.line(), kColumns, {}, "the fourth line does not name frame, time and markers",
                          "e.g. Frame#, Time, then each marker's name and two empty cells");
    for (std::size_t i = 2; i < cells.size(); ++i)
      if (!cells[i].empty()) out_.markers.names.emplace_back(cells[i]);
    make_unique(out_.markers.names, report_, lines_.line());
    if (markers_ && *markers_ != double(out_.markers.names.size()))
      report_.warn(lines_.line(), kCount, {},
                   fmt::format("the header states {} markers, but {} are named", *markers_, out_.markers.names.size()),
                   "the names are used");
    lines_.next();  // X1 Y1 Z1 …
    return true;
  }

  void read_rows() {
    Markers& m = out_.markers;
    const std::size_t wanted = 2 + 3 * m.names.size();
    while (!lines_.done() && !report_.full()) {
      const std::string_view line = lines_.next();
      if (trim(line).empty()) continue;
      std::vector<std::string_view> cells = split_cells(line);
      if (cells.size() > wanted) cells = split_words(line);
      if (cells.size() < 2 || cells.size() > wanted) {
        report_.error(lines_.line(), kFrame, {}, fmt::format("{} values, expected {}", cells.size(), wanted),
                      "each row has frame, time and three numbers per marker");
        continue;
      }
      cells.resize(wanted);  // what is missing at the end was not seen
      const std::optional<double> time = read_number(cells[1]);
      if (!time) {
        report_.error(lines_.line(), kNumber, "Time", fmt::format("{} is {}", quote(cells[1]), kNoNumber),
                      number_hint(cells[1], "each row has a time"));
        continue;
      }
      if (!m.times.empty() && !(*time > m.times.back())) {
        report_.error(lines_.line(), kTimes, {}, fmt::format("time {} s comes after {} s", *time, m.times.back()),
                      "times rise from row to row");
        continue;
      }
      m.times.push_back(*time);
      if (m.points.size() + m.names.size() > most_poses(text_))
        return report_.error(
            lines_.line(), kTooMany, {},
            fmt::format("{} markers in {} frames are more than the file has numbers", m.names.size(), m.frames()),
            "rows have three numbers per marker");
      for (std::size_t i = 0; i < m.names.size(); ++i) add_point(cells, i);
    }
    if (!report_.failed() && m.times.empty())
      report_.error(lines_.line(), kTruncated, {}, "there are no rows of numbers", "is the file truncated?");
    if (report_.failed()) return;
    if (frames_ && *frames_ != m.frames())
      report_.warn(0, kCount, {}, fmt::format("the header states {} frames, but there are {}", *frames_, m.frames()),
                   "the rows are used; is the file truncated?");
    settle_markers(m, report_);
    settle_rate();
  }

  /// Times count; who reads the rate alone gets another motion.
  void settle_rate() {
    Markers& m = out_.markers;
    constexpr double kOff = 0.05;  // of the rate: times have three digits
    const double real = rate_of(m.times);
    if (real > 0 && m.rate > 0 && std::abs(m.rate - real) > kOff * real)
      report_.warn(3, kDoubt, "DataRate", fmt::format("the header states {:g} Hz, the times {:.4g} Hz", m.rate, real),
                   "the times are used");
    if (real > 0 && !(std::abs(m.rate - real) <= kOff * real)) m.rate = real;
  }

  void add_point(const std::vector<std::string_view>& cells, std::size_t marker) {
    double x[3];
    for (std::size_t c = 0; c < 3; ++c) {
      const std::optional<double> value = read_cell(cells[2 + 3 * marker + c]);
      if (!value)
        report_.error(lines_.line(), kNumber, out_.markers.names[marker],
                      fmt::format("{} is {}", quote(cells[2 + 3 * marker + c]), kNoNumber),
                      number_hint(cells[2 + 3 * marker + c], "an empty cell or nan means a missing marker"));
      x[c] = value.value_or(0);
    }
    out_.markers.points.push_back(out_.markers.unit * Vec3<>{x[0], x[1], x[2]});
  }

  Lines lines_;
  std::string_view text_;
  Report report_;
  Measurement out_;
  std::optional<double> frames_, markers_;
};

}  // namespace

Loaded<Measurement> parse_trc(std::string_view text, const std::string& file_name) {
  return TrcReader(text, file_name).read();
}

std::string to_trc(const Markers& m, const std::string& name) {
  const auto unit = std::find_if(units().begin(), units().end(), [&](const auto& u) { return u.second == m.unit; });
  const double length = unit == units().end() ? 1e-3 : m.unit;
  std::string out = fmt::format(
      "PathFileType\t4\t(X/Y/Z)\t{}\n"
      "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
      "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\nFrame#\tTime",
      name, format_number(m.rate), format_number(m.rate), m.frames(), m.names.size(),
      unit == units().end() ? "mm" : unit->first, format_number(m.rate), m.first_frame, m.frames());
  for (const std::string& marker : m.names) out += '\t' + marker + "\t\t";
  out += "\n\t";
  for (std::size_t i = 1; i <= m.names.size(); ++i) out += fmt::format("\tX{0}\tY{0}\tZ{0}", i);
  out += "\n\n";
  for (int k = 0; k < m.frames(); ++k) {
    out += fmt::format("{}\t{}", m.first_frame + k, format_number(m.times[std::size_t(k)]));
    for (std::size_t i = 0; i < m.names.size(); ++i) {
      const Vec3<>& p = m.point(k, int(i));
      for (const double x : {p.x, p.y, p.z}) out += Markers::seen(p) ? '\t' + format_number(x / length) : "\t";
    }
    out += '\n';
  }
  return out;
}

std::vector<Diagnostic> write_trc(const Markers& markers, const std::filesystem::path& file) {
  return write_text(file, to_trc(markers, file.filename().string()));
}

bool names_measurement(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return same_word(ending, ".c3d") || same_word(ending, ".trc");
}

bool names_table(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  return same_word(ending, ".mot") || same_word(ending, ".sto");
}

Loaded<Measurement> read_measurement(const std::filesystem::path& file) {
  if (!names_measurement(file))
    return {std::nullopt,
            {about_file(Severity::kError, kUnknownFormat, file, "unknown file name extension for markers",
                        "known: .c3d, .trc")}};
  const bool c3d = same_word(file.extension().string(), ".c3d");
  return parse_file(file, kFileCodes, [&](const std::string& bytes) {
    return c3d ? parse_c3d(bytes, file.string()) : parse_trc(bytes, file.string());
  });
}

}  // namespace kansetsu::io
