#include "geometry/hull.h"

#include <map>

#include "support.h"

namespace kansetsu {
namespace {

using namespace test;

/// Convex, closed, around all points, with the right number of edges.
void check_hull(const HullData& hull, const std::vector<Vec3<>>& points) {
  REQUIRE(hull.faces.size() >= 4);
  std::map<std::pair<int, int>, int> edges;
  int edge_count = 0;
  for (const HullData::Face& face : hull.faces) {
    REQUIRE(face.count >= 3);
    CHECK(std::abs(norm(face.normal) - 1) < 1e-14);
    for (const Vec3<>& p : points) CHECK(dot(face.normal, p) - face.offset < 1e-9);
    for (int i = 0; i < face.count; ++i) {
      const int a = hull.loop[std::size_t(face.first + i)],
                b = hull.loop[std::size_t(face.first + (i + 1) % face.count)];
      CHECK(std::abs(dot(face.normal, hull.vertices[std::size_t(a)]) - face.offset) < 1e-9);
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
