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

TEST_CASE(
    "what is far slower than kLeastSpeed is solved without gravity, as what rests; what is faster is brought to rest") {
  for (const double speed : {0.0, 1e-14 * kLeastSpeed, 10 * kLeastSpeed}) {
    CAPTURE(speed);
    Case k = two_rows(1);
    k.gravity = 0;
    k.a = Vector::Zero(2), k.u = Vector::Constant(2, -speed);
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    CHECK(r.tier != ContactTier::kUnsolved);
    CHECK(r.solves == (speed > kLeastSpeed ? 1 : 0));
    CHECK(r.force[0] == doctest::Approx(speed > kLeastSpeed ? speed / k.h : 0));
  }
}

/// A patch of two vertices 0.4 m apart on a body that turns about an axis through the first, which yields by `own`.
TEST_CASE("a vertex whose response cancels to less than kCancelled of its terms carries nothing") {
  for (const double side : {0.1, 10.0}) {
    Case k;
    Vector turn = Vector::Zero(6);
    turn[2] = 0.2, turn[4] = 1;
    k.G = turn * turn.transpose();
    k.G(2, 2) += side * kCancelled * 0.16;  // the terms are four times 0.2²
    k.a = Vector::Zero(6), k.u = Vector::Zero(6);
    k.a[2] = -1;
    ContactPatch patch;
    patch.row_count = 6, patch.vertex_count = 2;
    patch.vertices[0] = {0.2, 0, 0}, patch.vertices[1] = {-0.2, 0, 0};
    k.patches = {patch};
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    CHECK(r.tier != ContactTier::kUnsolved);
    if (side < 1)
      CHECK(r.patches[0].pressure_x == doctest::Approx(-0.2));
    else
      CHECK(k.outcome(r)[2] - 0.2 * k.outcome(r)[4] == doctest::Approx(0).epsilon(1e-6));  // rounding, by 1/kCancelled
  }
}

/// Friction holds it whatever it is pressed with; the force that is found is within measure of the least that does. Without the threshold it is 1/slope.
TEST_CASE(
    "what moves along a line that is less or more than √kLeastShare out of the plane of contact is wedged with "
    "little force") {
  for (const double side : {0.1, 10.0}) {
    const double slope = std::sqrt(side * kLeastShare), mu = 0.8, push = 3;
    Case k;
    const Vector line = Vector3(1, 0, slope);
    k.G = line * line.transpose();
    k.a = -push * line, k.u = Vector::Zero(3);
    ContactPatch patch;
    patch.row_count = 3, patch.vertex_count = 1, patch.mu_static = patch.mu_dynamic = mu;
    k.patches = {patch};
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    CHECK(r.tier != ContactTier::kUnsolved);
    CHECK(k.outcome(r).norm() < 1e-8);                      // it is held, to the tolerance of the solver
    CHECK(r.force[2] >= push / (mu + slope) * (1 - 1e-6));  // by Coulomb's law; 1e-6: the tolerance
    CHECK(r.force[2] < 10 * push / (mu + slope));
  }
}

TEST_CASE("directions after a step that leaves less than kRepeat take the factor that is there") {
  for (const double change : {1e-4, 2.0}) {  // of the load: friction turns by as much
    Body body = Body::box(1, 0.4, 0.3, 0.2);
    body.v << 0.012, 0.004, 0, 0, 0, 0.08;  // as fast as friction stops in a few steps
    Eigen::Matrix<double, 6, 1> wrench = Eigen::Matrix<double, 6, 1>::Zero();
    Case k = box_on_floor(body, 0.4, 0.3, 0.2, 0.5, 0.5);
    ContactSolver solver;
    k.contact(solver);
    wrench << 0, kG, 0, 0, 0, 0;
    k.a = box_on_floor(body, 0.4, 0.3, 0.2, 0.5, 0.5, {0, 0, -kG}, change * wrench).a;
    k.u[0] *= 1 - change, k.u[5] *= 1 - 0.6 * change;
    const ContactResult r = k.contact(solver);
    CHECK(r.patches[0].tier == ContactTier::kNewton);
    CHECK(r.patches[0].residual < 1e-10);
    CHECK((r.patches[0].solves == 1) == (change < 0.01));
  }
}

TEST_CASE("vertices that span less than kFlat of the squared circumference are a line") {
  for (const double side : {0.1, 10.0}) {
    Eigen::Matrix<double, 6, 1> load = Eigen::Matrix<double, 6, 1>::Zero();
    load[4] = 0.1 * kG;  // presses 0.1 m beside the middle
    Case k = box_on_floor(Body::box(1, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, 0.5, 0.5, {0, 0, -kG}, load);
    ContactPatch& p = k.patches[0];
    p.vertex_count = 3;
    const double height = side * kFlat * 2 * (0.4 * 0.4 + 2 * 0.2 * 0.2) / 0.4 / 2;
    p.vertices[0] = {-0.2, 0, 0}, p.vertices[1] = {0, -height, 0}, p.vertices[2] = {0.2, 0, 0};
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    CHECK((r.patches[0].mode == ContactMode::kSurface) == (side > 1));
    CHECK(r.patches[0].pressure_x == doctest::Approx(0.1));  // the ends of a line are those farthest apart
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
