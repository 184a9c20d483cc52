#include "ik/capsules.h"

#include <algorithm>

namespace kansetsu::ik {

/// Minimises |a + s·u − c − t·v|² over the unit square: the free minimum in s, then t for it, clamped, then s for that t.
ClosestPoints closest_points(const Segment& first, const Segment& second) {
  const Vec3<> u = first.b - first.a, v = second.b - second.a, r = first.a - second.a;
  const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r);
  const double area = uu * vv - uv * uv;
  constexpr double kParallel = 1e-14;
  double s = area > kParallel * uu * vv ? std::clamp((uv * vr - vv * ur) / area, 0.0, 1.0) : 0.0;
  double t = vv > 0 ? std::clamp((uv * s + vr) / vv, 0.0, 1.0) : 0.0;
  s = uu > 0 ? std::clamp((uv * t - ur) / uu, 0.0, 1.0) : 0.0;
  t = vv > 0 ? std::clamp((uv * s + vr) / vv, 0.0, 1.0) : 0.0;
  return {first.a + s * u, second.a + t * v};
}

double determinant(Eigen::Matrix<double, 6, 6> A) {
  double product = 1;
  for (int k = 0; k < 6; ++k) {
    const double pivot = A(k, k);
    if (!(pivot > 0)) return 0;
    product *= pivot;
    for (int i = k + 1; i < 6; ++i) {
      const double factor = A(i, k) / pivot;
      for (int j = k + 1; j < 6; ++j) A(i, j) -= factor * A(k, j);
    }
  }
  return product;
}

}  // namespace kansetsu::ik
