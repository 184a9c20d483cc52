#include "io/shapes.h"

#include <cmath>
#include <numbers>

#include "kansetsu/spatial/rotations.h"

namespace kansetsu::io {

namespace {

constexpr int kRings = 9, kSegments = 16;

}  // namespace

ConvexHull ellipsoid_hull(const Vec3<>& radii) {
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

std::optional<Vec3<>> ellipsoid_radii(const ConvexHull& hull) {
  constexpr std::size_t kPoints = 2 + (kRings - 1) * kSegments;
  if (hull.vertices.size() != kPoints) return std::nullopt;
  // The middle ring, and on it the points on x and y.
  const double r = std::sin(std::numbers::pi * (kRings / 2) / kRings);
  const std::size_t ring = 1 + (kRings / 2 - 1) * kSegments;
  const Vec3<> radii{hull.vertices[ring].x / r, hull.vertices[ring + kSegments / 4].y / r, hull.vertices[0].z};
  const ConvexHull whole = ellipsoid_hull(radii);
  constexpr double kRounding = 1e-14;  // relative: of one division and one product
  for (std::size_t i = 0; i < kPoints; ++i) {
    if (norm(whole.vertices[i] - hull.vertices[i]) > kRounding * norm(radii)) return std::nullopt;
  }
  return radii;
}

double ellipsoid_volume(const Vec3<>& r) { return 4.0 / 3 * std::numbers::pi * r.x * r.y * r.z; }

Sym3<> ellipsoid_inertia(const Vec3<>& r) {
  const double x = r.x * r.x, y = r.y * r.y, z = r.z * r.z;
  return 0.2 * Sym3<>::diagonal(y + z, x + z, x + y);
}

namespace {

/// From ∫x² dA, ∫y² dA and ∫z² dA.
Skin skin(double area, const Vec3<>& squares) {
  const Vec3<> s = (1 / area) * squares;
  return {area, Sym3<>::diagonal(s.y + s.z, s.x + s.z, s.x + s.y)};
}

}  // namespace

std::optional<Skin> skin_of(const Shape& shape) {
  constexpr double kPi = std::numbers::pi;
  if (const auto* s = std::get_if<Sphere>(&shape)) {
    const double area = 4 * kPi * s->radius * s->radius, square = area * s->radius * s->radius / 3;
    return skin(area, {square, square, square});
  }
  if (const auto* s = std::get_if<Box>(&shape)) {
    const double a = s->size.x / 2, b = s->size.y / 2, c = s->size.z / 2;
    const double yz = 8 * b * c, xz = 8 * a * c, xy = 8 * a * b;  // pairs of faces
    return skin(xy + yz + xz,
                {a * a * (yz + (xz + xy) / 3), b * b * (xz + (yz + xy) / 3), c * c * (xy + (yz + xz) / 3)});
  }
  if (const auto* s = std::get_if<Cylinder>(&shape)) {
    const double r = s->radius, h = s->length / 2, side = 4 * kPi * r * h, caps = 2 * kPi * r * r;
    const double across = r * r * (side / 2 + caps / 4);
    return skin(side + caps, {across, across, h * h * (side / 3 + caps)});
  }
  if (const auto* s = std::get_if<Capsule>(&shape)) {
    const double r = s->radius, h = s->length / 2, side = 4 * kPi * r * h, caps = 4 * kPi * r * r;
    const double across = r * r * (side / 2 + caps / 3);
    return skin(side + caps, {across, across, side * h * h / 3 + caps * (h * h + h * r + r * r / 3)});
  }
  return std::nullopt;
}

Skin ellipsoid_skin(const Vec3<>& r) {
  constexpr double kPower = 1.6075;  // Thomsen's
  const auto power = [](double x) { return std::pow(x, kPower); };
  const double mean = (power(r.x * r.y) + power(r.y * r.z) + power(r.z * r.x)) / 3;
  constexpr double kThickness = 1e-6;  // [m] outside: MuJoCo's
  const Vec3<> outer = r + Vec3<>{kThickness, kThickness, kThickness};
  const double all = ellipsoid_volume(outer), inner = ellipsoid_volume(r);
  return {4 * std::numbers::pi * std::pow(mean, 1 / kPower),
          1 / (all - inner) * (all * ellipsoid_inertia(outer) - inner * ellipsoid_inertia(r))};
}

Mat3<> rotation_to(const Vec3<>& direction, const Vec3<>& from) {
  const double length = norm(direction);
  if (!(length > kShortestVector)) return Mat3<>::identity();
  const Vec3<> to = (1 / length) * direction, axis = cross(from, to);
  const double sine = norm(axis), cosine = dot(from, to);
  // Opposite directions: half a turn about x (about z if `from` is x).
  const Vec3<> normal = from.x == 0 ? Vec3<>{1, 0, 0} : Vec3<>{0, 0, 1};
  if (sine < kShortestVector) return exp_rotation((cosine > 0 ? 0 : std::numbers::pi) * normal);
  return exp_rotation(std::atan2(sine, cosine) / sine * axis);
}

}  // namespace kansetsu::io
