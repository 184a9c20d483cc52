#include <doctest/doctest.h>

#include <random>

#include "contact_support.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

using Wrench = Eigen::Matrix<double, 6, 1>;

Wrench wrench(double fx, double fy, double fz, double nx, double ny, double nz) {
  Wrench w;
  w << fx, fy, fz, nx, ny, nz;
  return w;
}

/// Normal accelerations of the vertices of a six-row patch.
Vector vertex_outcome(const ContactPatch& p, const Vector& w) {
  Vector n(p.vertex_count);
  for (int i = 0; i < p.vertex_count; ++i) {
    const ContactVertex& v = p.vertices[size_t(i)];
    n[i] = w[p.row + 2] + w[p.row + 3] * v.y - w[p.row + 4] * v.x;
  }
  return n;
}

}  // namespace

TEST_CASE("scenario 2: a block on a slope sticks up to tan a = mu_S and then slides with mu_D") {
  const double mu_s = 0.5, mu_d = 0.4, hc = 0.1;
  for (const bool end_of_step : {false, true}) {
    CAPTURE(end_of_step);
    ContactOptions o;
    o.end_of_step = end_of_step;
    ContactSolver solver(o);
    for (const double alpha : {0.0, 0.2, std::atan(mu_s) - 1e-6, std::atan(mu_s) + 1e-6, 0.5, 0.6}) {
      CAPTURE(alpha);
      Case k = box_on_floor(Body::box(2, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, mu_s, mu_d,
                            {kG * std::sin(alpha), 0, -kG * std::cos(alpha)});
      const bool slides = alpha > std::atan(mu_s);
      if (end_of_step && slides) k.u[0] = 1e-2;  // ten times the speed of Stribeck's law: friction has come down
      const ContactResult r = k.contact(solver);
      const Vector w = k.outcome(r);
      CHECK(r.tier == ContactTier::kNewton);
      CHECK(r.patches[0].mode == ContactMode::kSurface);
      CHECK((r.patches[0].slip == SlipMode::kSlide) == slides);
      const double expected = slides ? kG * (std::sin(alpha) - mu_d * std::cos(alpha)) : 0;
      CHECK(std::abs(w[0] - expected) < o.tolerance * kG);  // what the solver aims at: 1e-10 m/s²
      CHECK(std::abs(r.patches[0].pressure_x - hc * (slides ? mu_d : std::tan(alpha))) < 1e-12);  // downhill
      CHECK(std::abs(r.patches[0].wrench[2] - 2 * kG * std::cos(alpha)) < 1e-11);                 // rounding of 20 N
    }
  }
}

TEST_CASE("scenario 3: a push slips above mu m g and tips above m g a / 2") {
  const double m = 2, a = 0.4, hc = 0.3;
  struct Row {
    double mu, share, height;
  };
  ContactSolver solver(acceleration_level());
  for (const Row& row : {Row{0.5, 0.49, 0.1}, Row{0.5, 0.49, 0.5}, Row{0.5, 0.51, 0.1}, Row{1.0, 0.5, 0.399},
                         Row{1.0, 0.5, 0.401}, Row{0.5, 0.499, 0.2}, Row{0.5, 0.501, 0.2}}) {
    CAPTURE(row.share);
    CAPTURE(row.height);
    const double F = row.share * m * kG;
    Case k = box_on_floor(Body::box(m, a, 0.3, 2 * hc), a, 0.3, 2 * hc, row.mu, row.mu, {0, 0, -kG},
                          wrench(F, 0, 0, 0, F * (row.height - hc), 0));
    const ContactResult r = k.contact(solver);
    CHECK((r.patches[0].slip == SlipMode::kSlide) == (F > row.mu * m * kG));
    CHECK(r.patches[0].mode == (F * row.height > m * kG * a / 2 ? ContactMode::kLine : ContactMode::kSurface));
    CHECK(r.residual < 1e-12);
  }
}

TEST_CASE("scenario 4: a spinning disc is braked by two thirds of mu m g R") {
  const double m = 1.5, R = 0.1, mu = 0.3;
  Body disc;
  disc.mass = m;
  disc.I = Vector3(m * R * R / 4, m * R * R / 4, m * R * R / 2).asDiagonal();
  disc.v[5] = 20;
  Case k = box_on_floor(disc, 0.2, 0.2, 0, mu, mu);
  k.patches[0].vertex_count = 8;
  for (int i = 0; i < 8; ++i) {
    const double angle = i * 2 * 3.14159265358979323846 / 8;
    k.patches[0].vertices[size_t(i)] = {R * std::cos(angle), R * std::sin(angle), 0};
  }
  k.patches[0].arm = friction_arm_disc(R);
  for (const bool end_of_step : {false, true}) {
    ContactOptions o;
    o.end_of_step = end_of_step;
    ContactSolver solver(o);
    const ContactResult r = k.contact(solver);
    CHECK(std::abs(r.patches[0].wrench[5] + 2.0 / 3.0 * mu * m * kG * R) < 1e-9);
    CHECK(std::abs(k.outcome(r)[5] + 4 * mu * kG / (3 * R)) < 1e-9);
  }
}

TEST_CASE(
    "scenario 15: the centre of pressure of a sliding block lies ahead by mu_D hc, and it tips if that leaves the "
    "base") {
  for (const double mu : {0.3, 0.9, 1.1}) {
    CAPTURE(mu);
    Body body = Body::box(2, 0.4, 0.3, 0.4);
    body.v[0] = 1;
    Case k = box_on_floor(body, 0.4, 0.3, 0.4, mu, mu);
    ContactSolver solver(acceleration_level());
    const ContactResult r = k.contact(solver);
    if (mu < 1) {
      CHECK(r.patches[0].mode == ContactMode::kSurface);
      CHECK(std::abs(r.patches[0].pressure_x - mu * 0.2) < 1e-12);
      CHECK(std::abs(k.outcome(r)[0] + mu * kG) < 1e-12);
    } else {
      CHECK(r.patches[0].mode == ContactMode::kLine);
      CHECK(std::abs(r.patches[0].pressure_x - 0.2) < 1e-12);
      CHECK(vertex_outcome(k.patches[0], k.outcome(r)).minCoeff() > -1e-8);  // the rear lifts
    }
  }
}

TEST_CASE("scenario 16: an eccentric block that slides straight does not begin to spin") {
  const double mu = 0.3, hc = 0.1, offset = 0.05;
  Body body;  // the centre of mass is at the origin, the base is shifted by −offset
  body.mass = 2;
  body.I *= 0.02;
  body.v[1] = 1;
  Case k;
  const auto J = patch_jacobian(body, {-offset, 0, -hc});
  k.G = J * body.inverse_mass() * J.transpose();
  k.a = J * body.acceleration({0, 0, -kG}, Wrench::Zero());
  k.u = J * body.v;
  k.patches = {rectangle(0.4, 0.3, mu, mu)};
  for (const bool end_of_step : {false, true}) {
    ContactOptions o;
    o.end_of_step = end_of_step;
    ContactSolver solver(o);
    const ContactResult r = k.contact(solver);
    CHECK(std::abs(k.outcome(r)[5]) < 1e-7);  // 1e-11 of 1 m/s in a step of 1 ms, on an arm of 0.1 m
    CHECK(std::abs(r.patches[0].pressure_x - offset) < 1e-10);
    CHECK(std::abs(r.patches[0].pressure_y - mu * hc) < 1e-10);
  }
}

TEST_CASE("scenario 17: a rod released on a frictionless floor") {
  const double m = 1.3, l = 0.5;  // half length
  Body rod;
  rod.mass = m;
  rod.I = Vector3(m * l * l / 3, m * l * l / 3, m * l * l / 3).asDiagonal();
  for (const double theta : {0.3, 3.14159265358979323846 / 6, 1.2}) {
    Case k;
    const Eigen::Matrix<double, 3, 6> J =
        patch_jacobian(rod, {-l * std::cos(theta), 0, -l * std::sin(theta)}).topRows<3>();
    k.G = J * rod.inverse_mass() * J.transpose();
    k.a = J * rod.acceleration({0, 0, -kG}, Wrench::Zero());
    k.u = Vector::Zero(3);
    k.patches = {point(0, 0)};
    ContactSolver solver(acceleration_level());
    const ContactResult r = k.contact(solver);
    CHECK(std::abs(r.force[2] - m * kG / (1 + 3 * std::cos(theta) * std::cos(theta))) < 1e-12);
    CHECK(r.force[0] == 0);  // the centre of mass falls vertically
    CHECK(r.force[1] == 0);
  }
}

TEST_CASE("scenario 18: beyond Painlevé's limit the tip of a sliding rod stops") {
  const double m = 1, l = 0.5, theta = std::atan(2.0);
  Body rod;
  rod.mass = m;
  rod.I = Vector3(m * l * l / 3, m * l * l / 3, m * l * l / 3).asDiagonal();
  rod.v[0] = -1;  // towards the lean
  for (const double mu : {1.0, 2.0}) {
    CAPTURE(mu);
    Case k;
    const Eigen::Matrix<double, 3, 6> J =
        patch_jacobian(rod, {-l * std::cos(theta), 0, -l * std::sin(theta)}).topRows<3>();
    k.G = J * rod.inverse_mass() * J.transpose();
    // B̂ of [NY00]: zero at mu = 4/3.
    const double folded = k.G(2, 2) + mu * k.G(2, 0);
    const double c = std::cos(theta), s = std::sin(theta);
    CHECK(std::abs(folded - (1 + 3 * c * c - 3 * mu * s * c) / m) < 1e-12);
    k.a = J * rod.acceleration({0, 0, -kG}, Wrench::Zero());
    k.u = J * rod.v;
    k.patches = {point(mu, mu)};
    ContactSolver solver(acceleration_level());
    const ContactResult r = k.contact(solver);
    const Vector after = k.u + k.h * k.outcome(r);
    CHECK(r.residual < 1e-8);
    if (mu < 4.0 / 3) {
      CHECK(r.tier == ContactTier::kNewton);
      CHECK(after[0] < -0.9);
    } else {
      CHECK(r.tier == ContactTier::kProximal);
      CHECK(std::abs(after[0]) < 1e-9);  // impact without collision
      CHECK(std::abs(after[2]) < 1e-9);
    }
  }
}

TEST_CASE("scenario 23: a table on four legs carries its weight; the split is not unique and reported so") {
  Body table = Body::box(4, 0.6, 0.4, 0.1);
  table.p = {0, 0, 0.5};
  for (const int rows : {3, 6}) {
    CAPTURE(rows);
    Case k;
    Matrix J(4 * rows, 6);
    int leg = 0;
    for (const double x : {-0.25, 0.25}) {
      for (const double y : {-0.15, 0.15}) {
        J.middleRows(rows * leg, rows) = patch_jacobian(table, {x, y, 0}).topRows(rows);
        ContactPatch p = rows == 3 ? point(0.5, 0.5) : rectangle(0.05, 0.05, 0.5, 0.5);
        p.row = rows * leg++;
        k.patches.push_back(p);
      }
    }
    k.G = J * table.inverse_mass() * J.transpose();
    Wrench load = wrench(3, 2, -5, 0.5, -0.4, 0.2);
    k.a = J * table.acceleration({0, 0, -kG}, load);
    k.u = Vector::Zero(4 * rows);
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    load[2] -= 4 * kG;
    const Vector f = Eigen::Map<const Vector>(r.force.data(), 4 * rows);
    CHECK((J.transpose() * f + load).cwiseAbs().maxCoeff() < 1e-9);  // sum of forces and moments
    CHECK(k.outcome(r).cwiseAbs().maxCoeff() < 1e-9);
    CHECK(r.residual < 1e-12);
    CHECK(redundancy(k.problem(), r) == 4 * rows - 6);
    for (const PatchReport& p : r.patches) CHECK(p.wrench[2] > 0);
  }
}

TEST_CASE("scenario 24: a lift of 1.1 m g with a moment leaves a line contact on the pressed edge") {
  Case k =
      box_on_floor(Body::box(1, 0.4, 0.2, 0.2), 0.4, 0.2, 0.2, 0.5, 0.5, {0, 0, -kG}, wrench(0, 0, 1.1 * kG, 0, 3, 0));
  for (const bool end_of_step : {false, true}) {
    ContactOptions o;
    o.end_of_step = end_of_step;
    ContactSolver solver(o);
    const ContactResult r = k.contact(solver);
    CHECK(r.patches[0].mode == ContactMode::kLine);
    CHECK(r.patches[0].pressure_x == doctest::Approx(0.2));
    CHECK(vertex_outcome(k.patches[0], k.outcome(r)).minCoeff() > -1e-8);
    k.memory.clear();
  }
}

TEST_CASE(
    "section 4: a thousand random loads without friction have the state of the exact linear complementarity problem") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> height(0.05, 1);
  int fast = 0;
  for (int n = 0; n < 1000; ++n) {
    CAPTURE(n);
    const double c = height(random);
    const Wrench load = wrench(0, 0, 6 * normal(random), 3 * normal(random), 3 * normal(random), 0);
    Case k = box_on_floor(Body::box(1, 0.4, 0.2, c), 0.4, 0.2, c, 0, 0, {0, 0, -kG}, load);
    ContactSolver solver(acceleration_level());
    const ContactResult r = k.contact(solver);
    fast += r.tier == ContactTier::kNewton;
    const Vector w = k.outcome(r);
    // The problem is convex: these conditions single out the accelerations. 1e-8 m/s²: 1e-10 of the largest.
    const Vector a = vertex_outcome(k.patches[0], w);
    REQUIRE(a.minCoeff() > -1e-7);
    REQUIRE(r.force[2] >= 0);
    // Virtual work of the contact forces against the vertices' accelerations is zero only if none of those pushed opens.
    const Vector f = Eigen::Map<const Vector>(r.force.data(), 6);
    REQUIRE(std::abs(f.dot(w)) < 1e-7);
    const double X = -f[4], Y = f[3];
    REQUIRE(std::abs(X) <= 0.2 * f[2] + 1e-10);
    REQUIRE(std::abs(Y) <= 0.1 * f[2] + 1e-10);
    REQUIRE(r.residual < 1e-9);
  }
  MESSAGE("fast path: ", fast, " of 1000");
  CHECK(fast >= 967);  // what the corrected rules alone reach
}

