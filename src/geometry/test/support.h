#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kansetsu/geometry/contact.h"
#include "kansetsu/spatial/quaternion.h"

/// What the tests of collision share: random shapes and poses, and support functions and distances of points written
/// anew, from definitions, for all convex shapes.
namespace kansetsu::test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  Vec3<> vector(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
  Vec3<> direction() {
    std::normal_distribution<double> normal;
    const Vec3<> v{normal(engine_), normal(engine_), normal(engine_)};
    return (1 / norm(v)) * v;
  }
  Mat3<> rotation() {
    std::normal_distribution<double> normal;
    return to_mat3(normalised(Quaternion<>{normal(engine_), normal(engine_), normal(engine_), normal(engine_)}));
  }
  Transform<> pose(double size) { return {rotation(), vector(size)}; }

 private:
  std::mt19937_64 engine_;
};

inline Mat3<> turn_x(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{1, 0, 0}, {0, c, -s}, {0, s, c}};
}
inline Mat3<> turn_y(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{c, 0, s}, {0, 1, 0}, {-s, 0, c}};
}
inline Mat3<> turn_z(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
}

/// A convex shape of kind 0…4: sphere, capsule, box, cylinder, hull of random points; sizes of about one.
inline Shape random_convex(Random& random, int kind) {
  switch (kind) {
    case 0:
      return Sphere{random.uniform(0.2, 0.8)};
    case 1:
      return Capsule{random.uniform(0.1, 0.5), random.uniform(0.2, 1.5)};
    case 2:
      return Box{{random.uniform(0.2, 1.5), random.uniform(0.2, 1.5), random.uniform(0.2, 1.5)}};
    case 3:
      return Cylinder{random.uniform(0.2, 0.7), random.uniform(0.2, 1.5)};
    default: {
      ConvexHull hull;
      for (int i = 0, n = 4 + random.below(30); i < n; ++i)
        hull.vertices.push_back(random.uniform(0.3, 0.8) * random.direction());
      return hull;
    }
  }
}
inline const char* convex_name(int kind) {
  static constexpr const char* kNames[] = {"sphere", "capsule", "box", "cylinder", "hull"};
  return kNames[kind];
}

/// max of d·x over the shape, d in its own frame; d a unit vector.
inline double support(const Shape& shape, const Vec3<>& d) {
  if (const auto* s = std::get_if<Sphere>(&shape)) return s->radius;
  if (const auto* s = std::get_if<Capsule>(&shape)) return s->radius + 0.5 * s->length * std::abs(d.z);
  if (const auto* s = std::get_if<Box>(&shape))
    return 0.5 * (s->size.x * std::abs(d.x) + s->size.y * std::abs(d.y) + s->size.z * std::abs(d.z));
  if (const auto* s = std::get_if<Cylinder>(&shape))
    return s->radius * std::hypot(d.x, d.y) + 0.5 * s->length * std::abs(d.z);
  double largest = -std::numeric_limits<double>::infinity();
  for (const Vec3<>& v : std::get<ConvexHull>(shape).vertices) largest = std::max(largest, dot(d, v));
  return largest;
}

/// min n·A − max n·B: how far the plane with this normal parts the two.
inline double separation(const Shape& A, const Transform<>& X_WA, const Shape& B, const Transform<>& X_WB,
                         const Vec3<>& n) {
  return dot(n, X_WA.p - X_WB.p) - support(A, -transpose_times(X_WA.R, n)) - support(B, transpose_times(X_WB.R, n));
}

/// How far a point is outside of the shape (0 inside), for those shapes where it is simple; hulls: over random planes.
inline double outside(const Shape& shape, const Vec3<>& p) {
  if (const auto* s = std::get_if<Sphere>(&shape)) return std::max(0.0, norm(p) - s->radius);
  if (const auto* s = std::get_if<Capsule>(&shape)) {
    const double z = std::clamp(p.z, -0.5 * s->length, 0.5 * s->length);
    return std::max(0.0, norm(p - Vec3<>{0, 0, z}) - s->radius);
  }
  if (const auto* s = std::get_if<Box>(&shape)) {
    const auto over = [](double x, double h) { return std::max(0.0, std::abs(x) - h); };
    return norm(Vec3<>{over(p.x, 0.5 * s->size.x), over(p.y, 0.5 * s->size.y), over(p.z, 0.5 * s->size.z)});
  }
  if (const auto* s = std::get_if<Cylinder>(&shape))
    return std::hypot(std::max(0.0, std::hypot(p.x, p.y) - s->radius), std::max(0.0, std::abs(p.z) - 0.5 * s->length));
  Random random(17);
  double worst = 0;
  for (int i = 0; i < 300; ++i) {
    const Vec3<> d = random.direction();
    worst = std::max(worst, dot(d, p) - support(shape, d));
  }
  return worst;
}

inline double least_gap(const Manifold& m) {
  double gap = std::numeric_limits<double>::infinity();
  for (const ContactPoint& p : m.used()) gap = std::min(gap, p.gap);
  return gap;
}

inline bool is_finite(const Manifold& m) {
  double sum = m.normal_W.x + m.normal_W.y + m.normal_W.z;
  for (const ContactPoint& p : m.used()) sum += p.p_W.x + p.p_W.y + p.p_W.z + p.gap;
  return std::isfinite(sum);
}

}  // namespace kansetsu::test
