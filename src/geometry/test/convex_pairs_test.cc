#include <set>
#include <string>

#include "support.h"

/// Every pair of convex shapes, against what defines a contact: along the normal the shapes are exactly `gap` apart (a lower
/// bound of the distance, from support functions), and where they do not overlap, the points p ± gap/2·n belong to the
/// shapes (an upper bound). Together they leave nothing to chance.
namespace kansetsu {
namespace {

using namespace test;

struct Case {
  Shape A, B;
  Transform<> X_WA, X_WB;
};

/// Poses that bring the surfaces within about ±0.3 of each other.
Case random_case(Random& random, int a, int b) {
  Case c{random_convex(random, a), random_convex(random, b), random.pose(2), {random.rotation(), {}}};
  const Vec3<> n = random.direction();
  c.X_WB.p = c.X_WA.p;
  const double s = separation(c.A, c.X_WA, c.B, c.X_WB, n);
  c.X_WB.p = c.X_WA.p + (s + random.uniform(-0.3, 0.3)) * n;
  return c;
}

/// Polyhedra and round cores are met to rounding; rims of cylinders to what the expanding polytope resolves.
double tolerance(const Case& c) {
  const bool cylinder = std::holds_alternative<Cylinder>(c.A) || std::holds_alternative<Cylinder>(c.B);
  return cylinder ? 1e-10 : 1e-12;
}

void check_contact(const Case& c, const Manifold& m, double margin) {
  const double gap = least_gap(m), eps = tolerance(c);
  CHECK(std::abs(norm(m.normal_W) - 1) < 1e-14);
  const double along = separation(c.A, c.X_WA, c.B, c.X_WB, m.normal_W);
  CHECK(along < gap + eps);
  // Of a face on which something lies the lowest corner may be beyond its rim, by what a tilt of 0.02 rad makes of shapes below 2 m.
  CHECK(along > gap - (m.count > 1 ? 0.04 : eps));
  std::set<std::uint32_t> features;
  for (const ContactPoint& p : m.used()) {
    CHECK(p.gap <= margin);
    CHECK(features.insert(p.feature).second);
    const Vec3<> p_A = p.p_W + 0.5 * p.gap * m.normal_W, p_B = p.p_W - 0.5 * p.gap * m.normal_W;
    if (m.count == 1 || p.gap == gap) {
      CHECK(outside(c.A, transpose_times(c.X_WA.R, p_A - c.X_WA.p)) < 1e-6);
      CHECK(outside(c.B, transpose_times(c.X_WB.R, p_B - c.X_WB.p)) < 1e-6);
    }
  }
}

/// The best of many directions: over the sphere, then around the best so far and around the one that was found.
double best_separation(const Case& c, const Vec3<>& found, Random& random) {
  Vec3<> best_n = found;
  double best = -std::numeric_limits<double>::infinity();
  const auto consider = [&](const Vec3<>& d) {
    const Vec3<> n = (1 / norm(d)) * d;
    if (const double s = separation(c.A, c.X_WA, c.B, c.X_WB, n); s > best) {
      best = s;
      best_n = n;
    }
  };
  for (int i = 0; i < 400; ++i) consider(random.direction());
  for (double size = 0.3; size > 1e-5; size *= 0.7) {
    for (int i = 0; i < 15; ++i) {
      consider(best_n + size * random.direction());
      consider(found + size * random.direction());
    }
  }
  return best;
}

}  // namespace

TEST_CASE("contacts of convex shapes are exact, for every pair") {
  constexpr double kMargin = 0.05;
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) {
      const std::string name_a = convex_name(a);
      CAPTURE(name_a);
      const std::string name_b = convex_name(b);
      CAPTURE(name_b);
      int touching = 0;
      for (unsigned seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        Random random(1000 * seed + unsigned(10 * a + b));
        const Case c = random_case(random, a, b);
        Manifold m;
        const bool found = collide(Geometry(c.A), c.X_WA, Geometry(c.B), c.X_WB, kMargin, m);
        REQUIRE(found == (m.count > 0));
        Random directions(seed);
        if (!found) {  // then some direction shows that they are apart
          CHECK(best_separation(c, (1 / norm(c.X_WA.p - c.X_WB.p)) * (c.X_WA.p - c.X_WB.p), directions) >
                kMargin - 0.01);
          continue;
        }
        ++touching;
        REQUIRE(is_finite(m));
        check_contact(c, m, kMargin);
        const double lying =
            m.count > 1 ? std::abs(least_gap(m)) / 5000 : 0;  // along a face that is tilted by less than 0.02 rad
        CHECK(best_separation(c, m.normal_W, directions) <= least_gap(m) + tolerance(c) + lying);
      }
      CHECK(touching > 100);
    }
  }
}