TEST_CASE("[NY00] (34), (35): friction of a sliding point is mu_D of its pressure, against its velocity") {
  std::mt19937_64 random(34);
  MESSAGE("seed 34");
  std::normal_distribution<double> normal;
  const double mu_s = 0.5, mu_d = 0.3;
  for (int n = 0; n < 100; ++n) {
    CAPTURE(n);
    Body body = Body::box(1, 0.4, 0.3, 0.2);
    body.v << normal(random), normal(random), 0, 0, 0, 0;
    const Vector3 tip(0.1 * normal(random), 0.1 * normal(random), -0.3);
    const Eigen::Matrix<double, 3, 6> J = patch_jacobian(body, tip).topRows<3>();
    Case k;
    k.G = J * body.inverse_mass() * J.transpose();
    k.a = J * body.acceleration({0, 0, -kG}, Wrench::Zero());
    k.u = J * body.v;
    k.patches = {point(mu_s, mu_d)};
    ContactSolver solver(acceleration_level());
    const ContactResult r = k.contact(solver);
    // (36): the column of the pressure with that of friction folded into it, G_zz − μ_D·(s_x·G_zx + s_y·G_zy)
    const Eigen::Vector2d s = k.u.head<2>().normalized();
    const double pressure = -k.a[2] / (k.G(2, 2) - mu_d * (s.x() * k.G(2, 0) + s.y() * k.G(2, 1)));
    REQUIRE(pressure > 0);
    CHECK(r.patches[0].slip == SlipMode::kSlide);
    CHECK(r.force[2] == doctest::Approx(pressure).epsilon(1e-9));             // a hundred times what the solver aims at
    CHECK(std::abs(r.force[0] + mu_d * s.x() * pressure) < 1e-9 * pressure);  // the same
    CHECK(std::abs(r.force[1] + mu_d * s.y() * pressure) < 1e-9 * pressure);  // the same
  }
}

