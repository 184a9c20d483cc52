#include "io/shapes.h"

#include <cmath>
#include <numbers>

#include "kansetsu/spatial/rotations.h"

namespace kansetsu::io {

ConvexHull ellipsoid_hull(const Vec3<>& radii) {
  constexpr int kRings = 9, kSegments = 16;
  ConvexHull hull;
  for (int i = 0; i <= kRings; ++i) {
    const double polar = std::numbers::pi * i / kRings, r = std::sin(polar), z = std::cos(polar);
    const bool pole = i == 0 || i == kRings;
    for (int k = 0; k < (pole ? 1 : kSegments); ++k) {
      const double turn = 2 * std::numbers::pi * k / kSegments;
      hull.vertices.push_back(
          {radii.x * (pole ? 0 : r * std::cos(turn)), radii.y * (pole ? 0 : r * std::sin(turn)), radii.z * z});
    }
  }
  return hull;
}

double ellipsoid_volume(const Vec3<>& r) { return 4.0 / 3 * std::numbers::pi * r.x * r.y * r.z; }

Sym3<> ellipsoid_inertia(const Vec3<>& r) {
  const double x = r.x * r.x, y = r.y * r.y, z = r.z * r.z;
  return 0.2 * Sym3<>::diagonal(y + z, x + z, x + y);
}

Mat3<> rotation_to(const Vec3<>& direction) {
  const double length = norm(direction);
  constexpr double kShortest = 1e-14;  // below it a vector has no direction
  if (!(length > kShortest)) return Mat3<>::identity();
  const Vec3<> z = (1 / length) * direction, axis = cross(Vec3<>{0, 0, 1}, z);
  const double sine = norm(axis);
  // Opposite to z there is no shortest way; half a turn about x is one.
  if (sine < kShortest) return exp_rotation(z.z > 0 ? Vec3<>{} : Vec3<>{3.14159265358979323846, 0, 0});
  return exp_rotation(std::atan2(sine, z.z) / sine * axis);
}

}  // namespace kansetsu::io
