#include "motion/hull.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kansetsu {
namespace {

double side(const Vec3<>& a, const Vec3<>& b, const Vec3<>& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

Vec3<> nearest_on_segment(const Vec3<>& a, const Vec3<>& b, const Vec3<>& p) {
  const double x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
  const double s = length > 0 ? std::clamp(((p.x - a.x) * x + (p.y - a.y) * y) / length, 0.0, 1.0) : 0;
  return {a.x + s * x, a.y + s * y, p.z};
}

double square_apart(const Vec3<>& a, const Vec3<>& b) {
  const double x = a.x - b.x, y = a.y - b.y;
  return x * x + y * y;
}

}  // namespace

Vec3<> nearest_in_hull(std::span<const Vec3<>> points, const Vec3<>& p) {
  std::array<Vec3<>, 32> sorted;
  const std::size_t n = std::min(points.size(), sorted.size());
  std::copy_n(points.begin(), n, sorted.begin());
  std::sort(sorted.begin(), sorted.begin() + long(n),
            [](const Vec3<>& a, const Vec3<>& b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  // Andrew's chain, counterclockwise.
  std::array<Vec3<>, 66> hull;
  std::size_t m = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (m >= 2 && side(hull[m - 2], hull[m - 1], sorted[i]) <= 0) --m;
    hull[m++] = sorted[i];
  }
  for (std::size_t i = n - 1, lower = m + 1; i-- > 0;) {
    while (m >= lower && side(hull[m - 2], hull[m - 1], sorted[i]) <= 0) --m;
    hull[m++] = sorted[i];
  }
  Vec3<> nearest{hull[0].x, hull[0].y, p.z};
  bool inside = m > 3;
  for (std::size_t i = 0; i + 1 < m; ++i) {
    inside = inside && side(hull[i], hull[i + 1], p) >= 0;
    const Vec3<> candidate = nearest_on_segment(hull[i], hull[i + 1], p);
    if (square_apart(candidate, p) < square_apart(nearest, p)) nearest = candidate;
  }
  return inside ? p : nearest;
}

double distance_to_hull(std::span<const Vec3<>> points, const Vec3<>& p) {
  return std::sqrt(square_apart(nearest_in_hull(points, p), p));
}

}  // namespace kansetsu