TEST_CASE("[NY00] (27)–(29): friction of a patch that slides straight acts in its centre of pressure") {
  std::mt19937_64 random(27);
  MESSAGE("seed 27");
  std::normal_distribution<double> normal;
  const double mu_s = 0.5, mu_d = 0.3, m = 2;
  for (int n = 0; n < 100; ++n) {
    CAPTURE(n);
    Body body = Body::box(m, 0.4, 0.3, 0.1);
    body.v << normal(random), normal(random), 0, 0, 0, 0;
    const Wrench load = wrench(0, 0, 0, 0.4 * normal(random), 0.4 * normal(random), 0);  // moves the pressure
    Case k = box_on_floor(body, 0.4, 0.3, 0.1, mu_s, mu_d, {0, 0, -kG}, load);
    ContactSolver solver(acceleration_level());
    const ContactResult r = k.contact(solver);
    if (r.patches[0].mode != ContactMode::kSurface) continue;  // tipped
    const Eigen::Vector2d s = k.u.head<2>().normalized(), f(r.force[0], r.force[1]);
    const double x = -r.force[4] / r.force[2], y = r.force[3] / r.force[2];
    CHECK(r.force[2] == doctest::Approx(m * kG).epsilon(1e-9));    // a hundred times what the solver aims at
    CHECK((f + mu_d * m * kG * s).norm() < 1e-8);                  // of 6 N, the same
    CHECK(std::abs(r.force[5] - (x * f.y() - y * f.x())) < 1e-8);  // the same
  }
}

