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

std::vector<std::string_view> split_cells(std::string_view line) {
  if (line.find('\t') == std::string_view::npos) return split_words(line);
  std::vector<std::string_view> out;
  for (const std::string_view cell : split(line, "\t")) out.push_back(trim(cell));
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

namespace {

constexpr double kNowhere = std::numeric_limits<double>::quiet_NaN();
/// [m] of markers from their middle, half of them nearer: a hand has 0.04, a person 0.4, two who play ball 3.
constexpr double kClosest = 0.01, kFarthest = 10;
/// A marker that is so much farther away than half of the others is no marker: the largest halls have 30 m.
constexpr double kFar = 100;

double median(std::vector<double>& x) {
  const auto middle = x.begin() + long(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

/// Counts markers that are taken out, to tell of all of them at once.
struct Removed {
  int count = 0, frame = 0, marker = 0;
  void take(Markers& m, int k, int i) {
    if (count++ == 0) frame = k, marker = i;
    m.points[std::size_t(k) * m.names.size() + std::size_t(i)] = {kNowhere, kNowhere, kNowhere};
  }
  void tell(const Markers& m, const char* where, Report& report) const {
    if (count == 0) return;
    report.warn(0, kGap, m.names[std::size_t(marker)],
                fmt::format("{} positions are {}, the first in frame {}", count, where, m.first_frame + frame),
                "they are taken as missing markers");
  }
};

/// Each coordinate's median over the markers seen in a frame; none if there are fewer than three.
std::optional<Vec3<>> middle_of(const Markers& m, int frame) {
  std::vector<double> x, y, z;
  for (int i = 0; i < int(m.names.size()); ++i)
    if (const Vec3<>& p = m.point(frame, i); Markers::seen(p)) x.push_back(p.x), y.push_back(p.y), z.push_back(p.z);
  if (x.size() < 3) return std::nullopt;
  return Vec3<>{median(x), median(y), median(z)};
}

}  // namespace

void settle_markers(Markers& m, Report& report) {
  const int markers = int(m.names.size());
  Removed zero, far;
  for (int k = 0; k < m.frames(); ++k)
    for (int i = 0; i < markers; ++i)
      if (m.point(k, i) == Vec3<>{}) zero.take(m, k, i);
  zero.tell(m, "exactly (0, 0, 0)", report);
  std::vector<std::optional<Vec3<>>> middles;
  std::vector<double> spreads;
  for (int k = 0; k < m.frames(); ++k) {
    middles.push_back(middle_of(m, k));
    std::vector<double> distances;
    for (int i = 0; middles.back() && i < markers; ++i)
      if (Markers::seen(m.point(k, i))) distances.push_back(norm(m.point(k, i) - *middles.back()));
    if (!distances.empty()) spreads.push_back(median(distances));
  }
  if (spreads.empty()) return;
  const double spread = median(spreads);
  if (!(spread >= kClosest && spread <= kFarthest)) {
    report.warn(0, kDoubt, {}, fmt::format("half of the markers are within {:.3g} m of their middle", spread),
                fmt::format("is the unit of {:g} m wrong?", m.unit));
    return;
  }
  for (int k = 0; k < m.frames(); ++k)
    for (int i = 0; i < markers; ++i)
      if (middles[std::size_t(k)] && norm(m.point(k, i) - *middles[std::size_t(k)]) > kFar * spread) far.take(m, k, i);
  far.tell(m, fmt::format("more than {:.0f} m from the other markers", kFar * spread).c_str(), report);
}

}  // namespace kansetsu::io::capture
