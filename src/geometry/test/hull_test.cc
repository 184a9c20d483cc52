#include "geometry/hull.h"

#include <cmath>
#include <map>

#include "support.h"

namespace kansetsu {
namespace {

using namespace test;

/// Convex, closed, around all points, with the right number of edges.
void check_hull(const HullData& hull, const std::vector<Vec3<>>& points, double slack = 1e-9) {
  REQUIRE(hull.faces.size() >= 4);
  std::map<std::pair<int, int>, int> edges;
  int edge_count = 0;
  for (const HullData::Face& face : hull.faces) {
    REQUIRE(face.count >= 3);
    CHECK(std::abs(norm(face.normal) - 1) < 1e-14);
    for (const Vec3<>& p : points) CHECK(dot(face.normal, p) - face.offset < slack);
    for (int i = 0; i < face.count; ++i) {
      const int a = hull.loop[std::size_t(face.first + i)],
                b = hull.loop[std::size_t(face.first + (i + 1) % face.count)];
      CHECK(std::abs(dot(face.normal, hull.vertices[std::size_t(a)]) - face.offset) < slack);
      CHECK(edges.emplace(std::pair(a, b), hull.loop_edge[std::size_t(face.first + i)]).second);
      edge_count = std::max(edge_count, hull.loop_edge[std::size_t(face.first + i)] + 1);
    }
  }
  for (const auto& [edge, number] : edges) {
    const auto opposite = edges.find({edge.second, edge.first});
    REQUIRE(opposite != edges.end());
    CHECK(opposite->second == number);
  }
  CHECK(int(hull.vertices.size()) - edge_count + int(hull.faces.size()) == 2);  // Euler
}

std::vector<Vec3<>> box_points(const Vec3<>& half) {
  std::vector<Vec3<>> p;
  for (int v = 0; v < 8; ++v)
    p.push_back({(v & 1) != 0 ? half.x : -half.x, (v & 2) != 0 ? half.y : -half.y, (v & 4) != 0 ? half.z : -half.z});
  return p;
}

}  // namespace

TEST_CASE("hulls of random points hold them all") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<Vec3<>> points;
    for (int i = 0, n = 4 + random.below(60); i < n; ++i) points.push_back(random.vector(1));
    check_hull(make_hull(points), points);
  }
}

TEST_CASE("a box has six faces of four corners, whatever lies in them") {
  std::vector<Vec3<>> points = box_points({1, 2, 3});
  Random random(5);
  for (int i = 0; i < 50; ++i) points.push_back({random.uniform(-1, 1), random.uniform(-2, 2), 3});
  for (int i = 0; i < 50; ++i) points.push_back({1, random.uniform(-2, 2), random.uniform(-3, 3)});
  for (int i = 0; i < 10; ++i) points.push_back({-1, 2, random.uniform(-3, 3)});
  const HullData hull = make_hull(points);
  check_hull(hull, points);
  CHECK(hull.faces.size() == 6);
  for (const auto& face : hull.faces) CHECK(face.count >= 4);
  CHECK(hull.centre.x == doctest::Approx(0).epsilon(0.5));
}

TEST_CASE("points on a grid, a sphere and far away") {
  Random random(3);
  std::vector<Vec3<>> grid, sphere, far;
  for (int i = 0; i < 125; ++i) grid.push_back({double(i % 5), double(i / 5 % 5), double(i / 25)});
  for (int i = 0; i < 1000; ++i) sphere.push_back(random.direction());
  for (const Vec3<>& p : sphere) far.push_back(1e-3 * p + Vec3<>{100, -50, 20});
  const HullData cube = make_hull(grid), ball = make_hull(sphere);
  check_hull(cube, grid);
  CHECK(cube.faces.size() == 6);
  check_hull(ball, sphere);
  CHECK(ball.vertices.size() == 1000);
  check_hull(make_hull(far), far);
}

TEST_CASE("degenerate clouds have closed convex hulls") {
  // What drawing programs write: corners of rotated grids, cylinders and plates in single precision, copies with noise around the
  // tolerance of 1e-10, clusters, needles. A hull must be closed and convex for all of them.
  for (unsigned seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const int kind = int(seed % 6);
    const Mat3<> R = random.rotation();
    // At sharp edges, a point within the tolerance of a plane can be further from the body: seen at ten tolerances of thickness.
    const double thin = seed % 4 == 0 ? 1e-9 : 1e-6;
    const double noise = seed % 3 == 0 ? 0 : std::pow(10.0, random.uniform(-13, -7));
    std::vector<Vec3<>> points;
    for (int i = 0, n = 20 + random.below(400); i < n; ++i) {
      const double turn = 2 * 3.14159265358979 * random.below(24) / 24, sign = random.below(2) == 0 ? -1 : 1;
      Vec3<> p = random.vector(1);
      if (kind == 0) p = {0.25 * random.below(5), 0.25 * random.below(5), 0.25 * random.below(5)};
      if (kind == 1) p = {std::cos(turn), std::sin(turn), 0.2 * sign};
      if (kind == 2) p = {p.x, p.y, thin * p.z};
      if (kind == 3) p = {p.x, thin * p.y, 10 * thin * p.z};
      if (kind == 4 && i > 8) p = points[std::size_t(random.below(8))];
      if (kind == 5) p = {p.x, p.y, 1 - p.x * p.x - p.y * p.y};
      p = R * p + noise * random.vector(1);
      if (kind == 1) p = {double(float(p.x)), double(float(p.y)), double(float(p.z))};
      points.push_back(p);
    }
    const HullData hull = make_hull(points);
    if (hull.faces.size() > 2)
      check_hull(hull, points, thin < 1e-8 ? 1e-6 : 1e-9);
    else
      CHECK((kind == 2 || kind == 3));  // thin enough to be flat, or a line
  }
}

TEST_CASE("the tolerance of a hull from either side") {
  std::vector<Vec3<>> points = box_points({1, 1, 1});
  const double size = std::sqrt(12.0);
  points.push_back({0.1, 0.2, 1 + 0.9e-10 * size});
  CHECK(make_hull(points).faces.size() == 6);
  points.back().z = 1 + 1.2e-10 * size;
  check_hull(make_hull(points), points);
  CHECK(make_hull(points).vertices.size() == 9);
  // A plate of less than the tolerance is flat.
  CHECK(make_hull(box_points({1, 1, 0.4e-10})).faces.size() == 2);
  CHECK(make_hull(box_points({1, 1, 3e-10})).faces.size() == 6);
}

TEST_CASE("flat sets, lines and points") {
  const std::vector<Vec3<>> square{{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}, {0.5, 0.5, 1}, {0.5, 0, 1}};
  const HullData flat = make_hull(square);
  REQUIRE(flat.faces.size() == 2);
  CHECK(flat.faces[0].count == 4);
  CHECK(flat.faces[1].count == 4);
  CHECK(dot(flat.faces[0].normal, flat.faces[1].normal) == -1);
  CHECK(flat.vertices.size() == 4);
  const HullData line = make_hull(std::vector<Vec3<>>{{0, 0, 0}, {1, 1, 1}, {3, 3, 3}, {2, 2, 2}});
  CHECK(line.vertices.size() == 2);
  CHECK(line.neighbour.size() == 2);
  const HullData point = make_hull(std::vector<Vec3<>>{{1, 2, 3}, {1, 2, 3}});
  CHECK(point.vertices.size() == 1);
  CHECK(point.faces.empty());
}

}  // namespace kansetsu
