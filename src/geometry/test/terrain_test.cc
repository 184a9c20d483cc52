#include "geometry/terrain.h"

#include <set>

#include "kansetsu/base/error.h"
#include "kansetsu/geometry/query.h"
#include "support.h"

/// Shapes on height fields and meshes.
namespace kansetsu {
namespace {

using namespace test;

constexpr double kPi = 3.14159265358979323846;

/// A grid of triangles over the square of this size, at heights z(x, y).
template <class Height>
TriangleMesh grid_mesh(int n, double size, Height&& z) {
  auto data = std::make_shared<TriangleMeshData>();
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) {
      const double x = size * (double(i) / n - 0.5), y = size * (double(j) / n - 0.5);
      data->vertices.push_back({x, y, z(x, y)});
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const int a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      data->triangles.push_back({a, b, d});
      data->triangles.push_back({a, d, c});
    }
  }
  return {data};
}

template <class Height>
HeightField grid_field(int n, double size, Height&& z) {
  HeightField field{n + 1, n + 1, size, size, {}};
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) field.heights.push_back(z(size * (double(i) / n - 0.5), size * (double(j) / n - 0.5)));
  }
  return field;
}

struct Found {
  Manifold memory[16];
  int count = 0;
};
Found contacts(const Shape& A, const Transform<>& X_WA, const Shape& B, const Transform<>& X_WB = {},
               double margin = 0.01) {
  Found f;
  ManifoldList list(f.memory);
  f.count = collide(Geometry(A), X_WA, Geometry(B), X_WB, margin, list);
  CHECK(list.dropped() == 0);
  std::set<std::uint32_t> parts;
  for (int i = 0; i < f.count; ++i) {
    CHECK(f.memory[i].count > 0);
    CHECK(is_finite(f.memory[i]));
    CHECK(parts.insert(f.memory[i].part).second);  // the cache tells contacts apart by it
    std::set<std::uint32_t> features;
    for (const ContactPoint& p : f.memory[i].used()) CHECK(features.insert(p.feature).second);
    if (i > 0) CHECK(f.memory[i - 1].part < f.memory[i].part);
  }
  return f;
}

const auto kFlat = [](double, double) { return 0.0; };
const auto kRoof = [](double x, double) { return -0.5 * std::abs(x); };
const auto kValley = [](double x, double) { return 0.5 * std::abs(x); };

}  // namespace

TEST_CASE("a flat surface of many triangles is as good as a plane") {
  const std::vector<Shape> floors{grid_mesh(7, 4, kFlat), grid_field(7, 4, kFlat)};
  const std::vector<Shape> shapes{Box{{0.8, 0.6, 0.4}}, Sphere{0.3}, Capsule{0.2, 0.7}, Cylinder{0.3, 0.5},
                                  ConvexHull{{{0.3, 0, -0.2}, {-0.3, 0.2, -0.2}, {-0.2, -0.3, -0.2}, {0, 0, 0.3}}}};
  Random random(3);
  for (const Shape& floor : floors) {
    for (const Shape& shape : shapes) {
      for (int i = 0; i < 60; ++i) {
        CAPTURE(shape.index());
        CAPTURE(i);
        Transform<> X{turn_z(random.uniform(0, 6)), {random.uniform(-1, 1), random.uniform(-1, 1), 0}};
        if (i % 3 == 0) X.R = random.rotation();
        if (i % 3 == 1) X.R = X.R * turn_x(kPi / 2);
        X.p.z = support(shape, transpose_times(X.R, Vec3<>{0, 0, -1})) - (i % 2 == 0 ? 0.001 : -0.001);
        const Found f = contacts(shape, X, floor);
        Manifold plane;
        REQUIRE(collide(Geometry(shape), X, Geometry(Plane{}), {}, 0.01, plane));
        REQUIRE(f.count == 1);
        const Manifold& m = f.memory[0];
        CHECK(norm(m.normal_W - plane.normal_W) < 1e-9);
        CHECK(std::abs(least_gap(m) - least_gap(plane)) < 1e-9);
        REQUIRE(m.count == plane.count);
        for (const ContactPoint& p : plane.used()) {
          double nearest = 1;
          for (const ContactPoint& q : m.used()) nearest = std::min(nearest, norm(p.p_W - q.p_W));
          CHECK(nearest < 1e-8);
        }
      }
    }
  }
}

