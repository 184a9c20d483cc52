#include "kansetsu/io/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/file_report.h"
#include "io/number.h"
#include "io/recording/npz_reader.h"
#include "io/recording/recording_codes.h"
#include "io/text.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/model/configuration.h"

namespace kansetsu::io {
namespace {

constexpr int kMostLines = 10;  ///< lines that are reported individually

/// The fields of a CSV line, with quoted fields.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields{""};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"')
        fields.back() += c;
      else if (i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[++i];
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

/// Collects frames of a clip.
class ClipReader {
 public:
  ClipReader(const Model& model, const std::string& file) : model_(model), report_(file, recording::kBadRow) {}

  void error(const char* code, int line, std::string message, std::string hint = {}) {
    report_.error(line, code, {}, std::move(message), std::move(hint));
  }
  /// Reports a problem of a line; after the first ten they are only counted.
  void bad_line(int line, std::string message) {
    if (++bad_lines_ <= kMostLines) error(recording::kBadRow, line, std::move(message));
  }

  void add_frame(double time, const Eigen::VectorXd& q, int line) {
    if (const auto problem = configuration_problem(model_, q)) return bad_line(line, *problem);
    if (!std::isfinite(time)) return bad_line(line, "the time is not a number");
    if (!times_.empty() && time == times_.back()) {
      ++merged_;
      frames_.back() = q;
      return;
    }
    if (!times_.empty() && !(time > times_.back()))
      return bad_line(line, fmt::format("time {} s comes after {} s", time, times_.back()));
    times_.push_back(time);
    frames_.push_back(q);
  }

  Loaded<Clip> finish(std::string name) {
    if (bad_lines_ > kMostLines)
      error(recording::kBadRow, 0, fmt::format("{} frames like that, {} are shown", bad_lines_, kMostLines));
    if (!report_.failed() && times_.empty()) error(recording::kNoFrames, 0, "there are no frames");
    if (merged_ > 0)
      report_.warn(0, recording::kSameTime, {},
                   fmt::format("{} frames with the same time as the next are dropped", merged_));
    if (report_.failed()) return {std::nullopt, report_.take()};
    Clip clip{.name = std::move(name), .times = std::move(times_), .q = {}};
    clip.q.resize(model_.nq(), long(frames_.size()));
    for (std::size_t k = 0; k < frames_.size(); ++k) clip.q.col(long(k)) = frames_[k];
    return {std::move(clip), report_.take()};
  }

 private:
  const Model& model_;
  FileReport report_;
  std::vector<double> times_;
  std::vector<Eigen::VectorXd> frames_;
  int bad_lines_ = 0, merged_ = 0;
};

/// The columns of the model's positions, of the figure that matches best.
struct Columns {
  std::vector<long> q;  ///< −1: missing
  long time = -1;
  int missing = 0;
};

Columns find_columns(const Model& model, const std::vector<std::string>& header) {
  const std::vector<std::string> names = position_names(model);
  const auto find = [&](const std::string& name) {
    const auto at = std::ranges::find(header, name);
    return at == header.end() ? -1 : at - header.begin();
  };
  std::vector<std::string> figures{model.name()};
  for (const std::string& name : header) {
    const std::size_t at = name.find("/q/");
    if (at != std::string::npos && std::ranges::find(figures, name.substr(0, at)) == figures.end())
      figures.push_back(name.substr(0, at));
  }
  Columns best;
  best.missing = int(names.size()) + 1;
  for (const std::string& figure : figures) {
    Columns columns{.q = {}, .time = find("time")};
    for (const std::string& name : names) {
      columns.q.push_back(find(figure + "/q/" + name));
      columns.missing += columns.q.back() < 0;
    }
    if (columns.missing < best.missing) best = columns;
  }
  return best;
}

void check_columns(const Model& model, const Columns& columns, int line, ClipReader& reader) {
  if (columns.time < 0) reader.error(recording::kNoColumn, line, "there is no column 'time'");
  if (columns.missing == 0) return;
  std::string some;
  int named = 0;
  for (std::size_t k = 0; k < columns.q.size() && named < 4; ++k) {
    if (columns.q[k] < 0) some += (named++ ? ", " : "") + position_names(model)[k];
  }
  reader.error(recording::kNoColumn, line,
               fmt::format("{} of {} positions of '{}' have no column: {}{}", columns.missing, columns.q.size(),
                           model.name(), some, columns.missing > named ? ", …" : ""),
               "columns are named FIGURE/q/NAME; is it a recording of another model?");
}

}  // namespace

bool names_clip(const std::filesystem::path& file) {
  const std::filesystem::path ending = file.extension();
  return ending == ".mcap" || ending == ".csv" || ending == ".npz";
}

Loaded<Clip> parse_clip_csv(const Model& model, std::string_view text, const std::string& file_name) {
  ClipReader reader(model, file_name);
  Columns columns;
  std::size_t width = 0;
  int number = 0;
  Eigen::VectorXd q(model.nq());
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> fields = csv_fields(line);
    if (width == 0) {
      width = fields.size();
      columns = find_columns(model, fields);
      check_columns(model, columns, number, reader);
      if (columns.time < 0 || columns.missing > 0) return reader.finish({});
      continue;
    }
    if (fields.size() != width) {
      reader.bad_line(number, fmt::format("{} fields, the first line has {}", fields.size(), width));
      continue;
    }
    double time = 0;
    std::optional<std::string> problem = parse_numbers(fields[std::size_t(columns.time)], {&time, 1});
    for (std::size_t k = 0; k < columns.q.size() && !problem; ++k)
      problem = parse_numbers(fields[std::size_t(columns.q[k])], {&q[long(k)], 1});
    if (problem)
      reader.bad_line(number, *problem);
    else
      reader.add_frame(time, q, number);
  }
  return reader.finish(std::filesystem::path(file_name).stem().string());
}

Loaded<Clip> parse_clip_npz(const Model& model, std::string_view bytes, const std::string& file_name) {
  ClipReader reader(model, file_name);
  const NpzFile file = parse_npz(bytes);
  if (!file.problem.empty()) {
    reader.error(recording::kCannotRead, 0, file.problem);
    return reader.finish({});
  }
  const auto time = file.arrays.find("time");
  const NpzArray* q = nullptr;
  for (const auto& [name, array] : file.arrays) {
    if (!name.ends_with("/q") || array.columns != std::size_t(model.nq()) || array.numbers.empty()) continue;
    const auto names = file.arrays.find(name + "_names");
    if (names != file.arrays.end() && names->second.texts != position_names(model)) continue;
    if (!q || name == model.name() + "/q") q = &array;
  }
  if (time == file.arrays.end()) reader.error(recording::kNoColumn, 0, "there is no array 'time'");
  if (!q)
    reader.error(recording::kNoFigure, 0,
                 fmt::format("no array FIGURE/q has the {} coordinates of '{}'", model.nq(), model.name()));
  if (time == file.arrays.end() || !q) return reader.finish({});
  if (time->second.numbers.size() != q->rows) {
    reader.error(recording::kBadRow, 0,
                 fmt::format("{} times and {} configurations", time->second.numbers.size(), q->rows));
    return reader.finish({});
  }
  for (std::size_t k = 0; k < q->rows; ++k) {
    const Eigen::Map<const Eigen::VectorXd> row(q->numbers.data() + k * q->columns, model.nq());
    reader.add_frame(time->second.numbers[k], row, 0);
  }
  return reader.finish(std::filesystem::path(file_name).stem().string());
}

Loaded<Clip> read_clip(const Model& model, const std::filesystem::path& file) {
  const std::string name = file.string();
  ClipReader reader(model, name);
  if (file.extension() == ".csv" || file.extension() == ".npz") {
    const FileText text = read_file(file);
    if (!text.problem)
      return file.extension() == ".csv" ? parse_clip_csv(model, text.text, name)
                                        : parse_clip_npz(model, text.text, name);
    reader.error(recording::kCannotRead, 0, text.reason.empty() ? "cannot be read" : text.reason);
    return reader.finish({});
  }
  if (file.extension() != ".mcap") {
    reader.error(recording::kUnknownFormat, 0, "clips are read from .mcap, .csv and .npz");
    return reader.finish({});
  }
  Loaded<Recording> recording = read_recording(file);
  if (!recording) return {std::nullopt, std::move(recording.diagnostics)};
  const std::vector<RecordedFigure>& figures = recording.value->header.figures;
  int found = -1;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (position_names(figures[i].model) != position_names(model)) continue;
    if (found < 0 || figures[i].name == model.name()) found = int(i);
  }
  if (found < 0) {
    reader.error(recording::kNoFigure, 0,
                 fmt::format("none of the {} figures has the coordinates of '{}'", figures.size(), model.name()));
    return reader.finish({});
  }
  for (const RecordedFrame& frame : recording.value->frames)
    reader.add_frame(frame.time, frame.states[std::size_t(found)].q, 0);
  Loaded<Clip> clip = reader.finish(file.stem().string());
  clip.diagnostics.insert(clip.diagnostics.begin(), recording.diagnostics.begin(), recording.diagnostics.end());
  return clip;
}

}  // namespace kansetsu::io
