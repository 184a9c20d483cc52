#include <cmath>

#include "kansetsu/constraint/contact_solver.h"

namespace kansetsu {

double friction_arm_disc(double radius) { return 2.0 / 3.0 * radius; }
double friction_arm_line(double length) { return length / 4; }

double friction_arm_rectangle(double a, double b) {
  if (!(a > 0)) return friction_arm_line(b > 0 ? b : 0);
  if (!(b > 0)) return friction_arm_line(a);
  return std::hypot(a, b) / 6 + a * a / (12 * b) * std::asinh(b / a) + b * b / (12 * a) * std::asinh(a / b);
}

namespace {

/// ∫ r dA over the triangle from the origin to the edge a–b: with p the distance of the edge and θ from its foot,
/// ∫ (p secθ)³/3 dθ = p³/6·[secθ·tanθ + asinh(tanθ)].
double moment_of_edge(double ax, double ay, double bx, double by) {
  const double ex = bx - ax, ey = by - ay, length = std::sqrt(ex * ex + ey * ey);
  const double p = length > 0 ? (ax * by - ay * bx) / length : 0;  // signed
  if (p == 0) return 0;
  const double scale = 1 / (length * std::abs(p)), ta = (ax * ex + ay * ey) * scale, tb = (bx * ex + by * ey) * scale;
  const double ra = std::sqrt(1 + ta * ta), rb = std::sqrt(1 + tb * tb);
  const auto exp_asinh = [](double t, double root) { return t > 0 ? root + t : 1 / (root - t); };
  return p * p * p / 6 * (tb * rb - ta * ra + std::log(exp_asinh(tb, rb) / exp_asinh(ta, ra)));
}

double extent(std::span<const ContactVertex> v) {
  double most = 0;
  for (const ContactVertex& a : v) {
    for (const ContactVertex& b : v) {
      most = std::max(most, (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
    }
  }
  return std::sqrt(most);
}

}  // namespace

double friction_arm(std::span<const ContactVertex> polygon) {
  const std::size_t n = polygon.size();
  const double size = extent(polygon);
  if (n < 2 || !(size > 0)) return 0;
  double area = 0, x = 0, y = 0;
  const double ox = polygon[0].x, oy = polygon[0].y;
  for (std::size_t i = 0; i < n; ++i) {
    const ContactVertex &a = polygon[i], &b = polygon[(i + 1) % n];
    const double cross = (a.x - ox) * (b.y - oy) - (a.y - oy) * (b.x - ox);
    area += cross / 2;
    x += (a.x + b.x - 2 * ox) * cross / 6;
    y += (a.y + b.y - 2 * oy) * cross / 6;
  }
  if (std::abs(area) < 1e-9 * size * size) return friction_arm_line(size);
  x = ox + x / area, y = oy + y / area;
  double moment = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const ContactVertex &a = polygon[i], &b = polygon[(i + 1) % n];
    moment += moment_of_edge(a.x - x, a.y - y, b.x - x, b.y - y);
  }
  return moment / area;
}

}  // namespace kansetsu
