#include "cli/measured.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/table.h"
#include "kansetsu/base/error.h"

namespace kansetsu::cli {
namespace {

constexpr const char* kAxisNames[] = {"x", "y", "z"};

/// The number of frames in which a marker was not seen.
int gaps_of(const Markers& m, int marker) {
  int gaps = 0;
  for (int k = 0; k < m.frames(); ++k) gaps += !Markers::seen(m.point(k, marker));
  return gaps;
}

double peak_of(const ForcePlate& plate) {
  double most = 0;
  for (const Vec3<>& f : plate.force) most = std::max(most, dot(f, plate.normal()));
  return most;
}

TimeTable marker_table(const Markers& m) {
  TimeTable out{.columns = {}, .times = m.times};
  out.values.resize(long(3 * m.names.size()), m.frames());
  for (std::size_t i = 0; i < m.names.size(); ++i) {
    for (const char* axis : kAxisNames) out.columns.push_back(m.names[i] + "." + axis);
    for (int k = 0; k < m.frames(); ++k) {
      const Vec3<>& p = m.point(k, int(i));
      out.values.col(k).segment<3>(long(3 * i)) << p.x, p.y, p.z;
    }
  }
  return out;
}

OsimFigure figure_of(io::OsimModel&& osim) {
  return {
      {value_or_throw(Model::build(std::move(osim.model))), std::move(osim.map)}, std::move(osim.actuation), osim.axes};
}

}  // namespace

Measurement measurement_or_fail(const std::string& file) { return value_or_fail(io::read_measurement(file)); }
TimeTable table_or_fail(const std::string& file) { return value_or_fail(io::read_table(file)); }

OsimFigure osim_or_fail(const std::string& file) {
  if (!io::names_osim(file))
    throw Failure(
        kBadUsage,
        fmt::format("tables of coordinates (.mot, .sto) need an OpenSim model: --figure MODEL.osim, not '{}'", file));
  return figure_of(value_or_fail(io::read_osim(file)));
}

OsimFigure parse_osim_or_fail(const std::string& text, const std::string& name) {
  return figure_of(value_or_fail(io::parse_osim(text, name)));
}

CoordinateMotion motion_or_fail(const MappedModel& model, const TimeTable& table, double cutoff) {
  const std::string& file = table.file;
  try {
    CoordinateMotion motion = coordinate_motion(model, table, cutoff);
    if (!motion.unknown.empty())
      fmt::print(stderr, "{}: columns that are not coordinates of {}: {}\n", file, model.model().name(),
                 fmt::join(motion.unknown, ", "));
    if (!motion.missing.empty())
      fmt::print(stderr, "{}: coordinates without a column keep their default values: {}\n", file,
                 fmt::join(motion.missing, ", "));
    return motion;
  } catch (const Error& error) {
    throw Failure(kBadFile, fmt::format("{}: {}", file, error.what()));
  }
}

std::string csv_of(const TimeTable& table) {
  std::string out = "time";
  for (const std::string& column : table.columns) out += "," + column;
  out += "\n";
  for (int k = 0; k < table.rows(); ++k) {
    out += fmt::format("{}", table.times[std::size_t(k)]);
    for (long c = 0; c < table.values.rows(); ++c) out += fmt::format(",{}", table.values(c, k));
    out += "\n";
  }
  return out;
}

std::string measurement_text(const Measurement& measured) {
  const Markers& m = measured.markers;
  std::string text = fmt::format("measurement {}\n  {} frames, {:g} s at {:g} Hz, {} markers, unit {:g} m, {} up\n",
                                 measured.name, m.frames(), m.times.empty() ? 0 : m.times.back() - m.times.front(),
                                 m.rate, m.names.size(), m.unit, kAxisNames[int(guess_up(measured))]);
  if (!measured.analog.columns.empty())
    text += fmt::format("  {} signals, {} samples each\n", measured.analog.columns.size(), measured.analog.rows());
  std::vector<std::vector<std::string>> rows{{"plate", "type", "middle [m]", "largest force [N]"}};
  for (std::size_t i = 0; i < measured.plates.size(); ++i) {
    const ForcePlate& plate = measured.plates[i];
    const Vec3<> c = plate.centre();
    rows.push_back({std::to_string(i + 1), std::to_string(plate.type),
                    fmt::format("{:.3f} {:.3f} {:.3f}", c.x, c.y, c.z), fmt::format("{:.1f}", peak_of(plate))});
  }
  if (rows.size() > 1) text += "\n" + table(rows);
  rows = {{"event", "side", "at [s]"}};
  for (const MotionEvent& e : measured.events) rows.push_back({e.label, e.context, fmt::format("{:.3f}", e.time)});
  if (rows.size() > 1) text += "\n" + table(rows);
  rows = {{"marker", "frames without it"}};
  for (std::size_t i = 0; i < m.names.size(); ++i) rows.push_back({m.names[i], std::to_string(gaps_of(m, int(i)))});
  return text + "\n" + table(rows);
}

std::string measurement_json(const Measurement& measured) {
  const Markers& m = measured.markers;
  JsonWriter json;
  json.begin_object().entry("name", measured.name).entry("frames", m.frames()).entry("rate", m.rate);
  json.entry("unit", m.unit).entry("up", kAxisNames[int(guess_up(measured))]).key("markers").begin_object();
  for (std::size_t i = 0; i < m.names.size(); ++i) json.entry(m.names[i].c_str(), gaps_of(m, int(i)));
  json.end_object()
      .key("signals")
      .array(measured.analog.columns)
      .entry("samples", measured.analog.rows())
      .key("plates")
      .begin_array();
  for (const ForcePlate& plate : measured.plates) {
    json.line().begin_object().entry("type", plate.type).entry("centre", plate.centre());
    json.entry("largest_force", peak_of(plate)).end_object();
  }
  json.end_array().key("events").begin_array();
  for (const MotionEvent& e : measured.events)
    json.line().begin_object().entry("label", e.label).entry("context", e.context).entry("time", e.time).end_object();
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string table_text(const TimeTable& t) {
  std::string text = fmt::format("table {}\n  {} rows, {:g} to {:g} s, {} columns, angles in {}\n\n", t.name, t.rows(),
                                 t.times.front(), t.times.back(), t.columns.size(), t.degrees ? "degrees" : "radians");
  std::vector<std::vector<std::string>> rows{{"column", "least", "largest"}};
  for (std::size_t c = 0; c < t.columns.size(); ++c) {
    const auto values = t.values.row(long(c));
    rows.push_back({t.columns[c], fmt::format("{:.6g}", values.minCoeff()), fmt::format("{:.6g}", values.maxCoeff())});
  }
  return text + table(rows);
}

std::string table_json(const TimeTable& t) {
  JsonWriter json;
  json.begin_object().entry("name", t.name).entry("rows", t.rows()).entry("degrees", t.degrees);
  json.entry("begin", t.times.front()).entry("end", t.times.back()).key("columns").array(t.columns);
  json.end_object();
  return json.take() + "\n";
}

Exit convert_measurement(const std::string& in, const std::string& out, const std::string& what, double least) {
  const std::string ending = std::filesystem::path(out).extension().string();
  const bool is_table = io::names_table(in);
  if (ending != ".csv" && ending != ".sto" && ending != ".mot" && (is_table || (ending != ".trc" && ending != ".c3d")))
    throw Failure(kBadUsage,
                  fmt::format("kansetsu convert: {}: unknown format for a measurement\n  known: .trc, .c3d, .csv "
                              "(markers), .mot and .sto (forces and signals)",
                              out));
  std::vector<Diagnostic> problems;
  if (is_table) {
    const TimeTable table = table_or_fail(in);
    if (ending != ".csv") problems = io::write_sto(table, out);
    if (ending == ".csv") write_whole(out, csv_of(table));
  } else {
    const Measurement measured = measurement_or_fail(in);
    if (ending == ".trc") problems = io::write_trc(measured.markers, out);
    if (ending == ".c3d") problems = io::write_c3d(measured, out);
    if (ending == ".csv") write_whole(out, csv_of(marker_table(measured.markers)));
    if (ending == ".mot" || ending == ".sto") {
      if (what == "forces" && measured.plates.empty())
        throw Failure(kBadFile, fmt::format("{} has no force plates; --table signals writes its {} signals", in,
                                            measured.analog.columns.size()));
      problems = io::write_sto(what == "forces" ? plate_table(measured, least) : measured.analog, out);
    }
  }
  check_written(problems);
  return kOk;
}

}  // namespace kansetsu::cli
