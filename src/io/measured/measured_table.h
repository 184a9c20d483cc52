#pragma once

#include <string_view>
#include <vector>

#include "io/capture/capture_reader.h"
#include "io/text.h"
#include "kansetsu/model/measured.h"

/// Lines of numbers between tabs or blanks, as tables of measurements have them.
namespace kansetsu::io::capture {

/// The lines of a text with their numbers.
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

/// Between tabs, where there are any, otherwise between blanks; without those at the end that are empty.
std::vector<std::string_view> split_cells(std::string_view line);
std::vector<std::string_view> split_words(std::string_view line);

/// A number, or NaN for "nan" of any case and for nothing; none if it is something else.
std::optional<double> read_cell(std::string_view cell);

/// Names that occur again get "_2", "_3", and control characters become spaces; an error would keep people from files that others read.
void make_unique(std::vector<std::string>& names, Report& report, int line);

/// The rate of a row of times that are even within a twentieth; 0 if they are not.
double rate_of(const std::vector<double>& times);

/// Other programs write a marker that was not seen as (0, 0, 0) or as 9999999: it becomes one that was not seen, and is told, as
/// are lengths at which nobody was filmed.
void settle_markers(Markers& markers, Report& report);

}  // namespace kansetsu::io::capture
