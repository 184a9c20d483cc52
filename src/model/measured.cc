#include "kansetsu/model/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kansetsu {
namespace {

std::optional<int> index_of(const std::vector<std::string>& names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<int>(at - names.begin());
}

double component(const Vec3<>& p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/// How far the markers of a frame spread along each axis: the median over frames.
std::array<double, 3> spread_of(const Markers& markers) {
  std::array<double, 3> out{};
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> spreads;
    for (int k = 0; k < markers.frames(); ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (int m = 0; m < int(markers.names.size()); ++m) {
        const Vec3<>& p = markers.point(k, m);
        if (!Markers::seen(p)) continue;
        low = std::min(low, component(p, axis)), high = std::max(high, component(p, axis));
      }
      if (high > low) spreads.push_back(high - low);
    }
    if (spreads.empty()) continue;
    const auto middle = spreads.begin() + long(spreads.size() / 2);
    std::nth_element(spreads.begin(), middle, spreads.end());
    out[std::size_t(axis)] = *middle;
  }
  return out;
}

}  // namespace

std::optional<int> TimeTable::find(std::string_view column) const { return index_of(columns, column); }
std::optional<int> Markers::find(std::string_view name) const { return index_of(names, name); }

double TimeTable::at(int column, double time) const {
  if (times.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto next = std::ranges::upper_bound(times, time);
  if (next == times.begin()) return values(column, 0);
  if (next == times.end()) return values(column, rows() - 1);
  const long k = next - times.begin();
  const double t0 = times[std::size_t(k - 1)], s = (time - t0) / (*next - t0);
  return (1 - s) * values(column, k - 1) + s * values(column, k);
}

Vec3<> ForcePlate::normal() const {
  // Corners are counted so that x runs from the second to the first and y from the fourth to the first; z then points down.
  const Vec3<> down = cross(corners[0] - corners[1], corners[0] - corners[3]);
  const double size = norm(down);
  return size > 0 ? (-1 / size) * down : Vec3<>{0, 0, 1};
}

Pressure pressure_of(const ForcePlate& plate, int sample, double least) {
  const Vec3<>&f = plate.force[std::size_t(sample)], m = plate.moment[std::size_t(sample)], n = plate.normal();
  const double along = dot(f, n);
  if (!(std::abs(along) >= least) || along == 0) return {plate.centre(), m};
  const Vec3<> arm = (1 / along) * cross(n, m);
  return {plate.centre() + arm, m - cross(arm, f)};
}

UpAxis guess_up(const Measurement& measured) {
  std::array<double, 3> up{};
  for (const ForcePlate& plate : measured.plates) {
    const Vec3<> n = plate.normal();
    up[0] += std::abs(n.x), up[1] += std::abs(n.y), up[2] += std::abs(n.z);
  }
  if (measured.plates.empty()) up = spread_of(measured.markers);
  return UpAxis(std::ranges::max_element(up) - up.begin());
}

Mat3<> axes_with_up(UpAxis up) {
  switch (up) {
    case UpAxis::kX:
      return {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    case UpAxis::kY:
      return {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
    case UpAxis::kZ:
      break;
  }
  return Mat3<>::identity();
}

TimeTable plate_table(const Measurement& measured, double least) {
  TimeTable out{.name = measured.name, .file = measured.file, .columns = {}, .times = measured.analog.times};
  out.values.resize(long(9 * measured.plates.size()), out.rows());
  for (std::size_t i = 0; i < measured.plates.size(); ++i) {
    for (const auto& [kind, letter] : {std::pair{"force", "v"}, {"force", "p"}, {"moment", "m"}})
      for (const char* axis : {"x", "y", "z"})
        out.columns.push_back(fmt::format("ground_{}_{}_{}{}", kind, i + 1, letter, axis));
    for (int k = 0; k < out.rows(); ++k) {
      const Vec3<>& f = measured.plates[i].force[std::size_t(k)];
      const Pressure p = pressure_of(measured.plates[i], k, least);
      out.values.col(k).segment<9>(long(9 * i)) << f.x, f.y, f.z, p.point.x, p.point.y, p.point.z, p.moment.x,
          p.moment.y, p.moment.z;
    }
  }
  return out;
}

}  // namespace kansetsu
