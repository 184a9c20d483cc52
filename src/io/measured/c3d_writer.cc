#include <algorithm>
#include <cmath>

#include "io/bytes.h"
#include "io/capture/capture_codes.h"
#include "io/measured/c3d_format.h"
#include "io/text.h"
#include "kansetsu/io/measured.h"

/// C3D out: little endian, floating point.
namespace kansetsu::io {
namespace {

using namespace capture;
using c3d::kBlock;

constexpr std::size_t kMostSignals = 255;  ///< of a dimension of a parameter, which is a byte
constexpr long kMostFrames = 65535;

/// Groups and parameters as bytes.
class ParameterWriter {
 public:
  void group(const std::string& name) {
    ++group_;
    begin(name, -group_);
    out_.put<std::int16_t>(3).put<std::uint8_t>(0);
  }
  void texts(const std::string& name, const std::vector<std::string>& values) {
    std::size_t length = 1;
    for (const std::string& v : values) length = std::max(length, std::min<std::size_t>(v.size(), 127));
    ByteWriter data;
    for (const std::string& v : values) {
      std::string cell = v.substr(0, length);
      cell.resize(length, ' ');
      data.raw(cell);
    }
    parameter(name, -1, {length, values.size()}, data.bytes);
  }
  void text(const std::string& name, const std::string& value) { parameter(name, -1, {value.size()}, value); }
  void words(const std::string& name, const std::vector<int>& values, std::vector<std::size_t> dims) {
    ByteWriter data;
    for (const int v : values) data.put(static_cast<std::int16_t>(v));
    parameter(name, 2, dims, data.bytes);
  }
  void reals(const std::string& name, const std::vector<double>& values, std::vector<std::size_t> dims) {
    ByteWriter data;
    for (const double v : values) data.put(static_cast<float>(v));
    parameter(name, 4, dims, data.bytes);
  }
  void word(const std::string& name, int value) { words(name, {value}, {}); }
  void real(const std::string& name, double value) { reals(name, {value}, {}); }
  std::string take() {
    out_.put<std::int8_t>(0).put<std::int8_t>(0);
    return std::move(out_.bytes);
  }

 private:
  void begin(const std::string& name, int id) {
    out_.put(static_cast<std::int8_t>(name.size())).put(static_cast<std::int8_t>(id)).raw(name);
  }
  void parameter(const std::string& name, int type, const std::vector<std::size_t>& dims, const std::string& data) {
    begin(name, group_);
    out_.put(static_cast<std::uint16_t>(2 + 2 + dims.size() + data.size() + 1));
    out_.put(static_cast<std::int8_t>(type)).put(static_cast<std::uint8_t>(dims.size()));
    for (const std::size_t d : dims) out_.put(static_cast<std::uint8_t>(d));
    out_.raw(data).put<std::uint8_t>(0);
  }