TEST_CASE("[NY00] section 4.5: friction of a patch that slides and turns, by the distance of the centre of rotation") {
  std::mt19937_64 random(45);
  MESSAGE("seed 45");
  std::normal_distribution<double> normal;
  const double mu_s = 0.5, mu_d = 0.3, m = 2, arm = friction_arm_rectangle(0.4, 0.3);
  ContactOptions o;
  o.take_law_of_2000();
  o.end_of_step = false;
  int seen = 0;
  for (int n = 0; n < 200; ++n) {
    CAPTURE(n);
    Body body = Body::box(m, 0.4, 0.3, 0.1);
    body.v << normal(random), normal(random), 0, 0, 0, 3 * normal(random);
    Case k = box_on_floor(body, 0.4, 0.3, 0.1, mu_s, mu_d);
    ContactSolver solver(o);
    const ContactResult r = k.contact(solver);
    if (r.patches[0].slip != SlipMode::kSlide) continue;  // the centre of rotation is inside: kSpin
    ++seen;
    const double spin = k.u[5], x = -r.force[4] / r.force[2], y = r.force[3] / r.force[2];
    const Eigen::Vector2d slip(k.u[0] - spin * y, k.u[1] + spin * x), f(r.force[0], r.force[1]);
    const double share = std::exp(-slip.norm() / (arm * std::abs(spin))), most = mu_d * m * kG;
    CHECK(r.force[2] == doctest::Approx(m * kG).epsilon(1e-9));         // a hundred times what the solver aims at
    CHECK((f + (1 - share) * most * slip.normalized()).norm() < 1e-8);  // of 6 N, the same
    const double moment = r.force[5] - (x * f.y() - y * f.x());         // about the centre of pressure
    CHECK(std::abs(moment + std::copysign(share * arm * most, spin)) < 1e-8);  // the same
  }
  CHECK(seen > 50);
}