TEST_CASE("sliding over flat triangles never trips: the normal stays up and the part the same") {
  const Geometry floor(grid_mesh(9, 3, kFlat)), box(Box{{0.2, 0.15, 0.1}}), ball(Sphere{0.1});
  for (int i = 0; i < 500; ++i) {
    const double t = i / 500.0;
    for (const Geometry* shape : {&box, &ball}) {
      const double z = shape == &box ? 0.05 : 0.1;
      Manifold memory[8];
      ManifoldList list(memory);
      // Tilted a little, sunk a little: the worst case for edges.
      collide(*shape, {turn_z(t) * turn_y(0.005), {-1 + 2 * t, 0.5 * t, z - 0.002}}, floor, {}, 0.005, list);
      REQUIRE(list.size() == 1);
      CHECK(norm(list[0].normal_W - Vec3<>{0, 0, 1}) < 1e-9);
      CHECK(list[0].part == 0);
    }
  }
}

TEST_CASE("a box on the ridge of a roof touches it along the ridge, upright") {
  for (const Shape& roof : {Shape{grid_mesh(4, 4, kRoof)}, Shape{grid_field(4, 4, kRoof)}}) {
    for (double gap : {0.002, -0.002}) {
      CAPTURE(gap);
      const Found f = contacts(Box{{0.5, 0.6, 0.2}}, {Mat3<>::identity(), {0.05, 0.3, 0.1 + gap}}, roof, {}, 0.005);
      REQUIRE(f.count == 1);
      const Manifold& m = f.memory[0];
      CHECK(norm(m.normal_W - Vec3<>{0, 0, 1}) < 1e-9);
      REQUIRE(m.count == 2);
      for (const ContactPoint& p : m.used()) {
        CHECK(std::abs(p.gap - gap) < 1e-9);
        CHECK(std::abs(p.p_W.x) < 1e-9);
      }
      CHECK(std::abs(norm(m.points[0].p_W - m.points[1].p_W) - 0.6) < 1e-9);
    }
  }
}

TEST_CASE("a ball in a valley touches both sides") {
  for (const Shape& valley : {Shape{grid_mesh(4, 4, kValley)}, Shape{grid_field(4, 4, kValley)}}) {
    const double slant = std::sqrt(1.25);
    const Found f = contacts(Sphere{0.2}, {Mat3<>::identity(), {0, 0.3, 0.2 * slant - 0.001}}, valley);
    REQUIRE(f.count == 2);
    for (int i = 0; i < 2; ++i) {
      CHECK(std::abs(std::abs(f.memory[i].normal_W.x) - 0.5 / slant) < 1e-9);
      CHECK(std::abs(f.memory[i].points[0].gap + 0.001 / slant) < 1e-9);
    }
    CHECK(f.memory[0].normal_W.x * f.memory[1].normal_W.x < 0);
  }
}

TEST_CASE("balls over rough ground are as far away as from all triangles one by one") {
  const auto rough = [](double x, double y) { return 0.2 * std::sin(3 * x) * std::cos(2 * y); };
  const TriangleMesh mesh = grid_mesh(12, 4, rough);
  const HeightField field = grid_field(12, 4, rough);
  Random random(12);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const Vec3<> p{random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5), random.uniform(0.25, 0.6)};
    double nearest = 1e9;
    for (const auto& t : mesh.data->triangles) {  // densely sampled: an upper bound that is good to about 1e-3
      for (int u = 0; u <= 20; ++u) {
        for (int v = 0; u + v <= 20; ++v) {
          const Vec3<> q = (u / 20.0) * mesh.data->vertices[std::size_t(t[0])] +
                           (v / 20.0) * mesh.data->vertices[std::size_t(t[1])] +
                           ((20 - u - v) / 20.0) * mesh.data->vertices[std::size_t(t[2])];
          nearest = std::min(nearest, norm(p - q));
        }
      }
    }
    for (const Shape& ground : {Shape{mesh}, Shape{field}}) {
      const Found f = contacts(Sphere{0.3}, {Mat3<>::identity(), p}, ground, {}, 0.2);
      double gap = 1e9;
      for (int k = 0; k < f.count; ++k) gap = std::min(gap, least_gap(f.memory[k]));
      if (nearest - 0.3 < 0.19) {
        CHECK(gap <= nearest - 0.3 + 1e-12);
        CHECK(gap > nearest - 0.3 - 3e-3);
      }
    }
  }
}