  ByteWriter out_;
  int group_ = 0;
};

void pad(std::string& bytes) { bytes.resize((bytes.size() + kBlock - 1) / kBlock * kBlock, '\0'); }

/// LABELS, LABELS2, …: no more than 255 each.
void write_labels(ParameterWriter& out, const std::vector<std::string>& names) {
  for (std::size_t begin = 0, k = 1; begin == 0 || begin < names.size(); begin += kMostSignals, ++k) {
    const std::size_t end = std::min(begin + kMostSignals, names.size());
    out.texts(k == 1 ? "LABELS" : "LABELS" + std::to_string(k),
              {names.begin() + long(begin), names.begin() + long(end)});
  }
}

/// The signals of the file: those that were read, and six for each plate.
struct Signals {
  std::vector<std::string> names{};
  std::vector<std::string> units{};
  std::vector<std::vector<double>> values{};
};

Signals signals_of(const Measurement& m) {
  Signals out;
  const double unit = m.markers.unit;
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    const ForcePlate& plate = m.plates[i];
    const Vec3<> x = plate.corners[0] - plate.corners[1], n = -plate.normal();
    const Vec3<> ex = (1 / norm(x)) * x, ey = cross(n, ex);
    for (int s = 0; s < 6; ++s) {
      out.names.push_back(fmt::format("{}{}{}", s < 3 ? "F" : "M", "xyz"[s % 3], i + 1));
      out.units.push_back(s < 3 ? "N" : unit == 1 ? "Nm" : "Nmm");
      std::vector<double>& column = out.values.emplace_back();
      const Vec3<>& axis = s % 3 == 0 ? ex : s % 3 == 1 ? ey : n;
      for (const Vec3<>& v : s < 3 ? plate.force : plate.moment) column.push_back(dot(v, axis) / (s < 3 ? 1 : unit));
    }
  }
  for (std::size_t c = 0; c < m.analog.columns.size(); ++c) {
    if (std::ranges::find(out.names, m.analog.columns[c]) != out.names.end()) continue;
    out.names.push_back(m.analog.columns[c]);
    out.units.push_back("");
    std::vector<double>& column = out.values.emplace_back();
    for (int k = 0; k < m.analog.rows(); ++k) column.push_back(m.analog.values(long(c), k));
  }
  return out;
}

std::string parameters_of(const Measurement& m, const Signals& signals, int samples, int data_block) {
  ParameterWriter out;
  const std::size_t plates = m.plates.size();
  out.group("POINT");
  out.word("USED", int(m.markers.names.size()));
  out.real("SCALE", -1);
  out.real("RATE", m.markers.rate);
  out.word("DATA_START", data_block);
  out.word("FRAMES", m.markers.frames());
  out.text("UNITS", m.markers.unit == 1 ? "m" : "mm");
  write_labels(out, m.markers.names);
  out.group("ANALOG");
  out.word("USED", int(signals.names.size()));
  out.real("GEN_SCALE", 1);
  out.real("RATE", m.markers.rate * samples);
  out.reals("SCALE", std::vector<double>(signals.names.size(), 1), {signals.names.size()});
  out.words("OFFSET", std::vector<int>(signals.names.size(), 0), {signals.names.size()});
  out.texts("UNITS", signals.units);
  write_labels(out, signals.names);
  out.group("FORCE_PLATFORM");
  out.word("USED", int(plates));
  std::vector<int> channels;
  std::vector<double> corners;
  for (std::size_t i = 0; i < 6 * plates; ++i) channels.push_back(int(i) + 1);
  for (const ForcePlate& plate : m.plates)
    for (const Vec3<>& c : plate.corners)
      for (const double x : {c.x, c.y, c.z}) corners.push_back(x / (m.markers.unit == 1 ? 1 : 1e-3));
  out.words("TYPE", std::vector<int>(plates, 2), {plates});
  out.words("ZERO", {1, 0}, {2});
  out.reals("CORNERS", corners, {3, 4, plates});
  out.reals("ORIGIN", std::vector<double>(3 * plates, 0), {3, plates});
  out.words("CHANNEL", channels, {6, plates});
  out.group("EVENT");
  std::vector<std::string> labels, contexts;
  std::vector<double> times;
  for (const MotionEvent& e : m.events) {
    const double t = e.time + (m.markers.first_frame - 1) / m.markers.rate;
    labels.push_back(e.label), contexts.push_back(e.context);
    times.push_back(std::floor(t / 60)), times.push_back(t - 60 * std::floor(t / 60));
  }
  out.word("USED", int(labels.size()));
  out.texts("CONTEXTS", contexts);
  out.texts("LABELS", labels);
  out.reals("TIMES", times, {2, labels.size()});
  return out.take();
}

std::optional<std::string> problem_of(const Measurement& m, const Signals& signals) {
  if (m.markers.frames() == 0 || !(m.markers.rate > 0)) return "there are no frames, or their rate is not constant";
  if (m.markers.frames() > kMostFrames) return "more than 65535 frames";
  if (signals.names.size() > kMostSignals || m.markers.names.size() > 30000 || m.events.size() > kMostSignals)
    return "more than 255 signals or events";
  if (m.analog.rows() % m.markers.frames() != 0) return "signals are not sampled a whole number of times per frame";
  return std::nullopt;
}

}  // namespace

Loaded<std::string> to_c3d(const Measurement& given) {
  Measurement m = given;
  if (m.markers.unit != 1) m.markers.unit = 1e-3;
  m.markers.first_frame = std::clamp(m.markers.first_frame, 1, int(kMostFrames) - std::min(m.markers.frames(), 60000));
  const Signals signals = signals_of(m);
  if (const auto problem = problem_of(m, signals))
    return {std::nullopt,
            {about_file(Severity::kError, kCannotWrite, m.file, "cannot be written as C3D: " + *problem,
                        "write TRC and STO")}};
  const int samples = m.analog.rows() / m.markers.frames();
  // The first pass tells how many blocks the parameters take.
  const std::size_t blocks = (4 + parameters_of(m, signals, samples, 0).size() + kBlock - 1) / kBlock;
  const int data_block = int(2 + blocks);
  ByteWriter head;
  head.put<std::uint8_t>(2).put<std::uint8_t>(0x50).put(std::uint16_t(m.markers.names.size()));
  head.put(std::uint16_t(signals.names.size() * std::size_t(samples))).put(std::uint16_t(m.markers.first_frame));
  head.put(std::uint16_t(m.markers.first_frame + m.markers.frames() - 1)).put<std::uint16_t>(0).put<float>(-1);
  head.put(std::uint16_t(data_block)).put(std::uint16_t(samples)).put(static_cast<float>(m.markers.rate));
  pad(head.bytes);
  head.put<std::uint8_t>(1).put<std::uint8_t>(0x50).put(std::uint8_t(blocks)).put(std::uint8_t(84));
  head.raw(parameters_of(m, signals, samples, data_block));
  pad(head.bytes);
  for (int k = 0; k < m.markers.frames(); ++k) {
    for (int i = 0; i < int(m.markers.names.size()); ++i) {
      const Vec3<>& p = m.markers.point(k, i);
      const bool seen = Markers::seen(p);
      for (const double x : {p.x, p.y, p.z}) head.put(seen ? static_cast<float>(x / m.markers.unit) : 0.f);
      head.put(seen ? 0.f : -1.f);
    }
    for (int s = 0; s < samples; ++s)
      for (const std::vector<double>& column : signals.values)
        head.put(static_cast<float>(column[std::size_t(k * samples + s)]));
  }
  pad(head.bytes);
  return {std::move(head.bytes), {}};
}

std::vector<Diagnostic> write_c3d(const Measurement& measured, const std::filesystem::path& file) {
  const Loaded<std::string> bytes = to_c3d(measured);
  return bytes ? write_text(file, *bytes.value) : bytes.diagnostics;
}

}  // namespace kansetsu::io