/// Points of a rim that nearly coincide make simplices without a volume: one pair in 30 000 was 10 cm deep where it did not even touch.
TEST_CASE("what all but touches is no deeper than any direction says") {
  const Shape drum = Cylinder{0.1, 0.15}, box = Box{{0.2, 0.2, 0.2}};
  const Geometry A(drum), B(box);
  Random random(7);
  for (int i = 0; i < 100000; ++i) {
    const Transform<> X_WA{random.rotation(), {}};
    Transform<> X_WB{random.rotation(), {}};
    const Vec3<> n = random.direction();
    const double gap = random.uniform(-1, 1) * std::pow(10, random.uniform(-14, -2.5));
    X_WB.p = (separation(drum, X_WA, box, X_WB, n) - gap) * n;
    Manifold m;
    if (!collide(A, X_WA, B, X_WB, 0.05, m)) continue;
    if (least_gap(m) > gap - 1e-6 - 1e-3 * std::abs(gap)) continue;  // a tilt of 0.02 rad may be taken for none
    CAPTURE(i);
    CHECK(least_gap(m) > gap);
  }
}

TEST_CASE("exchanging the shapes exchanges the contact") {
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) {
      for (unsigned seed = 0; seed < 60; ++seed) {
        const std::string name_a = convex_name(a);
        CAPTURE(name_a);
        const std::string name_b = convex_name(b);
        CAPTURE(name_b);
        CAPTURE(seed);
        Random random(7000 * seed + unsigned(10 * a + b));
        const Case c = random_case(random, a, b);
        const Geometry A(c.A), B(c.B);
        Manifold m, s;
        const bool found = collide(A, c.X_WA, B, c.X_WB, 0.05, m);
        REQUIRE(collide(B, c.X_WB, A, c.X_WA, 0.05, s) == found);
        if (!found) continue;
        const double eps = tolerance(c) * 10;  // of a point: where rims are involved, it follows the normal's error
        CHECK(norm(m.normal_W + s.normal_W) < (eps > 1e-10 ? 1e-5 : 1e-9));
        CHECK(std::abs(least_gap(m) - least_gap(s)) < eps);
        if (eps > 1e-10) continue;
        REQUIRE(m.count == s.count);
        for (const ContactPoint& p : m.used()) {
          double nearest = 1e9;
          for (const ContactPoint& q : s.used()) nearest = std::min(nearest, norm(p.p_W - q.p_W));
          CHECK(nearest < 1e-9);
        }
      }
    }
  }
}

TEST_CASE("the contact moves with the world") {
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b <= a; ++b) {
      for (unsigned seed = 0; seed < 40; ++seed) {
        const std::string name_a = convex_name(a);
        CAPTURE(name_a);
        const std::string name_b = convex_name(b);
        CAPTURE(name_b);
        CAPTURE(seed);
        Random random(500 * seed + unsigned(10 * a + b));
        const Case c = random_case(random, a, b);
        const Transform<> X = random.pose(3);
        const Geometry A(c.A), B(c.B);
        Manifold m, t;
        const bool found = collide(A, c.X_WA, B, c.X_WB, 0.05, m);
        REQUIRE(collide(A, X * c.X_WA, B, X * c.X_WB, 0.05, t) == found);
        if (!found) continue;
        const double eps = tolerance(c) * 10;
        CHECK(std::abs(least_gap(m) - least_gap(t)) < eps);
        CHECK(norm(X.R * m.normal_W - t.normal_W) < (eps > 1e-10 ? 1e-5 : 1e-9));
        if (eps > 1e-10) continue;
        REQUIRE(m.count == t.count);
        for (int i = 0; i < m.count; ++i) {
          CHECK(norm(X * m.points[i].p_W - t.points[i].p_W) < 1e-9);
          CHECK(m.points[i].feature == t.points[i].feature);
        }
      }
    }
  }
}

TEST_CASE("a box that is tilted by less than 0.02 rad lies on another, though edges that cross are nearer") {
  Shape box = Box{{0.2, 0.2, 0.2}};
  SUBCASE("as a box") {}
  SUBCASE("as a hull") {
    ConvexHull hull;
    for (int i = 0; i < 8; ++i) hull.vertices.push_back({i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1});
    box = hull;
  }
  Random random(7);
  INFO("seed 7");
  int lying = 0, crossing = 0, missed = 0;
  for (int n = 0; n < 20000; ++n) {
    const double yaw = random.uniform(-3, 3), tilt = random.uniform(-0.1, 0.1);
    const double c = std::cos(yaw), s = std::sin(yaw), C = std::cos(tilt), S = std::sin(tilt);
    const Mat3<> R = Mat3<>{{1, 0, 0}, {0, C, -S}, {0, S, C}} * Mat3<>{{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
    const Transform<> X_WB{R, {random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0.2}};
    Manifold m;
    if (!collide(Geometry(box), {}, Geometry(box), X_WB, 0.05, m)) continue;
    const double upright = std::max(std::abs(m.normal_W.z), std::abs(dot(m.normal_W, R.column_z())));
    if (upright > 1 - 1e-9) {
      lying += m.count > 1 && least_gap(m) > separation(box, {}, box, X_WB, m.normal_W) + 1e-9;
    } else if (upright > 0.9) {
      ++crossing;
      missed += upright > 0.9998;
    }
  }
  CHECK(lying > 100);
  CHECK(crossing > 100);
  CHECK(missed <= 5);  // there no point of the face's patch is as near as the edges
}

}  // namespace kansetsu