TEST_CASE("[NY00] (33): with the cone of 2000 a patch at rest holds a moment up to d·(mu_S f_z − |f_t|)") {
  const double m = 2, hc = 0.1, mu_s = 0.5, mu_d = 0.4;
  for (const bool end_of_step : {false, true}) {
    CAPTURE(end_of_step);
    ContactOptions o;
    o.end_of_step = end_of_step;
    o.friction_set = FrictionSet::kPaper;
    for (const double share : {0.0, 0.3, 0.6, 0.9}) {
      for (const double factor : {-1.001, -0.999, 0.999, 1.001}) {
        CAPTURE(share);
        CAPTURE(factor);
        const double push = share * mu_s * m * kG;
        const double most = friction_arm_rectangle(0.4, 0.3) * (mu_s * m * kG - push);
        // pushed where it stands, so that the pressure stays in the middle
        Case k = box_on_floor(Body::box(m, 0.4, 0.3, 2 * hc), 0.4, 0.3, 2 * hc, mu_s, mu_d, {0, 0, -kG},
                              wrench(push, 0, 0, 0, -hc * push, factor * most));
        ContactSolver solver(o);
        const ContactResult r = k.contact(solver);
        REQUIRE(r.status == ContactStatus::kOk);
        const bool holds = std::abs(factor) < 1;
        CHECK((r.patches[0].slip == SlipMode::kStick) == holds);
        CHECK((k.outcome(r).lpNorm<Eigen::Infinity>() < 1e-8) == holds);  // a hundred times what it aims at
        if (holds) CHECK(r.force[5] == doctest::Approx(-factor * most).epsilon(1e-9));  // a hundred times that
      }
    }
  }
}

