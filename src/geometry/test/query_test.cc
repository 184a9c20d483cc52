#include "kansetsu/geometry/query.h"

#include "no_alloc.h"
#include "support.h"

namespace kansetsu {
namespace {

using namespace test;

TriangleMesh box_mesh(const Vec3<>& h) {
  auto data = std::make_shared<TriangleMeshData>();
  for (int v = 0; v < 8; ++v)
    data->vertices.push_back({(v & 1) != 0 ? h.x : -h.x, (v & 2) != 0 ? h.y : -h.y, (v & 4) != 0 ? h.z : -h.z});
  data->triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return {data};
}

HeightField slope() {  // z = 0.2·x − 0.1·y
  HeightField field{5, 4, 4, 3, {}};
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 5; ++column) field.heights.push_back(0.2 * (-2 + column) - 0.1 * (-1.5 + row));
  }
  return field;
}

void check_consistent(const Distance& d) {
  CHECK(std::abs(norm(d.normal_W) - 1) < 1e-12);
  CHECK(norm(d.p_WA - d.p_WB - d.distance * d.normal_W) < 1e-9);
}

}  // namespace

TEST_CASE("signed distance of convex shapes: apart, and inside each other") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Shape A = random_convex(random, random.below(5)), B = random_convex(random, random.below(5));
    const Transform<> X_WA = random.pose(2), X_WB = random.pose(2);
    const Geometry a(A), b(B);
    const Distance d = signed_distance(a, X_WA, b, X_WB);
    check_consistent(d);
    CHECK(std::abs(separation(A, X_WA, B, X_WB, d.normal_W) - d.distance) < 1e-9);
    CHECK(outside(A, transpose_times(X_WA.R, d.p_WA - X_WA.p)) < 1e-6);
    CHECK(outside(B, transpose_times(X_WB.R, d.p_WB - X_WB.p)) < 1e-6);
    const Distance swapped = signed_distance(b, X_WB, a, X_WA);
    CHECK(std::abs(swapped.distance - d.distance) < 1e-9);
    CHECK(allocations_in([&] { signed_distance(a, X_WA, b, X_WB); }) == 0);
  }
}

TEST_CASE("distances to planes, meshes and height fields") {
  const Geometry plane(Plane{}), sphere(Sphere{0.5}), mesh(box_mesh({1, 1, 1})), field(slope());
  Distance d = signed_distance(sphere, {Mat3<>::identity(), {3, 0, 2}}, plane, {});
  check_consistent(d);
  CHECK(d.distance == doctest::Approx(1.5).epsilon(1e-14));
  d = signed_distance(plane, {}, plane, {turn_x(3.14159265358979323846), {0, 0, 1}});
  CHECK(d.distance == doctest::Approx(1));
  CHECK(signed_distance(plane, {}, plane, {turn_x(1), {0, 0, 1}}).distance == -std::numeric_limits<double>::infinity());
  Random random(8);
  for (int i = 0; i < 200; ++i) {  // a mesh of a box is as far away as the box
    const Transform<> X_WS = random.pose(4), X_WB = random.pose(1);
    const Shape shape = random_convex(random, random.below(5));
    const Distance to_mesh = signed_distance(Geometry(shape), X_WS, mesh, X_WB);
    const Distance to_box = signed_distance(Geometry(shape), X_WS, Geometry(Box{{2, 2, 2}}), X_WB);
    if (to_box.distance < 0) continue;
    check_consistent(to_mesh);
    CHECK(std::abs(to_mesh.distance - to_box.distance) < 1e-9);
    CHECK(std::abs(signed_distance(mesh, X_WB, Geometry(shape), X_WS).distance - to_box.distance) < 1e-9);
  }
  const Vec3<> n = (1 / std::sqrt(1.05)) * Vec3<>{-0.2, 0.1, 1};
  d = signed_distance(sphere, {Mat3<>::identity(), 1.3 * n}, field, {});
  check_consistent(d);
  CHECK(d.distance == doctest::Approx(0.8).epsilon(1e-12));
  d = signed_distance(sphere, {Mat3<>::identity(), 0.4 * n}, field, {});
  CHECK(d.distance == doctest::Approx(-0.1).epsilon(1e-12));
  d = signed_distance(mesh, {Mat3<>::identity(), {0, 0, 1.5}}, plane, {});
  CHECK(d.distance == doctest::Approx(0.5));
  d = signed_distance(mesh, {Mat3<>::identity(), {0, 0, 3}}, mesh, {});
  CHECK(d.distance == doctest::Approx(1));
  check_consistent(d);
}

TEST_CASE("rays hit where the distance to the shape is zero, from outside") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const int kind = random.below(5);
    const Shape shape = random_convex(random, kind);
    const Geometry g(shape);
    const Transform<> X = random.pose(0.5);
    const Vec3<> p = 3 * random.direction(), d = 2 * (random.vector(0.8) - p);
    const auto hit = ray_cast(g, X, p, d, 10);
    const auto depth = [&](double t) {  // how deep the point of the ray is, by the distance of a point
      const Geometry point(Sphere{0});
      return signed_distance(point, {Mat3<>::identity(), p + (t / norm(d)) * d}, g, X).distance;
    };
    if (!hit) {
      for (int i = 0; i < 50; ++i) CHECK(depth(0.2 * i) > -1e-3);
      continue;
    }
    CHECK(std::abs(depth(hit->distance)) < 1e-9);
    CHECK(dot(hit->normal_W, d) <= 0);
    CHECK(std::abs(norm(hit->normal_W) - 1) < 1e-12);
    CHECK(norm(hit->p_W - p - (hit->distance / norm(d)) * d) < 1e-12);
    for (int i = 0; i < 20; ++i) CHECK(depth(hit->distance * i / 20) > 0);
    CHECK_FALSE(ray_cast(g, X, p, d, 0.999 * hit->distance));
  }
}

