#include "ik/round_distance.h"

#include <algorithm>

namespace kansetsu::ik {

bool is_round(const Geometry& geometry) {
  return geometry.kind() == ShapeKind::kSphere || geometry.kind() == ShapeKind::kCapsule;
}

/// Minimises |a + s·u − c − t·v|² over the unit square: the free minimum in s, then t for it, clamped, then s for that t.
Distance round_distance(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB) {
  const Vec3<> half_a = A.half().z * X_WA.R.column_z(), half_b = B.half().z * X_WB.R.column_z();
  const Vec3<> a = X_WA.p - half_a, c = X_WB.p - half_b, u = 2.0 * half_a, v = 2.0 * half_b, r = a - c;
  const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r);
  const double area = uu * vv - uv * uv;
  constexpr double kParallel = 1e-14;
  double s = area > kParallel * uu * vv ? std::clamp((uv * vr - vv * ur) / area, 0.0, 1.0) : 0.0;
  double t = vv > 0 ? std::clamp((uv * s + vr) / vv, 0.0, 1.0) : 0.0;
  s = uu > 0 ? std::clamp((uv * t - ur) / uu, 0.0, 1.0) : 0.0;
  t = vv > 0 ? std::clamp((uv * s + vr) / vv, 0.0, 1.0) : 0.0;
  const Vec3<> on_a = a + s * u, on_b = c + t * v, way = on_a - on_b;
  const double length = norm(way);
  const Vec3<> n = length > 0 ? (1 / length) * way : Vec3<>{0, 0, 1};
  return {length - A.radius() - B.radius(), on_a - A.radius() * n, on_b + B.radius() * n, n};
}

}  // namespace kansetsu::ik
