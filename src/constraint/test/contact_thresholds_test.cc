#include "constraint/contact_thresholds.h"

#include <doctest/doctest.h>

#include "contact_support.h"

using namespace kansetsu;
using namespace kansetsu::test;
using namespace kansetsu::kernel::threshold;

/// Either side of the thresholds that show in an answer.
namespace {

Case two_rows(double own) {
  Case k;
  k.G = Matrix::Identity(2, 2);
  k.G(1, 1) = own;
  k.a = Vector::Constant(2, -5);
  k.u = Vector::Zero(2);
  k.bounded = {BoundedRow::limit(0, 0), BoundedRow::limit(1, 0)};
  return k;
}

}  // namespace

TEST_CASE("a row that answers less than kImmovable of the largest carries nothing") {
  for (const double side : {0.1, 10.0}) {
    Case k = two_rows(side * kImmovable);
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    CHECK(r.force[0] == doctest::Approx(5));
    if (side < 1)
      CHECK(r.force[1] == 0);
    else
      CHECK(k.outcome(r)[1] == doctest::Approx(0));
  }
}

TEST_CASE("vertices that span less than kFlat of the squared circumference are a line") {
  for (const double side : {0.1, 10.0}) {
    Case k = box_on_floor(Body::box(1, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, 0.5, 0.5);
    ContactPatch& p = k.patches[0];
    p.vertex_count = 3;
    const double height = side * kFlat * 2 * (0.4 * 0.4 + 2 * 0.2 * 0.2) / 0.4 / 2;
    p.vertices[0] = {-0.2, 0, 0}, p.vertices[1] = {0.2, 0, 0}, p.vertices[2] = {0, height, 0};
    ContactSolver solver;
    CHECK((k.contact(solver).patches[0].mode == ContactMode::kSurface) == (side > 1));
  }
}

TEST_CASE("ways below kShortestWay are none, others are undone by positions") {
  const ContactOptions o;
  for (const double side : {0.5, 2.0}) {
    Case k = two_rows(1);
    k.bounded[0].gap = k.bounded[1].gap = -side * kShortestWay / o.push_share;
    ContactSolver solver;
    ContactResult r = k.contact(solver);
    CHECK(solver.solve_positions(k.problem(), r) == (side > 1));
    if (side > 1) CHECK(r.force[0] == doctest::Approx(side * kShortestWay));
  }
}

TEST_CASE("what is a metre deep comes out with kDeep of it per second, and the option's speed") {
  const ContactOptions o;
  Case k = two_rows(1);
  k.bounded[0].gap = k.bounded[1].gap = -1;
  ContactSolver solver;
  ContactResult r = k.contact(solver);
  REQUIRE(solver.solve_positions(k.problem(), r));
  CHECK(r.force[0] == doctest::Approx(k.h * (o.push_speed + kDeep * 1)));
}

TEST_CASE("a row of which kDependent is left is redundant") {
  for (const double side : {0.1, 10.0}) {
    Case k;
    k.G = Matrix::Identity(6, 6);
    k.G(2, 5) = k.G(5, 2) = std::sqrt(1 - side * kDependent);
    k.a = Vector::Zero(6), k.a[2] = k.a[5] = -kG;
    k.u = Vector::Zero(6);
    k.patches = {point(0.5, 0.5), point(0.5, 0.5)};
    k.patches[1].row = 3;
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    CHECK(r.status == ContactStatus::kOk);
    CHECK(redundancy(k.problem(), r) == (side < 1 ? 1 : 0));
  }
}

TEST_CASE("at acceleration level the centre of pressure is that of the answer, to kCentreFound") {
  const Body body = Body::box(1, 0.4, 0.3, 0.2);
  Case k = box_on_floor(body, 0.4, 0.3, 0.2, 0.5, 0.5);
  k.u[0] = 1;
  ContactSolver solver(acceleration_level());
  const ContactResult first = k.contact(solver), again = k.contact(solver);
  CHECK(first.patches[0].pressure_x > 0.04);  // ahead by μ times the height
  CHECK(std::abs(first.patches[0].pressure_x - again.patches[0].pressure_x) <= 2 * kCentreFound);
}

TEST_CASE("a patch that turns slower than kStopped·μ·g·h may stop within the step: its spin is not known before it") {
  for (const double factor : {0.99, 1.01}) {
    CAPTURE(factor);
    const double mu = 0.4;
    Case k = box_on_floor(Body::box(1, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, 0.5, mu);
    k.u[5] = factor * kernel::threshold::kStopped * mu * kG * k.h / k.patches[0].arm;
    ContactOptions o;
    o.take_law_of_2000();
    ContactSolver solver(o);
    const ContactResult r = k.contact(solver);
    REQUIRE(r.status == ContactStatus::kOk);
    CHECK((r.patches[0].slip == SlipMode::kSpin) == (factor > 1));
    CHECK(r.force[5] ==
          doctest::Approx(-mu * kG * k.patches[0].arm).epsilon(factor > 1 ? 1e-9 : 0.1));  // ring or patch
  }
}