TEST_CASE("meshes on planes and on each other") {
  auto cube = std::make_shared<TriangleMeshData>();
  for (int v = 0; v < 8; ++v)
    cube->vertices.push_back({(v & 1) != 0 ? 0.5 : -0.5, (v & 2) != 0 ? 0.5 : -0.5, (v & 4) != 0 ? 0.5 : -0.5});
  cube->triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  const TriangleMesh mesh{cube};
  Found f = contacts(mesh, {turn_z(0.4), {0, 0, 0.499}}, Plane{});
  REQUIRE(f.count == 1);
  CHECK(f.memory[0].count == 4);
  CHECK(f.memory[0].normal_W == Vec3<>{0, 0, 1});
  CHECK(std::abs(least_gap(f.memory[0]) + 0.001) < 1e-12);
  f = contacts(Plane{}, {}, mesh, {turn_z(0.4), {0, 0, 0.499}});
  REQUIRE(f.count == 1);
  CHECK(f.memory[0].normal_W == Vec3<>{0, 0, -1});
  f = contacts(mesh, {turn_z(0.4), {0, 0, 1.001}}, mesh);
  REQUIRE(f.count >= 1);
  CHECK(norm(f.memory[0].normal_W - Vec3<>{0, 0, 1}) < 1e-9);
  CHECK(f.memory[0].count == 8);
  f = contacts(mesh, {turn_z(0.4), {0.1, 0, 0.501}}, grid_field(6, 4, kFlat));
  REQUIRE(f.count == 1);
  CHECK(f.memory[0].count == 4);
  CHECK(norm(f.memory[0].normal_W - Vec3<>{0, 0, 1}) < 1e-9);
  CHECK(contacts(Plane{}, {}, grid_field(6, 4, kFlat)).count == 0);
}

TEST_CASE("the surface can be turned and moved, and come first") {
  const Transform<> X{turn_x(0.7) * turn_z(1), {3, -2, 5}};
  const Box box{{0.4, 0.4, 0.2}};
  const Transform<> X_WB = X * Transform<>{turn_z(0.5), {0.3, 0.2, 0.1}};
  const Found a = contacts(box, X_WB, grid_mesh(5, 3, kFlat), X), b = contacts(grid_mesh(5, 3, kFlat), X, box, X_WB);
  REQUIRE(a.count == 1);
  REQUIRE(b.count == 1);
  CHECK(norm(a.memory[0].normal_W - X.R.column_z()) < 1e-9);
  CHECK(norm(a.memory[0].normal_W + b.memory[0].normal_W) < 1e-15);
  REQUIRE(a.memory[0].count == 4);
  for (int i = 0; i < 4; ++i) {
    CHECK(a.memory[0].points[i].p_W == b.memory[0].points[3 - i].p_W);
    CHECK((a.memory[0].points[i].feature >> 16) == (b.memory[0].points[3 - i].feature & 0xffff));
  }
}

