#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "contact_support.h"
#include "kansetsu/base/error.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

bool all_finite(const ContactResult& r) {
  for (const double f : r.force) {
    if (!std::isfinite(f)) return false;
  }
  return std::isfinite(r.residual);
}

}  // namespace

TEST_CASE("any finite input gives finite forces: random ranks, zero blocks, wild scales") {
  std::mt19937_64 random(21);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> rank(0, 9);
  int converged = 0, total = 0;
  for (int n = 0; n < 600; ++n) {
    CAPTURE(n);
    const int patches = 1 + n % 4, rows = 6 * patches + 2;
    Matrix J(rows, std::max(rank(random), 1));
    const double size = std::pow(10.0, double(n % 13) - 6);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < J.cols(); ++j) J(i, j) = normal(random) * size;
    }
    if (n % 7 == 0) J.middleRows(0, 6).setZero();
    Case k;
    k.G = J * J.transpose();
    k.a = Vector::Zero(rows);
    k.u = Vector::Zero(rows);
    for (int i = 0; i < rows; ++i) k.a[i] = 10 * normal(random), k.u[i] = n % 3 == 0 ? normal(random) : 0.0;
    for (int i = 0; i < patches; ++i) {
      ContactPatch p = rectangle(0.3, 0.2, 0.8, 0.6);
      p.row = 6 * i;
      if (n % 5 == 0) p.vertices[2] = p.vertices[1];  // coincident vertices
      if (n % 11 == 0) p.vertices[0].gap = -1e-2;     // deep penetration of one corner
      if (n % 13 == 0) p.arm = 0;
      p.restitution = 0.1 * (n % 10);
      k.patches.push_back(p);
    }
    k.bounded = {BoundedRow::limit(rows - 2, 0), BoundedRow::friction(rows - 1, 3)};
    for (const bool paper : {false, true}) {
      ContactOptions o;
      if (paper) o.friction_set = FrictionSet::kPaper, o.paper_spin = true, o.end_of_step = false;
      ContactSolver solver(o);
      const ContactResult r = k.contact(solver), s = k.impact(solver);
      REQUIRE(all_finite(r));
      REQUIRE(all_finite(s));
      REQUIRE(r.status != ContactStatus::kBadInput);
      if (!paper) converged += r.status == ContactStatus::kOk, ++total;
      k.memory.clear();
    }
  }
  CAPTURE(converged);
  CHECK(total == 600);
  CHECK(converged >= 400);  // 430 are; random rows need not belong to any mechanism: not all have solutions
}

TEST_CASE("input that is not finite is refused with zero forces") {
  Case k = box_on_floor(Body::box(1, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, 0.5, 0.5);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int what = 0; what < 3; ++what) {
      CAPTURE(what);
      Case b = k;
      (what == 0 ? b.a[2] : what == 1 ? b.u[0] : b.G(3, 3)) = bad;
      ContactSolver solver;
      const ContactResult r = b.contact(solver);
      CHECK(r.status == ContactStatus::kBadInput);
      for (const double f : r.force) CHECK(f == 0);
    }
  }
}

TEST_CASE("misuse is an Error that names the values") {
  ContactSolver solver;
  Case k = box_on_floor(Body::box(1, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, 0.5, 0.5);
  ContactResult r;
  CHECK_THROWS_WITH_AS(solver.solve_contact(k.problem(), {}, r), "solve_contact: memory has size 0, expected 1", Error);
  k.patches[0].row = 1;
  CHECK_THROWS_AS(k.contact(solver), Error);
  k.patches[0].row = 0, k.patches[0].vertex_count = 9;
  CHECK_THROWS_AS(k.contact(solver), Error);
}

TEST_CASE("bounded rows: limit, dry friction and motor on one coordinate each") {
  Case k;
  k.G = Matrix::Identity(3, 3);
  k.h = 1e-2;
  k.a = Vector3(-5, 2, 0);
  k.u = Vector3(0, 0, 0);
  k.bounded = {BoundedRow::limit(0, 0), BoundedRow::friction(1, 3), BoundedRow::motor(2, 0.5, 20)};
  ContactSolver solver;
  ContactResult r = k.contact(solver);
  CHECK(r.force[0] == doctest::Approx(5));   // holds
  CHECK(r.force[1] == doctest::Approx(-2));  // friction holds
  CHECK(r.force[2] == doctest::Approx(20));  // 0.5 m/s in 10 ms would need 50
  k.a = Vector3(5, 8, 0);
  k.u = Vector3(-0.01, 0, 0.4);
  r = k.contact(solver);
  CHECK(r.force[0] == 0);                    // −0.01 + 5·0.01 > 0: leaves by itself
  CHECK(r.force[1] == doctest::Approx(-3));  // friction slips
  CHECK(r.force[2] == doctest::Approx(10));  // motor reaches its target
  k.bounded[0].gap = 1e-3;
  k.a[0] = 0, k.u[0] = -0.2;  // would travel 2 mm: stops at the limit
  r = k.contact(solver);
  CHECK(k.u[0] + k.h * (k.a[0] + r.force[0]) == doctest::Approx(-0.1));
  CHECK(r.residual < 1e-12);
}
