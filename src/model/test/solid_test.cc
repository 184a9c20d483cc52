#include "kansetsu/model/solid.h"

#include <doctest/doctest.h>

namespace kansetsu {
namespace {

ConvexHull corners(const Vec3<>& size, const Vec3<>& centre) {
  ConvexHull out;
  for (int i = 0; i < 8; ++i) {
    const Vec3<> half{i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5};
    out.vertices.push_back(centre + Vec3<>{half.x * size.x, half.y * size.y, half.z * size.z});
  }
  return out;
}

TEST_CASE("a hull has the mass properties of the box whose corners it has, wherever its origin is") {
  const Vec3<> size{0.2, 0.3, 0.5}, centre{0.1, -0.2, 0.05};
  const auto hull = solid_inertial(corners(size, centre), 3), box = solid_inertial(Box{size}, 3);
  REQUIRE(hull);
  REQUIRE(box);
  CHECK(hull->mass == 3);
  CHECK(norm(hull->origin.p - centre) < 1e-14);  // rounding of twelve tetrahedra
  CHECK(box->origin.p == Vec3<>{});
  CHECK(hull->inertia.xx == doctest::Approx(box->inertia.xx).epsilon(1e-13));                           // as above
  CHECK(hull->inertia.yy == doctest::Approx(box->inertia.yy).epsilon(1e-13));                           // as above
  CHECK(hull->inertia.zz == doctest::Approx(box->inertia.zz).epsilon(1e-13));                           // as above
  CHECK(std::abs(hull->inertia.xy) + std::abs(hull->inertia.xz) + std::abs(hull->inertia.yz) < 1e-14);  // as above
  CHECK(solid(corners(size, centre))->measure == doctest::Approx(0.03).epsilon(1e-13));                 // as above
}

TEST_CASE("what encloses no volume is no solid") {
  CHECK_FALSE(solid(Plane{}));
  CHECK_FALSE(solid(Mesh{}));
  CHECK_FALSE(solid(ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}));
  CHECK_FALSE(solid(TriangleMesh{}));
  CHECK_FALSE(solid_inertial(Plane{}, 1));
}

}  // namespace
}  // namespace kansetsu
