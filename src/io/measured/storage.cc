#include <algorithm>

#include "io/capture/capture_codes.h"
#include "io/measured/measured_table.h"
#include "io/number.h"
#include "io/text.h"
#include "kansetsu/base/printable.h"
#include "kansetsu/io/measured.h"

/// Tables of SIMM and OpenSim: MOT and STO.
namespace kansetsu::io {
namespace {

using namespace capture;

/// "key=value" or "key value"; the key in small letters.
std::pair<std::string, std::string_view> key_value(std::string_view line) {
  const std::size_t at = std::min(line.find_first_of("= \t"), line.size());
  std::string_view value = trim(line.substr(at));
  if (value.starts_with('=')) value = trim(value.substr(1));
  return {lower_case(trim(line.substr(0, at))), value};
}

class StorageReader {
 public:
  StorageReader(std::string_view text, const std::string& file) : lines_(text), text_(text), report_(file) {
    out_.file = file;
  }

  Loaded<TimeTable> read() {
    if (check_text(text_, report_, "MOT and STO") && read_header() && read_labels()) read_rows();
    return loaded(std::move(out_), report_.take());
  }

 private:
  bool read_header() {
    bool simm = false, stated = false;
    while (!lines_.done()) {
      const std::string_view line = trim(lines_.next());
      const auto [key, value] = key_value(line);
      if (lines_.line() == 1 && key != "name") out_.name = line;
      if (key == "endheader") {
        if (!stated && simm) out_.degrees = true;
        if (out_.name.empty() || out_.name.find('=') != std::string::npos) out_.name = stem_of(out_.file);
        out_.name = printable(std::move(out_.name));
        return true;
      }
      if (key == "name") out_.name = value;
      if (key == "nrows" || key == "datarows") rows_ = read_number(value);
      if (key == "ncolumns" || key == "datacolumns") columns_ = read_number(value);
      if (key == "datacolumns" || key == "datarows") simm = true;
      const std::string words = lower_case(line);
      if (key == "indegrees") out_.degrees = lower_case(value) == "yes" || lower_case(value) == "true", stated = true;
      if (words.starts_with("angles are in degrees")) out_.degrees = stated = true;
      if (words.starts_with("angles are in radians")) out_.degrees = false, stated = true;
    }
    return report_.fail(lines_.line(), kHeader, {}, "the file has no line 'endheader'",
                        "a MOT or STO file has a header, the line endheader, then names of columns");
  }

  bool read_labels() {
    std::string_view line;
    while (!lines_.done() && trim(line).empty()) line = lines_.next();
    for (const std::string_view cell : split_cells(line)) labels_.emplace_back(cell);
    if (labels_.empty() || !same_word(labels_[0], "time"))
      return report_.fail(lines_.line(), kColumns, {},
                          fmt::format("the first column is {}", quote(trim(line).substr(0, 40))),
                          "names of columns come after endheader, and the first is time");
    for (std::string& label : labels_)
      if (label.empty()) label = "unnamed";
    make_unique(labels_, report_, lines_.line());
    if (columns_ && *columns_ != double(labels_.size()))
      report_.warn(lines_.line(), kCount, {},
                   fmt::format("the header states {} columns, but {} are named", *columns_, labels_.size()),
                   "the names are used");
    return true;
  }

  /// The parts of a cell: 1,2,3 in tables of vectors.
  static std::vector<std::string_view> parts(std::string_view cell) {
    std::vector<std::string_view> out;
    if (cell.starts_with("~[") || cell.starts_with("[")) cell = cell.substr(cell.find('[') + 1);
    if (cell.ends_with(']')) cell.remove_suffix(1);
    for (const std::string_view part : split(cell, ",")) out.push_back(trim(part));
    return out;
  }

  bool begin_rows(const std::vector<std::string_view>& cells) {
    for (std::size_t c = 1; c < cells.size(); ++c) {
      widths_.push_back(parts(cells[c]).size());
      if (widths_.back() == 1) out_.columns.push_back(labels_[c]);
      for (std::size_t i = 0; widths_.back() > 1 && i < widths_.back(); ++i)
        out_.columns.push_back(fmt::format("{}_{}", labels_[c], i + 1));
    }
    return true;
  }