TEST_CASE("section 6: a thousand random loads with friction fulfil the complementarity conditions") {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> height(0.05, 1);
  int tiers[kContactTiers] = {};
  double worst = 0;
  for (int n = 0; n < 1000; ++n) {
    CAPTURE(n);
    const double c = height(random);
    const Wrench load = wrench(6 * normal(random), 6 * normal(random), 6 * normal(random), 2 * normal(random),
                               2 * normal(random), 2 * normal(random));
    Case k = box_on_floor(Body::box(1, 0.4, 0.2, c), 0.4, 0.2, c, 0.5, 0.5, {0, 0, -kG}, load);
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    ++tiers[int(r.tier)];
    worst = std::max(worst, r.residual);
    REQUIRE(r.status == ContactStatus::kOk);
    // By hand, not by the solver's own residual: power of the contact forces is never positive, the cone holds.
    const Vector f = Eigen::Map<const Vector>(r.force.data(), 6), w = k.outcome(r);
    REQUIRE(f.dot(w) < 1e-7);
    REQUIRE(std::hypot(f[0], f[1]) <= 0.5 * f[2] + 1e-9);
    REQUIRE(vertex_outcome(k.patches[0], w).minCoeff() > -1e-6);
  }
  MESSAGE("Newton ", tiers[int(ContactTier::kNewton)], ", proximal ", tiers[int(ContactTier::kProximal)],
          ", worst residual ", worst);
  CHECK(worst < 1e-9);
}

TEST_CASE("a step in which friction acts at other points begins with the same wrench, and needs no system") {
  Case k =
      box_on_floor(Body::box(2, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, 0.4, 0.4, {0, 0, -kG}, wrench(3, 1, 0, 0.4, 0.6, 0.3));
  ContactSolver solver;
  const ContactResult first = k.contact(solver);  // friction acts around the middle: nothing is known yet
  REQUIRE(first.status == ContactStatus::kOk);
  REQUIRE(first.solves > 0);
  const auto check_same = [&] {
    const ContactResult next = k.contact(solver);
    CHECK(next.solves == 0);
    for (int r = 0; r < 6; ++r) CHECK(std::abs(next.force[size_t(r)] - first.force[size_t(r)]) < 1e-9);  // of 20 N
  };
  check_same();  // around the centre of pressure
  ContactPatch& patch = k.patches[0];
  const auto a = patch.vertices[3], b = patch.vertices[0];
  patch.vertices[4] = {0.7 * a.x + 0.3 * b.x, 0.7 * a.y + 0.3 * b.y, 0};  // clipping finds one more on an edge
  patch.vertex_count = 5;
  k.memory[0].force[4] = {0, 0, 0};
  check_same();
}
