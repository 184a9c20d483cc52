#include "cli/controls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/suggest.h"
#include "cli/table.h"

namespace kansetsu::cli {
namespace {

std::optional<double> number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '+')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(x)) return std::nullopt;
  return x;
}

struct Input {
  FigureId figure;
  std::string actuator;
};

/// An actuator by its name, or by FIGURE/NAME if several figures have one of that name.
Input find(const World& world, const std::string& name, const std::string& where) {
  std::vector<Input> found;
  std::vector<std::string> known;
  for (int i = 0; i < world.figure_count(); ++i) {
    for (const ActuatorReport& a : world.actuators(FigureId(i))) {
      const std::string own(a.name), full = world.name(FigureId(i)) + "/" + own;
      if (name == own || name == full) found.push_back({FigureId(i), own});
      known.push_back(own);
    }
  }
  if (found.size() == 1) return found[0];
  if (found.size() > 1)
    throw Failure(kBadUsage, fmt::format("{}: {} figures have an actuator '{}'; write FIGURE/{}", where, found.size(),
                                         name, name));
  throw Failure(kBadUsage,
                fmt::format("{}: there is no actuator '{}'; {}", where, name,
                            known.empty() ? "the scene has none" : fmt::format("known: {}", fmt::join(known, ", "))));
}

std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find(',', begin);
    std::string cell(line.substr(begin, end == std::string_view::npos ? end : end - begin));
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r')) cell.pop_back();
    while (!cell.empty() && cell.front() == ' ') cell.erase(0, 1);
    out.push_back(std::move(cell));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

}  // namespace

void set_controls(World& world, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::size_t at = text.rfind('=');
    const auto value = at == std::string::npos ? std::nullopt : number(std::string_view(text).substr(at + 1));
    if (!value) throw Failure(kBadUsage, fmt::format("--control {}: expected NAME=NUMBER", text));
    const Input input = find(world, text.substr(0, at), "--control");
    world.set_control(input.figure, input.actuator, *value);
  }
}

ControlTable::ControlTable(const std::string& file, const World& world) {
  const std::string text = read_input(file);
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  int line_number = 0;
  bool header = true;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || line.front() == '#') continue;
    const std::vector<std::string> words = cells(line);
    const auto where = fmt::format("{}:{}", file, line_number);
    if (header) {
      if (words.empty() || words[0] != "time")
        throw Failure(kBadUsage, fmt::format("{}: the first column is not 'time'", where));
      for (std::size_t i = 1; i < words.size(); ++i) {
        const Input input = find(world, words[i], where);
        columns_.push_back({input.figure, input.actuator});
      }
      header = false;
      continue;
    }
    if (words.size() != columns_.size() + 1)
      throw Failure(kBadUsage, fmt::format("{}: {} cells, but {} columns", where, words.size(), columns_.size() + 1));
    std::vector<double>& row = rows_.emplace_back();
    for (const std::string& word : words) {
      const auto x = number(word);
      if (!x) throw Failure(kBadUsage, fmt::format("{}: '{}' is not a number", where, word));
      row.push_back(*x);
    }
    if (rows_.size() > 1 && !(row[0] > rows_[rows_.size() - 2][0]))
      throw Failure(kBadUsage, fmt::format("{}: times must increase", where));
  }
  if (header) throw Failure(kBadUsage, fmt::format("{}: there is no header line with column names", file));
}

void ControlTable::apply(World& world) {
  const double now = world.time() + 1e-9 * world.time_step();
  std::size_t row = next_;
  while (row < rows_.size() && rows_[row][0] <= now) ++row;
  if (row == next_) return;
  next_ = row;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    world.set_control(columns_[i].figure, columns_[i].actuator, rows_[row - 1][i + 1]);
}

SensorValues sensors_of(const World& world) {
  SensorValues out;
  for (const std::string& name : world.sensor_names()) out.emplace_back(name, world.sensor(name));
  return out;
}

SensorValues sensors_now(World& world) {
  if (world.sensor_names().empty()) return {};
  const Snapshot before = world.save();
  world.sense();
  SensorValues out = sensors_of(world);
  world.restore(before);
  return out;
}

std::string sensors_as_json(const SensorValues& values) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, numbers] : values) {
    json.key(name).array(numbers);
  }
  return json.end_object().take();
}

std::string actuator_table(const World& world) {
  std::vector<std::vector<std::string>> rows;
  const auto text = [](double x) { return fmt::format("{:.6g}", x); };
  for (int i = 0; i < world.figure_count(); ++i) {
    for (const ActuatorReport& a : world.actuators(FigureId(i))) {
      rows.push_back({world.name(FigureId(i)) + "/" + std::string(a.name), "control " + text(a.control),
                      "length " + text(a.length), "force " + text(a.force), "power " + text(a.power) + " W",
                      a.clamped ? "clamped" : ""});
    }
  }
  return rows.empty() ? "" : table(rows);
}

void write_actuators(const World& world, JsonWriter& json) {
  json.begin_array();
  for (int i = 0; i < world.figure_count(); ++i) {
    for (const ActuatorReport& a : world.actuators(FigureId(i))) {
      json.begin_object().entry("figure", world.name(FigureId(i))).entry("name", std::string(a.name));
      json.entry("control", a.control).entry("activation", a.activation).entry("length", a.length);
      json.entry("velocity", a.velocity).entry("force", a.force).entry("power", a.power);
      json.entry("clamped", a.clamped).end_object();
    }
  }
  json.end_array();
}

}  // namespace kansetsu::cli
