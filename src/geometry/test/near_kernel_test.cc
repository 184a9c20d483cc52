#include "geometry/near_kernel.h"

#include "kansetsu/spatial/pack.h"
#include "support.h"

namespace kansetsu {
namespace {

using namespace test;
using Lanes = Pack<double, 4>;

Vec3<Lanes> pack(const Vec3<>* v) {
  Vec3<Lanes> p;
  for (int k = 0; k < 4; ++k) {
    p.x.set(k, v[k].x);
    p.y.set(k, v[k].y);
    p.z.set(k, v[k].z);
  }
  return p;
}

}  // namespace

TEST_CASE("nearest points of segments: no other pair is nearer, and lanes have the bits of scalars") {
  Random random(31);
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    Vec3<> p[4], u[4], q[4], v[4];
    detail::SegmentPair<double> found[4];
    for (int k = 0; k < 4; ++k) {
      p[k] = random.vector(1);
      q[k] = random.vector(1);
      u[k] = i % 7 == 0 ? Vec3<>{} : random.vector(1);
      v[k] = i % 5 == 0 ? 0.7 * u[k] : (i % 11 == 0 ? Vec3<>{} : random.vector(1));
      found[k] = detail::nearest_of_segments(p[k], u[k], q[k], v[k]);
      const auto distance = [&](double s, double t) { return norm(p[k] + s * u[k] - q[k] - t * v[k]); };
      const double d = distance(found[k].s, found[k].t);
      CHECK(found[k].s >= 0);
      CHECK(found[k].s <= 1);
      CHECK(found[k].t >= 0);
      CHECK(found[k].t <= 1);
      for (int a = 0; a <= 10; ++a) {
        for (int b = 0; b <= 10; ++b) CHECK(distance(0.1 * a, 0.1 * b) > d - 1e-14);
      }
    }
    const auto lanes = detail::nearest_of_segments(pack(p), pack(u), pack(q), pack(v));
    for (int k = 0; k < 4; ++k) {
      CHECK(lanes.s[k] == found[k].s);
      CHECK(lanes.t[k] == found[k].t);
    }
  }
}

TEST_CASE("points and boxes: nearest by samples of the surface, lanes as scalars") {
  Random random(32);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    Vec3<> half[4], x[4];
    detail::BoxPoint<double> found[4];
    for (int k = 0; k < 4; ++k) {
      half[k] = {random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)};
      x[k] = random.vector(1.2);
      found[k] = detail::point_to_box(half[k], x[k]);
      CHECK(std::abs(norm(found[k].normal) - 1) < 1e-14);
      CHECK(norm(x[k] - found[k].nearest - found[k].distance * found[k].normal) < 1e-15);
      double nearest = 10;
      for (int face = 0; face < 6; ++face) {
        for (int n = 0; n < 200; ++n) {
          double s[3] = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
          s[face / 2] = face % 2 == 0 ? 1 : -1;
          nearest = std::min(nearest, norm(x[k] - Vec3<>{s[0] * half[k].x, s[1] * half[k].y, s[2] * half[k].z}));
        }
      }
      CHECK(nearest >= std::abs(found[k].distance) - 1e-15);
      CHECK(nearest < std::abs(found[k].distance) + 0.2);  // samples lie about 0.1 apart
      CHECK((found[k].distance > 0) == (outside(Box{2.0 * half[k]}, x[k]) > 0));
    }
    const auto lanes = detail::point_to_box(pack(half), pack(x));
    for (int k = 0; k < 4; ++k) {
      CHECK(lanes.distance[k] == found[k].distance);
      CHECK(lanes.normal.x[k] == found[k].normal.x);
      CHECK(lanes.nearest.z[k] == found[k].nearest.z);
    }
  }
}

}  // namespace kansetsu
