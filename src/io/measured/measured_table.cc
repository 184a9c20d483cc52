#include "io/measured/measured_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "io/capture/capture_codes.h"
#include "io/number.h"
#include "io/text.h"
#include "kansetsu/base/printable.h"

namespace kansetsu::io::capture {

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) out.push_back(word);
  return out;
}

std::vector<std::string_view> split_cells(std::string_view line) {
  if (line.find('\t') == std::string_view::npos) return split_words(line);
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    out.push_back(trim(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

std::optional<double> read_cell(std::string_view cell) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  if (cell.empty() || same_word(cell, "nan") || same_word(cell, "-nan") || same_word(cell, "-nan(ind)"))
    return kNothing;
  return read_number(cell);
}

void make_unique(std::vector<std::string>& names, Report& report, int line) {
  for (std::string& name : names) name = printable(std::move(name));
  std::set<std::string> taken(names.begin(), names.end()), seen;
  std::map<std::string, int> count;
  std::string first;
  int again = 0;
  for (std::string& name : names) {
    if (seen.insert(name).second) continue;
    const std::string old = name;
    int& k = count.try_emplace(old, 1).first->second;
    do name = fmt::format("{}_{}", old, ++k);
    while (taken.contains(name));
    taken.insert(name), seen.insert(name);
    if (first.empty()) first = old;
    ++again;
  }
  if (again > 0)
    report.warn(line, kName, {}, fmt::format("{} names are duplicates, the first is {}", again, quote(first)),
                "a number is appended to duplicates");
}

double rate_of(const std::vector<double>& times) {
  if (times.size() < 2) return 0;
  constexpr double kJitter = 0.05;  // of a period: times written with two digits, but no missing row
  const double mean = (times.back() - times.front()) / double(times.size() - 1);
  for (std::size_t k = 1; k < times.size(); ++k)
    if (std::abs(times[k] - times[k - 1] - mean) > kJitter * mean) return 0;
  return 1 / mean;
}

}  // namespace kansetsu::io::capture
