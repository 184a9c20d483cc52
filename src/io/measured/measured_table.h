#pragma once

#include <string_view>
#include <vector>

#include "io/capture/capture_reader.h"
#include "io/text.h"
#include "kansetsu/model/measured.h"

/// Tables of measurements: numbers separated by tabs or blanks.
namespace kansetsu::io::capture {

/// Iterates over the lines of a text with their numbers.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(without_mark(text)) {}
  bool done() const { return rest_.empty(); }
  std::string_view next() {
    ++line_;
    return next_line(rest_);
  }
  int line() const { return line_; }  ///< of the last next()

 private:
  std::string_view rest_;
  int line_ = 0;
};

/// The cells of a line, separated by tabs if there are any, otherwise by blanks; without empty cells at the end.
std::vector<std::string_view> split_cells(std::string_view line);

/// A number; NaN for an empty cell and "nan" of any case; none for anything else.
std::optional<double> read_cell(std::string_view cell);

/// Repeated names get "_2", "_3"; control characters become spaces. A warning rather than an error, as other programs read such files.
void make_unique(std::vector<std::string>& names, Report& report, int line);

/// The sampling rate of times that are uniform within 5 %; 0 if they are not.
double rate_of(const std::vector<double>& times);

/// Marks positions at (0, 0, 0) or far outside, which other programs write for missing markers, as missing, with a warning; warns
/// about implausible units as well.
void settle_markers(Markers& markers, Report& report);

}  // namespace kansetsu::io::capture