TEST_CASE("rays from inside, along faces, without direction") {
  const Geometry box(Box{{2, 2, 2}}), plane(Plane{}), flat(ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}});
  const auto inside = ray_cast(box, {}, {0.5, 0, 0}, {0, 0, 3}, 10);
  REQUIRE(inside);
  CHECK(inside->distance == 0);
  CHECK(inside->normal_W == Vec3<>{0, 0, -1});
  CHECK_FALSE(ray_cast(box, {}, {5, 0, 0}, {0, 0, 0}, 10));
  CHECK_FALSE(ray_cast(box, {}, {5, 0, 0}, {1, 0, 0}, 10));
  CHECK(ray_cast(box, {}, {-5, 1, 0}, {1, 0, 0}, 10)->distance == doctest::Approx(4));
  CHECK_FALSE(ray_cast(plane, {}, {0, 0, 1}, {1, 0, 0}, 100));
  CHECK(ray_cast(plane, {}, {0, 0, 1}, {0, 1, -1}, 100)->distance == doctest::Approx(std::sqrt(2.0)));
  CHECK(ray_cast(flat, {}, {0.2, 0.2, 1}, {0, 0, -1}, 5)->distance == doctest::Approx(1));
  CHECK_FALSE(ray_cast(flat, {}, {0.8, 0.8, 1}, {0, 0, -1}, 5));
}

TEST_CASE("rays on meshes and height fields") {
  const Geometry mesh(box_mesh({1, 0.5, 0.7})), box(Box{{2, 1, 1.4}}), field(slope());
  Random random(21);
  int hits = 0;
  for (int i = 0; i < 300; ++i) {
    const Transform<> X = random.pose(0.5);
    const Vec3<> p = 4 * random.direction(), d = random.vector(1) - p;
    const auto a = ray_cast(mesh, X, p, d, 10), b = ray_cast(box, X, p, d, 10);
    REQUIRE(a.has_value() == b.has_value());
    if (!a) continue;
    ++hits;
    CHECK(std::abs(a->distance - b->distance) < 1e-12);
    CHECK(norm(a->normal_W - b->normal_W) < 1e-12);
  }
  CHECK(hits > 100);
  for (int i = 0; i < 300; ++i) {
    const Vec3<> p{random.uniform(-1.9, 1.9), random.uniform(-1.4, 1.4), 3},
        d{random.uniform(-1, 1), random.uniform(-1, 1), -2};
    const auto hit = ray_cast(field, {}, p, d, 20);
    // The plane z = 0.2·x − 0.1·y.
    const double t = -(p.z - 0.2 * p.x + 0.1 * p.y) / (d.z - 0.2 * d.x + 0.1 * d.y);
    const Vec3<> q = p + t * d;
    if (std::abs(q.x) > 1.999 || std::abs(q.y) > 1.499) continue;
    REQUIRE(hit);
    CHECK(std::abs(hit->distance - t * norm(d)) < 1e-12);
  }
  CHECK(ray_cast(field, {}, {0, 0, -1}, {0, 0, 1}, 5)->distance == 0);
  CHECK(ray_cast(field, {}, {-5, 0, -1}, {1, 0, 0}, 5)->distance == doctest::Approx(3));
  CHECK_FALSE(ray_cast(field, {}, {-5, 0, 3}, {1, 0, 0}, 50));
}

TEST_CASE("boxes around shapes touch them") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Shape shape = random_convex(random, int(seed) % 5);
    const Transform<> X = random.pose(2);
    const Aabb box = bounds(Geometry(shape), X);
    const auto top = [&](const Vec3<>& d) { return dot(d, X.p) + support(shape, transpose_times(X.R, d)); };
    CHECK(std::abs(box.upper.x - top({1, 0, 0})) < 1e-12);
    CHECK(std::abs(box.lower.y + top({0, -1, 0})) < 1e-12);
    CHECK(std::abs(box.upper.z - top({0, 0, 1})) < 1e-12);
  }
  const Aabb floor = bounds(Geometry(Plane{}), {Mat3<>::identity(), {0, 0, 2}});
  CHECK(floor.upper.z == 2);
  CHECK(floor.upper.x == std::numeric_limits<double>::infinity());
  CHECK(bounds(Geometry(Plane{}), {turn_x(0.1), {}}).upper.z == std::numeric_limits<double>::infinity());
  const Aabb ground = bounds(Geometry(slope()), {turn_z(0.3), {}});
  CHECK(ground.lower.z == -std::numeric_limits<double>::infinity());
  CHECK(std::isfinite(ground.lower.x + ground.upper.x + ground.upper.z));
}

}  // namespace kansetsu