/// A cube as a mesh and as a hull: what touches one touches the other.
struct Cube {
  ConvexHull hull{};
  TriangleMesh mesh{};
  explicit Cube(double half) {
    auto data = std::make_shared<TriangleMeshData>();
    for (int i = 0; i < 8; ++i)
      data->vertices.push_back({(i & 1) != 0 ? half : -half, (i & 2) != 0 ? half : -half, (i & 4) != 0 ? half : -half});
    data->triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                       {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    hull.vertices = data->vertices;
    mesh.data = data;
  }
};

TEST_CASE("a mesh touches with its corners and edges, not with its faces alone") {
  const Cube cube(0.1);
  Random random(7);
  const Geometry hull(cube.hull);
  for (const Shape& shape : {Shape(Sphere{0.1}), Shape(Capsule{0.1, 0.3}), Shape(Box{{0.5, 0.4, 0.3}}),
                             Shape(Cylinder{0.2, 0.3}), Shape(Cube(0.1).hull)}) {
    const Geometry other(shape);
    for (const double wanted : {1e-3, -5e-4}) {
      int missing = 0, wrong = 0;
      constexpr int kTries = 300;
      for (int i = 0; i < kTries; ++i) {
        const Transform<> X_WO{random.rotation(), {}};
        Transform<> X_WC = random.pose(1);
        for (int k = 0; k < 50; ++k) {  // brought to the distance that is wanted
          const Distance d = signed_distance(other, X_WO, hull, X_WC);
          X_WC.p += (d.distance - wanted) * d.normal_W;
        }
        Manifold memory[16];
        ManifoldList list(memory);
        const int count = collide(other, X_WO, Geometry(cube.mesh), X_WC, 2e-3, list);
        double gap = 1;
        for (int k = 0; k < count; ++k) {
          for (const ContactPoint& p : memory[k].used()) gap = std::min(gap, p.gap);
        }
        missing += count == 0;
        wrong += count > 0 && std::abs(gap - wanted) > 4e-4;
      }
      INFO("kind ", int(other.kind()), ", distance ", wanted, ": missing ", missing, ", wrong ", wrong);
      if (wanted > 0) {
        CHECK(missing == 0);
        CHECK(wrong <= kTries / 100);  // what a cylinder's rim touches is not exact
      } else {  // triangles have no inside: for one that has been passed the way out may be on its other side
        CHECK(missing <= kTries / 20);
        CHECK(wrong <= kTries / 10);
      }
    }
  }
}

TEST_CASE("what is deep below a height field is pushed up; what is behind a mesh is left alone") {
  const Found f = contacts(Sphere{0.1}, {Mat3<>::identity(), {0.1, 0.2, -1}}, grid_field(4, 4, kFlat));
  REQUIRE(f.count == 1);
  CHECK(norm(f.memory[0].normal_W - Vec3<>{0, 0, 1}) < 1e-12);
  CHECK(std::abs(f.memory[0].points[0].gap + 1.1) < 1e-12);
  CHECK(contacts(Sphere{0.1}, {Mat3<>::identity(), {0.1, 0.2, -0.05}}, grid_mesh(4, 4, kFlat)).count == 0);
}

TEST_CASE("a list that is full keeps the deepest and counts the rest") {
  const Geometry valley(grid_mesh(4, 4, kValley)), ball(Sphere{0.2});
  Manifold one[1];
  ManifoldList list(one);
  const Transform<> X{Mat3<>::identity(), {0.01, 0.3, 0.2 * std::sqrt(1.25) - 0.01}};
  CHECK(collide(ball, X, valley, {}, 0.01, list) == 1);
  CHECK(list.dropped() == 1);
  CHECK(list[0].normal_W.x < 0);  // nearer to the side at x > 0
  list.clear();
  CHECK(list.size() == 0);
  CHECK(list.dropped() == 0);
  Manifold single;
  CHECK(collide(ball, X, valley, {}, 0.01, single));
  CHECK(single.normal_W.x < 0);
}

TEST_CASE("geometry refuses what is no shape, with the values") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(Geometry(Sphere{-1}), doctest::Contains("radius of the sphere is -1"), Error);
  CHECK_THROWS_AS(Geometry(Box{{1, nan, 1}}), Error);
  CHECK_THROWS_AS(Geometry(Capsule{1, -1}), Error);
  CHECK_THROWS_AS(Geometry(Cylinder{std::numeric_limits<double>::infinity(), 1}), Error);
  CHECK_THROWS_AS(Geometry(ConvexHull{}), Error);
  CHECK_THROWS_AS(Geometry(ConvexHull{{{nan, 0, 0}}}), Error);
  CHECK_THROWS_WITH_AS(Geometry(Mesh{.uri = "a.stl"}), doctest::Contains("a.stl"), Error);
  CHECK_THROWS_AS(Geometry(TriangleMesh{}), Error);
  CHECK_THROWS_AS(Geometry(HeightField{2, 2, 1, 1, {0, 0, 0}}), Error);
  CHECK_THROWS_AS(Geometry(HeightField{1, 2, 1, 1, {0, 0}}), Error);
  CHECK_THROWS_AS(Geometry(HeightField{2, 2, 1, 0, {0, 0, 0, 0}}), Error);
  auto data = std::make_shared<TriangleMeshData>();
  data->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  data->triangles = {{0, 1, 3}};
  CHECK_THROWS_WITH_AS(Geometry(TriangleMesh{data}), doctest::Contains("vertex 3"), Error);
}

}  // namespace kansetsu
