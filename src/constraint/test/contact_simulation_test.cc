#include <doctest/doctest.h>

#include <algorithm>

#include "contact_support.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// Steps one body on the floor z = 0 with the points of its surface that can touch.
struct Floor {
  Body body;
  std::vector<Vector3> points;  ///< in body axes
  double mu_s = 0.5, mu_d = 0.5, e = 0, arm = -1;
  double radius = 0;  ///< > 0: a ball; its one point is always below the centre
  ContactSolver solver;
  ContactMemory memory;
  ContactResult result;
  ContactMode mode = ContactMode::kOpen;
  double worst = 0;
  int not_converged = 0;

  void step(double h) {
    const double tol = solver.options.tol_gap;
    std::vector<Vector3> near;
    std::vector<double> gaps;
    for (const Vector3& p : points) {
      const Vector3 x = radius > 0 ? Vector3(body.p + Vector3(0, 0, -radius)) : Vector3(body.p + body.R * p);
      if (x.z() < tol) near.push_back(x), gaps.push_back(x.z());
    }
    const Eigen::Matrix<double, 6, 1> a = body.acceleration({0, 0, -kG}, Eigen::Matrix<double, 6, 1>::Zero());
    mode = ContactMode::kOpen;
    if (near.empty()) {
      memory = {};
      body.v += h * a;
      return body.advance(h);
    }
    Vector3 o = Vector3::Zero();
    for (const Vector3& x : near) o += x / double(near.size());
    std::vector<size_t> order(near.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t i, size_t j) {
      return std::atan2(near[i].y() - o.y(), near[i].x() - o.x()) <
             std::atan2(near[j].y() - o.y(), near[j].x() - o.x());
    });
    const bool single = near.size() == 1;
    Case k;
    const int rows = single ? 3 : 6;
    const Eigen::Matrix<double, Eigen::Dynamic, 6> J = patch_jacobian(body, o).topRows(rows);
    ContactPatch p = point(mu_s, mu_d, rows);
    p.restitution = e;
    p.vertex_count = int(near.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const Vector3& x = near[order[i]];
      p.vertices[i] = {x.x() - o.x(), x.y() - o.y(), gaps[order[i]]};
    }
    p.arm = arm >= 0 ? arm : friction_arm({p.vertices.data(), near.size()});
    k.patches = {p};
    k.h = h;
    k.G = J * body.inverse_mass() * J.transpose();
    k.u = J * body.v;
    k.a = Vector::Zero(rows);
    solver.solve_impact(k.problem(), result);
    // A step ends up to v·h past the floor. The bounce of a ball is judged from where it touched.
    if (radius > 0 && e > 0 && result.tier != ContactTier::kNone && gaps[0] < 0) body.p.z() -= gaps[0];
    body.v += body.inverse_mass() * J.transpose() * Eigen::Map<const Vector>(result.force.data(), rows);
    k.u = J * body.v;
    k.a = J * a;
    solver.solve_contact(k.problem(), {&memory, 1}, result);
    body.v += h * (a + body.inverse_mass() * J.transpose() * Eigen::Map<const Vector>(result.force.data(), rows));
    mode = result.patches[0].mode;
    worst = std::max(worst, result.residual);
    not_converged += result.status != ContactStatus::kOk;
    const bool out = solver.solve_positions(k.problem(), result);
    body.advance(h);
    if (out)
      body.p += (body.inverse_mass() * J.transpose() * Eigen::Map<const Vector>(result.force.data(), rows)).head<3>();
  }
};

Floor ball(double radius, double e, double mu) {
  Floor f;
  f.body.mass = 1;
  f.body.I = Matrix3::Identity() * (0.4 * radius * radius);
  f.radius = radius;
  f.points = {Vector3::Zero()};
  f.e = e, f.mu_s = f.mu_d = mu;
  return f;
}

Floor box(double m, double a, double b, double c, double mu) {
  Floor f;
  f.body = Body::box(m, a, b, c);
  for (const double z : {-c / 2, c / 2}) {
    for (const double x : {-a / 2, a / 2}) {
      for (const double y : {-b / 2, b / 2}) f.points.emplace_back(x, y, z);
    }
  }
  f.mu_s = f.mu_d = mu;
  return f;
}

}  // namespace

