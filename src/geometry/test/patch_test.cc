#include <set>

#include "no_alloc.h"
#include "support.h"

/// What a contact patch looks like where it can be told by hand.
namespace kansetsu {
namespace {

using namespace test;

constexpr double kPi = 3.14159265358979323846;
const Geometry kPlane{Plane{}};

Manifold contact(const Shape& A, const Transform<>& X_WA, const Shape& B, const Transform<>& X_WB,
                 double margin = 0.01) {
  Manifold m;
  collide(Geometry(A), X_WA, Geometry(B), X_WB, margin, m);
  return m;
}

/// Counterclockwise around the normal, and convex.
void check_order(const Manifold& m) {
  for (int i = 0; i < m.count && m.count > 2; ++i) {
    const Vec3<>&a = m.points[i].p_W, &b = m.points[(i + 1) % m.count].p_W, &c = m.points[(i + 2) % m.count].p_W;
    CHECK(dot(m.normal_W, cross(b - a, c - b)) > 0);
  }
}
bool has_point(const Manifold& m, const Vec3<>& p, double gap, double tolerance = 1e-12) {
  for (const ContactPoint& q : m.used()) {
    if (norm(q.p_W - p) < tolerance && std::abs(q.gap - gap) < tolerance) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a box on a plane: face, edge, corner") {
  const Box box{{2, 4, 6}};
  Manifold m = contact(box, {turn_z(0.3), {1, 2, 2.999}}, Plane{}, {});
  REQUIRE(m.count == 4);
  CHECK(m.normal_W == Vec3<>{0, 0, 1});
  check_order(m);
  for (const ContactPoint& p : m.used()) {
    CHECK(std::abs(p.gap + 0.001) < 1e-15);
    CHECK(std::abs(p.p_W.z + 0.0005) < 1e-15);
  }
  CHECK(has_point(m, Vec3<>{1, 2, -0.0005} + turn_z(0.3) * Vec3<>{1, 2, 0}, -0.001));
  m = contact(box, {turn_x(kPi / 4), {0, 0, std::sqrt(0.5) * 5}}, Plane{}, {});
  REQUIRE(m.count == 2);
  CHECK(std::abs(m.points[0].gap) < 1e-15);
  CHECK(std::abs(norm(m.points[0].p_W - m.points[1].p_W) - 2) < 1e-15);
  const Mat3<> R = turn_x(0.5) * turn_y(0.7);
  const double height = support(box, transpose_times(R, Vec3<>{0, 0, -1}));
  m = contact(box, {R, {0, 0, height}}, Plane{}, {}, 0.2);
  REQUIRE(m.count == 1);
  CHECK(std::abs(m.points[0].gap) < 1e-15);
  CHECK(contact(box, {Mat3<>::identity(), {0, 0, 3.02}}, Plane{}, {}).count == 0);
}

TEST_CASE("the plane may stand anywhere, and come first") {
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const Transform<> X = random.pose(3);
    const Box box{{1, 1.5, 0.5}};
    const Manifold m = contact(box, X * Transform<>{Mat3<>::identity(), {0.2, 0.1, 0.25}}, Plane{}, X);
    REQUIRE(m.count == 4);
    CHECK(norm(m.normal_W - X.R.column_z()) < 1e-14);
    check_order(m);
    const Manifold s = contact(Plane{}, X, box, X * Transform<>{Mat3<>::identity(), {0.2, 0.1, 0.25}});
    REQUIRE(s.count == 4);
    CHECK(norm(m.normal_W + s.normal_W) < 1e-14);
    check_order(s);
  }
}

TEST_CASE("round shapes on a plane") {
  Manifold m = contact(Sphere{0.5}, {Mat3<>::identity(), {1, 2, 0.4}}, Plane{}, {});
  REQUIRE(m.count == 1);
  CHECK(has_point(m, {1, 2, -0.05}, -0.1));
  m = contact(Capsule{0.1, 1}, {turn_y(kPi / 2), {0, 0, 0.1}}, Plane{}, {});
  REQUIRE(m.count == 2);
  CHECK(has_point(m, {0.5, 0, 0}, 0));
  CHECK(has_point(m, {-0.5, 0, 0}, 0));
  m = contact(Capsule{0.1, 1}, {turn_y(kPi / 2 - 0.1), {0, 0, 0.1 + 0.5 * std::sin(0.1)}}, Plane{}, {});
  CHECK(m.count == 1);
  m = contact(Capsule{0.1, 1}, {Mat3<>::identity(), {0, 0, 0.6}}, Plane{}, {});
  CHECK(m.count == 1);
}

TEST_CASE("a cylinder stands on eight points, lies on two, and leans on its lowest") {
  const Cylinder cylinder{0.5, 2};
  Manifold m = contact(cylinder, {turn_z(0.2), {0, 0, 1}}, Plane{}, {});
  REQUIRE(m.count == 8);
  check_order(m);
  for (const ContactPoint& p : m.used()) CHECK(std::abs(std::hypot(p.p_W.x, p.p_W.y) - 0.5) < 1e-15);
  m = contact(cylinder, {turn_x(kPi / 2), {0, 0, 0.499}}, Plane{}, {});
  REQUIRE(m.count == 2);
  CHECK(has_point(m, {0, 1, -0.0005}, -0.001));
  CHECK(has_point(m, {0, -1, -0.0005}, -0.001));
  for (double tilt : {1e-13, 1e-9, 1e-6, 1e-4, 0.01, 0.3}) {
    for (double azimuth : {0.0, 0.3, 2.0, 4.4}) {
      const Mat3<> R = turn_z(azimuth) * turn_y(tilt);
      const double height = std::cos(tilt) + 0.5 * std::sin(tilt);  // the lowest point touches
      m = contact(cylinder, {R, {0, 0, height}}, Plane{}, {}, 1e-3);
      CAPTURE(tilt);
      REQUIRE(m.count >= 1);
      CHECK(m.count == (tilt < 1e-3 ? 8 : 1));
      CHECK(std::abs(least_gap(m)) < 1e-13);
      check_order(m);
    }
  }
}

TEST_CASE("boxes whose edges all but coincide share four corners, none of them beyond either") {
  std::mt19937_64 rng(7);
  MESSAGE("seed 7");
  std::uniform_real_distribution<double> share(-1, 1), exponent(-13, -6);
  const Box box{{1, 1, 1}};
  for (int n = 0; n < 20'000; ++n) {
    const double small = std::pow(10, exponent(rng));  // of the order in which edges count as coincident, 1e-10 m
    const Mat3<> R = turn_z(small * share(rng)) * turn_y(small * share(rng));
    const Transform<> X_A{R, {0.505, small * share(rng), 1 + small * share(rng)}};
    const Manifold m = contact(box, X_A, box, {}, 1e-3);
    CAPTURE(small);
    REQUIRE(m.count == 4);
    for (const ContactPoint& point : m.used()) {
      const Vec3<> in_a = transpose_times(R, point.p_W - X_A.p);
      const double beyond =
          std::max({std::abs(point.p_W.x), std::abs(point.p_W.y), std::abs(in_a.x), std::abs(in_a.y)});
      REQUIRE(beyond < 0.5 + 1e-6);  // the largest tilt
    }
  }
}

TEST_CASE("a corner of a patch counts from a hundred thousandth of the size of two shapes on") {
  const double size = std::sqrt(0.75);      // of each box, as tolerances count it: half its diagonal
  const auto corners = [&](double share) {  // turned so that edges cross at the middle, that far off a straight line
    const Box wide{{1, 1, 1}}, narrow{{1, 0.8, 1}};
    const double turn = 2 * share * 2 * size;
    return contact(wide, {turn_z(turn), {0, 0, 1}}, narrow, {Mat3<>::identity(), {0, 0.1, 0}}, 1e-3).count;
  };
  CHECK(corners(0.1e-5) == 4);
  CHECK(corners(10e-5) > 4);
}

TEST_CASE("a box on a box: all corners of what they share") {
  const Box lower{{2, 2, 1}}, upper{{1, 1, 1}};
  Manifold m = contact(upper, {Mat3<>::identity(), {0, 0, 1}}, lower, {});
  REQUIRE(m.count == 4);
  CHECK(m.normal_W == Vec3<>{0, 0, 1});
  check_order(m);
  CHECK(has_point(m, {0.5, 0.5, 0.5}, 0));
  m = contact(upper, {Mat3<>::identity(), {0.8, 0.9, 0.99}}, lower, {});  // over a corner
  REQUIRE(m.count == 4);
  check_order(m);
  CHECK(has_point(m, {1, 1, 0.495}, -0.01));
  CHECK(has_point(m, {0.3, 0.4, 0.495}, -0.01));
  m = contact(lower, {turn_z(kPi / 4), {0, 0, 1}}, lower, {});  // an octagon
  REQUIRE(m.count == 8);
  check_order(m);
  m = contact(lower, {Mat3<>::identity(), {0, 0, 1}}, lower, {});  // the same, exactly aligned
  REQUIRE(m.count == 4);
  check_order(m);
  CHECK(has_point(m, {1, 1, 0.5}, 0));
  m = contact(upper, {turn_y(kPi / 4), {0, 0, 0.5 + std::sqrt(0.5)}}, lower, {});  // on an edge
  REQUIRE(m.count == 2);
  CHECK(has_point(m, {0, 0.5, 0.5}, 0));
}

TEST_CASE("edges that cross touch in a point, parallel edges in a line") {
  const Box box{{1, 4, 1}};
  const double s = std::sqrt(0.5);
  Manifold m = contact(box, {turn_z(kPi / 2) * turn_y(kPi / 4), {0.3, 0.2, 2 * s - 0.01}}, box, {turn_y(kPi / 4), {}});
  REQUIRE(m.count == 1);
  CHECK(has_point(m, {0, 0.2, s - 0.005}, -0.01));
  CHECK(norm(m.normal_W - Vec3<>{0, 0, 1}) < 1e-15);
  m = contact(box, {turn_y(kPi / 4), {0, 1, 2 * s + 0.005}}, box, {turn_y(kPi / 4), {}});
  REQUIRE(m.count == 2);
  CHECK(has_point(m, {0, 2, s + 0.0025}, 0.005));
  CHECK(has_point(m, {0, -1, s + 0.0025}, 0.005));
}

TEST_CASE("capsules: crossed in a point, along each other in a line") {
  const Capsule capsule{0.1, 1};
  Manifold m = contact(capsule, {turn_y(kPi / 2), {0, 0, 0.199}}, capsule, {turn_x(kPi / 2), {}});
  REQUIRE(m.count == 1);
  CHECK(has_point(m, {0, 0, 0.0995}, -0.001));
  m = contact(capsule, {turn_x(kPi / 2), {0, 0.4, 0.2}}, capsule, {turn_x(kPi / 2), {}});
  REQUIRE(m.count == 2);
  CHECK(has_point(m, {0, 0.5, 0.1}, 0));
  CHECK(has_point(m, {0, -0.1, 0.1}, 0));
  m = contact(capsule, {turn_x(kPi / 2), {0, 1.19, 0}}, capsule, {turn_x(kPi / 2), {}});  // end to end
  REQUIRE(m.count == 1);
  CHECK(has_point(m, {0, 0.595, 0}, -0.01));
  CHECK(norm(m.normal_W - Vec3<>{0, 1, 0}) < 1e-15);
  m = contact(capsule, {turn_y(kPi / 2), {0, 0, 0}}, Box{{1, 1, 1}}, {Mat3<>::identity(), {0.2, 0, -0.6}});
  REQUIRE(m.count == 2);
  CHECK(has_point(m, {0.5, 0, -0.1}, 0));
  CHECK(has_point(m, {-0.3, 0, -0.1}, 0));
}

TEST_CASE("cylinders on boxes and on each other") {
  const Cylinder can{0.5, 1};
  Manifold m = contact(can, {turn_z(0.1), {0, 0, 1}}, Box{{2, 2, 1}}, {});
  REQUIRE(m.count == 8);
  check_order(m);
  m = contact(can, {Mat3<>::identity(), {0, 0, 1}}, can, {turn_z(1), {}});
  CHECK(m.count == 8);
  check_order(m);
  CHECK(m.normal_W == Vec3<>{0, 0, 1});
  m = contact(can, {turn_x(kPi / 2), {0, 0, 1}}, Box{{2, 2, 1}}, {});
  REQUIRE(m.count == 2);
  CHECK(has_point(m, {0, 0.5, 0.5}, 0));
  m = contact(Box{{0.2, 0.2, 0.2}}, {Mat3<>::identity(), {0.45, 0, 0.6}}, can, {});  // over the rim
  CHECK(m.count >= 4);
  check_order(m);
  for (const ContactPoint& p : m.used()) CHECK(std::hypot(p.p_W.x, p.p_W.y) < 0.5 + 1e-12);
}

TEST_CASE("features stay under small motion and differ within a patch") {
  Random random(11);
  const std::vector<Shape> shapes{Box{{1, 0.8, 0.6}}, Cylinder{0.4, 1}, Capsule{0.3, 1},
                                  ConvexHull{{{0, 0, 1}, {0.9, 0, 0}, {0, 0.8, 0}, {-0.7, -0.6, 0}, {0, 0, -0.5}}}};
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    const Shape &A = shapes[std::size_t(i % 4)], &B = shapes[std::size_t(random.below(4))];
    const Transform<> X_WA = random.pose(0.3);
    Transform<> X_WB{random.rotation(), {}};
    const Vec3<> n = random.direction();
    X_WB.p = X_WA.p + (separation(A, X_WA, B, {X_WB.R, X_WA.p}, n) + 0.01) * n;
    const Manifold m = contact(A, X_WA, B, X_WB, 0.2);
    const Transform<> moved{
        X_WA.R * to_mat3(normalised(Quaternion<>{5e-7 * random.uniform(-1, 1), 5e-7, 5e-7 * random.uniform(-1, 1), 1})),
        X_WA.p + 1e-6 * random.direction()};
    const Manifold k = contact(A, moved, B, X_WB, 0.2);
    if (m.count == 0 || k.count == 0) continue;
    CHECK(std::abs(least_gap(m) - least_gap(k)) < 3e-6);  // as far as the points move
    std::set<std::uint32_t> a, b;
    for (const ContactPoint& p : m.used()) a.insert(p.feature);
    for (const ContactPoint& p : k.used()) b.insert(p.feature);
    CHECK(int(a.size()) == m.count);
    ++compared;
    CAPTURE(i);
    const std::vector<std::uint32_t> before(a.begin(), a.end()), after(b.begin(), b.end());
    CHECK(before == after);
  }
  CHECK(compared > 100);
}

TEST_CASE("the gap is continuous while a box tumbles through a box") {
  const Geometry A(Box{{1, 0.7, 0.5}}), B(Box{{0.9, 1.2, 0.6}});
  double last = 0;
  for (int i = 0; i <= 4000; ++i) {
    const double t = i / 4000.0;
    const Transform<> X_WA{turn_x(3 * t) * turn_y(2 * t) * turn_z(t), {0.9 * t, 0.4 * t, 0.95 - 0.8 * t}};
    Manifold m;
    REQUIRE(collide(A, X_WA, B, {}, 1, m));
    const double gap = least_gap(m);
    // Per step no point of the box moves further than |v| + |w|·r = (1.31 + 6·0.66)/4000.
    if (i > 0) CHECK(std::abs(gap - last) < 1.4e-3);
    last = gap;
  }
}

TEST_CASE("degenerate shapes and places give finite contacts") {
  const std::vector<Shape> shapes{Sphere{0},
                                  Sphere{1},
                                  Capsule{0, 0},
                                  Capsule{0, 1},
                                  Capsule{0.5, 0},
                                  Box{{0, 0, 0}},
                                  Box{{1, 1, 0}},
                                  Box{{1, 0, 0}},
                                  Box{{1, 1, 1}},
                                  Cylinder{0, 0},
                                  Cylinder{1, 0},
                                  Cylinder{0, 1},
                                  Cylinder{0.5, 1},
                                  ConvexHull{{{0, 0, 0}}},
                                  ConvexHull{{{0, 0, 0}, {1, 0, 0}}},
                                  ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
                                  ConvexHull{{{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                  Plane{}};
  const std::vector<Vec3<>> places{{0, 0, 0},    {0.5, 0, 0}, {0, 0, 1},     {0.5, 0.5, 0.5},
                                   {1e-9, 0, 0}, {1, 1, 0},   {0, 0, 1e-300}};
  const std::vector<Mat3<>> turns{Mat3<>::identity(), turn_x(kPi / 2), turn_z(kPi / 4) * turn_x(1e-9), turn_y(1)};
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    for (std::size_t b = 0; b < shapes.size(); ++b) {
      const Geometry A(shapes[a]), B(shapes[b]);
      for (const Vec3<>& p : places) {
        for (const Mat3<>& R : turns) {
          CAPTURE(a);
          CAPTURE(b);
          Manifold m;
          const bool found = collide(A, {R, p}, B, {}, 0.01, m);
          REQUIRE(is_finite(m));
          CHECK(m.count >= 0);
          CHECK(m.count <= kMaxManifoldPoints);
          if (found) CHECK(std::abs(norm(m.normal_W) - 1) < 1e-12);
        }
      }
    }
  }
}

TEST_CASE("concentric spheres part along z, others along what is nearest") {
  Manifold m = contact(Sphere{1}, {}, Sphere{2}, {});
  REQUIRE(m.count == 1);
  CHECK(m.normal_W == Vec3<>{0, 0, 1});
  CHECK(m.points[0].gap == -3);
  m = contact(Sphere{0.1}, {}, Box{{2, 2, 1}}, {});
  REQUIRE(m.count == 1);
  CHECK(std::abs(m.normal_W.z) == 1);
  CHECK(m.points[0].gap == -0.6);
}

TEST_CASE("sizes from a micrometre to a kilometre") {
  for (double scale : {1e-6, 1e-3, 1.0, 1e3}) {
    CAPTURE(scale);
    const Box box{{scale, scale, scale}};
    const Manifold m = contact(box, {turn_z(0.4), {0, 0, 0.999 * scale}}, box, {}, 0.1 * scale);
    REQUIRE(m.count == 8);
    CHECK(std::abs(least_gap(m) / scale + 0.001) < 1e-12);
    const Manifold s =
        contact(Sphere{scale}, {Mat3<>::identity(), {0, 0, 1.5 * scale}}, Cylinder{scale, scale}, {}, 0.1 * scale);
    REQUIRE(s.count == 1);
    CHECK(std::abs(s.points[0].gap / scale) < 1e-12);
  }
}

TEST_CASE("poses that are not finite give no contact") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Manifold m;
  CHECK_FALSE(collide(Geometry(Box{{1, 1, 1}}), {Mat3<>::identity(), {nan, 0, 0}}, kPlane, {}, 1, m));
  CHECK_FALSE(collide(Geometry(Box{{1, 1, 1}}), {}, kPlane,
                      {Mat3<>::identity(), {0, 0, std::numeric_limits<double>::infinity()}}, 1, m));
  CHECK(m.count == 0);
}

TEST_CASE("collide never allocates") {
  Random random(4);
  std::vector<Geometry> shapes;
  for (int k = 0; k < 5; ++k) shapes.emplace_back(random_convex(random, k));
  shapes.push_back(kPlane);
  shapes.emplace_back(HeightField{3, 3, 4, 4, std::vector<double>{0, 0.1, 0, 0.2, 0.1, 0, 0, 0, 0.1}});
  std::vector<Transform<>> poses;
  for (int i = 0; i < 20; ++i) poses.push_back(random.pose(0.5));
  Manifold memory[32];
  std::size_t allocations = 0;
  int contacts = 0;
  for (const Geometry& A : shapes) {
    for (const Geometry& B : shapes) {
      for (const Transform<>& X : poses) {
        ManifoldList list(memory);
        allocations += allocations_in([&] { contacts += collide(A, X, B, {}, 0.1, list); });
      }
    }
  }
  CHECK(allocations == 0);
  CHECK(contacts > 100);
}

}  // namespace kansetsu