  void read_rows() {
    std::vector<double> values, row;
    while (!lines_.done() && !report_.full()) {
      const std::string_view line = lines_.next();
      if (trim(line).empty()) continue;
      std::vector<std::string_view> cells = split_cells(line);
      if (cells.size() != labels_.size()) cells = split_words(line);
      if (cells.size() != labels_.size()) {
        report_.error(lines_.line(), kFrame, {}, fmt::format("{} values for {} columns", cells.size(), labels_.size()),
                      "each row has one value per column, divided by tabs or blanks");
        continue;
      }
      if (out_.columns.empty() && widths_.empty()) begin_rows(cells);
      row.clear();
      const std::optional<double> time = read_number(cells[0]);
      bool good = bool(time);
      if (!time) bad_number(cells[0], labels_[0]);
      for (std::size_t c = 1; c < cells.size(); ++c) {
        const std::vector<std::string_view> pieces = parts(cells[c]);
        if (pieces.size() != widths_[c - 1]) {
          report_.error(lines_.line(), kFrame, labels_[c],
                        fmt::format("{} numbers where the first row has {}", pieces.size(), widths_[c - 1]),
                        "cells of one column have as many numbers each");
          good = false;
          continue;
        }
        for (const std::string_view piece : pieces) {
          const std::optional<double> x = read_cell(piece);
          if (!x) bad_number(piece, labels_[c]), good = false;
          row.push_back(x.value_or(0));
        }
      }
      if (!good || !add_time(*time)) continue;
      values.insert(values.end(), row.begin(), row.end());
    }
    if (!report_.failed() && out_.times.empty())
      report_.error(lines_.line(), kTruncated, {}, "there are no rows of numbers", "is the file truncated?");
    if (report_.failed()) return;
    out_.values = Eigen::Map<const Eigen::MatrixXd>(values.data(), long(out_.columns.size()), out_.rows());
    if (same_ > 0)
      report_.warn(0, kTimes, {}, fmt::format("{} rows repeat the time of the previous row", same_),
                   "they are ignored");
    if (rows_ && *rows_ != out_.rows() + same_)
      report_.warn(0, kCount, {}, fmt::format("the header states {} rows, but there are {}", *rows_, out_.rows()),
                   "the rows are used; is the file truncated?");
  }

  bool add_time(double time) {
    if (!out_.times.empty() && time == out_.times.back()) {
      ++same_;
      return false;
    }
    if (!out_.times.empty() && time < out_.times.back())
      return report_.fail(lines_.line(), kTimes, {}, fmt::format("time {} s comes after {} s", time, out_.times.back()),
                          "times rise from row to row");
    out_.times.push_back(time);
    return true;
  }

  void bad_number(std::string_view cell, const std::string& column) {
    report_.error(lines_.line(), kNumber, column, fmt::format("{} is {}", quote(cell), kNoNumber),
                  "use decimal points; nan means a missing value");
  }

  Lines lines_;
  std::string_view text_;
  Report report_;
  TimeTable out_;
  std::vector<std::string> labels_;
  std::vector<std::size_t> widths_;
  std::optional<double> rows_, columns_;
  int same_ = 0;  ///< rows of the same time as the one before
};

}  // namespace

Loaded<TimeTable> parse_table(std::string_view text, const std::string& file_name) {
  return StorageReader(text, file_name).read();
}

Loaded<TimeTable> read_table(const std::filesystem::path& file) {
  return parse_file(file, kFileCodes, [&](const std::string& text) { return parse_table(text, file.string()); });
}

std::string to_sto(const TimeTable& table) {
  std::string out = fmt::format("{}\nversion=1\nnRows={}\nnColumns={}\ninDegrees={}\nendheader\ntime",
                                table.name.empty() ? "table" : table.name, table.rows(), table.columns.size() + 1,
                                table.degrees ? "yes" : "no");
  for (const std::string& column : table.columns) out += '\t' + column;
  out += '\n';
  for (int k = 0; k < table.rows(); ++k) {
    out += format_number(table.times[std::size_t(k)]);
    for (long c = 0; c < table.values.rows(); ++c) out += '\t' + format_number(table.values(c, k));
    out += '\n';
  }
  return out;
}

std::vector<Diagnostic> write_sto(const TimeTable& table, const std::filesystem::path& file) {
  return write_text(file, to_sto(table));
}

}  // namespace kansetsu::io