TEST_CASE("scenario 1: a ball dropped with restitution 0.7 reaches the heights e^2k") {
  for (const double h : {1e-3, 1e-4}) {
    CAPTURE(h);
    Floor f = ball(0.1, 0.7, 0.5);
    f.solver.options.tol_gap = 1e-6;  // a tenth of a millimetre would be 0.2 % of the fourth peak
    f.body.p.z() = 1.1;
    std::vector<double> peaks;
    double before = 0, last = 0;
    for (int n = 0; double(n) * h < 2.2 && peaks.size() < 4; ++n) {
      before = last;
      last = f.body.v[2];
      f.step(h);
      if (before > 0 && last > 0 && f.body.v[2] <= 0) peaks.push_back(f.body.p.z() - 0.1);
    }
    REQUIRE(peaks.size() == 4);
    for (size_t k = 0; k < 4; ++k) {
      const double expected = std::pow(0.7, 2.0 * double(k + 1));
      CHECK(std::abs(peaks[k] / expected - 1) < (h == 1e-3 ? 0.025 : 0.0025));
    }
  }
}

TEST_CASE("scenario 25: a ball with restitution 0.5 comes to rest and then carries its weight") {
  const double h = 1e-3, e = 0.5;
  Floor f = ball(0.1, e, 0.5);
  f.body.p.z() = 1.1;
  const double total = std::sqrt(2 / kG) * (1 + e) / (1 - e);
  for (int n = 0; double(n) * h < total + 10 * h; ++n) f.step(h);
  f.step(h);
  CHECK(f.mode == ContactMode::kPoint);
  CHECK(std::abs(f.result.force[2] - kG) < 0.6 * kG);  // penetration of the last bounces may still be undone
  for (int n = 0; n < 200; ++n) f.step(h);
  CHECK(std::abs(f.result.force[2] - kG) < 1e-9);
  CHECK(std::abs(f.body.v[2]) < 1e-12);
}

TEST_CASE("scenario 6: a sliding ball rolls after 2 v0 / (7 mu g) with 5/7 of its speed") {
  const double h = 1e-4, mu = 0.2, v0 = 2;
  Floor f = ball(0.1, 0, mu);
  f.body.p.z() = 0.1;
  f.body.v[0] = v0;
  const double expected = 2 * v0 / (7 * mu * kG);
  double rolls = 0;
  for (int n = 0; double(n) * h < 0.6; ++n) {
    f.step(h);
    if (rolls == 0 && f.result.patches[0].slip == SlipMode::kStick) rolls = double(n + 1) * h;
  }
  CHECK(std::abs(rolls / expected - 1) < 1e-3);
  CHECK(std::abs(f.body.v[0] / (5 * v0 / 7) - 1) < 1e-3);
  CHECK(std::abs(f.body.v[0] - 0.1 * f.body.v[4]) < 1e-9);
}

TEST_CASE("scenario 15: a sliding block stops after v²/(2 mu g) and stays where it is") {
  const double h = 1e-3, mu = 0.4, v0 = 3;
  Floor f = box(2, 0.4, 0.3, 0.2, mu);
  f.body.p.z() = 0.1;
  f.body.v[0] = v0;
  double stopped = 0;
  Vector3 rest = Vector3::Zero();
  for (int n = 0; n < 2000; ++n) {
    f.step(h);
    if (stopped == 0 && std::abs(f.body.v[0]) < 1e-9) stopped = double(n + 1) * h, rest = f.body.p;
  }
  CHECK(std::abs(rest.x() - v0 * v0 / (2 * mu * kG)) < v0 * h);
  CHECK(std::abs(stopped - v0 / (mu * kG)) < 2 * h);
  CHECK((f.body.p - rest).norm() < 1e-12);  // no creep, no reversal
  CHECK(f.body.v.norm() < 1e-12);
  CHECK(f.not_converged == 0);
}

TEST_CASE("scenarios 4 and 5: a spinning disc stops in time, a sliding and spinning one stops in both at once") {
  const double R = 0.1, mu = 0.3, m = 1.5;
  Floor f;
  f.body.mass = m;
  f.body.I = Vector3(m * R * R / 4, m * R * R / 4, m * R * R / 2).asDiagonal();
  for (int i = 0; i < 8; ++i) {
    const double angle = i * 2 * 3.14159265358979323846 / 8;
    f.points.emplace_back(R * std::cos(angle), R * std::sin(angle), 0);
  }
  f.mu_s = f.mu_d = mu;
  f.arm = friction_arm_disc(R);
  SUBCASE("spin") {
    const double h = 1e-4;
    f.body.v[5] = 20;
    double stopped = 0;
    for (int n = 0; n < 6000 && stopped == 0; ++n) {
      f.step(h);
      if (std::abs(f.body.v[5]) < 1e-9) stopped = double(n + 1) * h;
    }
    CHECK(std::abs(stopped / 0.5098581064889641 - 1) < 1e-3);  // vectors scenarios, S04
  }
  SUBCASE("slide and spin") {
    const double h = 1e-4;
    f.body.v[0] = 1;
    f.body.v[5] = 10;
    double ratio = 0, left = 0;
    for (int n = 0; n < 20000 && f.body.v.norm() > 1e-12; ++n) {
      const double v = f.body.v.head<2>().norm(), w = std::abs(f.body.v[5]);
      if (v > 0.02) ratio = v / (R * w), left = v / std::pow(w / 10, 9.0 / 8.0);
      f.step(h);
    }
    CHECK(f.body.v.norm() < 1e-12);
    // With the ellipse v̇ = −μg·v/|U| and ω̇ = −μg·(d²/k²)·ω/|U|, d²/k² = (4/9)/(1/2): v ~ ω^(9/8). First order in h.
    CHECK(left == doctest::Approx(1).epsilon(0.02));
    MESSAGE("terminal v/(R omega) with the ellipse: ", ratio, ", exact limit surface 0.653");
  }
}

TEST_CASE("scenario 7: a tilted box lands on a corner and comes to rest on its face") {
  const double h = 1e-3;
  Floor f = box(2, 0.4, 0.3, 0.2, 0.5);
  f.body.R = Eigen::AngleAxisd(std::hypot(0.2, 0.3), Vector3(0.2, 0.3, 0).normalized()).toRotationMatrix();
  f.body.p.z() = 0.5;
  ContactMode first = ContactMode::kOpen;
  for (int n = 0; n < 1500; ++n) {
    f.step(h);
    if (first == ContactMode::kOpen) first = f.mode;
  }
  CHECK(first == ContactMode::kPoint);
  CHECK(f.mode == ContactMode::kSurface);
  CHECK(f.body.v.norm() < 1e-9);
  CHECK(f.not_converged == 0);
  CHECK(f.worst < 1e-8);
}

TEST_CASE("scenario 20: a penetration of 1 mm is undone without a hop") {
  const double h = 1e-3;
  Floor f = box(2, 0.4, 0.3, 0.2, 0.5);
  f.solver.options.slop = 0;
  f.body.p.z() = 0.1 - 1e-3;
  double highest = -1;
  for (int n = 0; n < 400; ++n) {
    f.step(h);
    highest = std::max(highest, f.body.p.z() - 0.1);
  }
  CHECK(highest < 1e-6);
  CHECK(f.body.p.z() - 0.1 > -1e-6);
  CHECK(f.body.v.norm() < 1e-12);  // positions alone: nothing has moved
  // Fourteen steps leave 0.8^14 of what is not too deep; ten centimetres come out at the speed limit.
  Floor g = box(2, 0.4, 0.3, 0.2, 0.5);
  g.solver.options.slop = 0;
  g.body.p.z() = 0.1 - 1e-3;
  for (int n = 0; n < 14; ++n) g.step(h);
  CHECK(g.body.p.z() - 0.1 == doctest::Approx(-1e-3 * std::pow(0.8, 14)).epsilon(1e-6));  // geometric
  Floor deep = box(2, 0.4, 0.3, 0.2, 0.5);
  deep.body.p.z() = 0;
  deep.step(h);
  const double way = h * (deep.solver.options.push_speed + 0.1 - deep.solver.options.slop);
  CHECK(deep.body.p.z() == doctest::Approx(way).epsilon(1e-6));  // straight up, no faster
}
