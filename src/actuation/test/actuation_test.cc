#include "kansetsu/actuation/actuation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <utility>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "model/tendon_path.h"
#include "no_alloc.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

constexpr double kTolerance = 1e-13;  // rounding

TendonPart point(std::string link, const Vec3<>& p) { return {.at = {std::move(link), {p, {}}}}; }

/// From the ceiling, `up` above the hinge of the pendulum, to `down` along its rod.
TendonDescription straight(double up, double down) {
  return {.name = "rope", .path = {point("", {0, 0, up}), point("rod1", {0, 0, -down})}};
}

Actuation with(const TendonDescription& tendon, std::vector<ActuatorDescription> actuators = {}) {
  return Actuation(pendulum(), {{tendon}, std::move(actuators)});
}

State at(const Model& model, double q, double v) {
  State state(model);
  state.q[0] = q, state.v[0] = v;
  return state;
}

double entry(const MomentRow& row, int column) {
  double sum = 0;
  for (std::size_t k = 0; k < row.columns.size(); ++k) sum += row.columns[k] == column ? row.values[k] : 0;
  return sum;
}

}  // namespace

TEST_CASE("the length of a straight tendon obeys the law of cosines, its moment arm is the derivative") {
  Actuation actuation = with(straight(0.7, 0.4));
  for (const double q : {-2.0, -0.3, 0.0, 1.1, 3.0}) {
    CAPTURE(q);
    actuation.place(at(pendulum(), q, 1.5));
    const double length = std::sqrt(0.7 * 0.7 + 0.4 * 0.4 + 2 * 0.7 * 0.4 * std::cos(q));
    const double arm = -0.7 * 0.4 * std::sin(q) / length;
    CHECK(std::abs(actuation.tendon_length(0) - length) < kTolerance);
    CHECK(std::abs(entry(actuation.tendon_moment(0), 0) - arm) < kTolerance);
    CHECK(std::abs(actuation.tendon_velocity(0) - 1.5 * arm) < kTolerance);
  }
}

TEST_CASE("the points and pulls of a straight tendon are where it ends") {
  Actuation actuation = with(straight(0.7, 0.4));
  actuation.place(at(pendulum(), 0.6, 0));
  const Vec3<> a{0, 0, 0.7}, b{-0.4 * std::sin(0.6), 0, -0.4 * std::cos(0.6)};
  const auto points = actuation.tendon_points(0);
  REQUIRE(points.size() == 2);
  CHECK(norm(points[0] - a) < kTolerance);
  CHECK(norm(points[1] - b) < kTolerance);
  const auto pulls = actuation.tendon_pulls(0);
  REQUIRE(pulls.size() == 2);
  const Vec3<> along = (1 / norm(b - a)) * (b - a);
  CHECK(norm(pulls[0].f + along) < kTolerance);
  CHECK(norm(pulls[1].f - along) < kTolerance);
  CHECK(norm(pulls[1].p - b) < kTolerance);
}

TEST_CASE("moment arms of a path of points over many bodies, with a pulley, are the derivatives of its length") {
  const Model model = human28();
  const TendonDescription t{.name = "t",
                            .path = {point("Body", {0.1, 0.05, 0}),
                                     point("UpperLegL", {0.05, 0, -0.1}),
                                     point("FootL", {0, 0.02, 0}),
                                     {.kind = TendonPartKind::kPulley, .divisor = 3},
                                     point("", {1, 0, 2}),
                                     point("LowerArmR", {0, 0, -0.1}),
                                     point("UpperLegR", {0, 0.1, 0})}};
  Actuation actuation(model, {{t}, {}});
  std::printf("seed 7\n");
  std::mt19937_64 random(7);
  State state(model);
  state.q = random_configuration(model, random);
  actuation.place(state);
  Eigen::VectorXd arms = Eigen::VectorXd::Zero(model.nv());
  const MomentRow row = actuation.tendon_moment(0);
  for (std::size_t k = 0; k < row.columns.size(); ++k) arms[row.columns[k]] += row.values[k];
  constexpr double kStep = 1e-6;
  for (int k = 0; k < model.nv(); ++k) {
    const auto length = [&](double by) {
      State moved(model);
      integrate(model, state.q, by * Eigen::VectorXd::Unit(model.nv(), k), moved.q);
      actuation.place(moved);
      return actuation.tendon_length(0);
    };
    CAPTURE(k);
    CHECK(std::abs((length(kStep) - length(-kStep)) / (2 * kStep) - arms[k]) < 1e-8);  // rounding over the step: 1e-10
  }
}

TEST_CASE("a tendon round a cylinder is two tangents and an arc, and its moment arm the radius") {
  // The hinge's own axis: a pulley of radius 0.1 about y, a rope from 0.5 beside it in the world to 0.5 along the rod.
  constexpr double kRadius = 0.1, kFar = 0.5;
  const Pose pulley{{0, 0, 0}, {-std::numbers::pi / 2, 0, 0}};
  TendonDescription rope{.name = "rope",
                         .path = {point("", {kFar, 0, 0}),
                                  {.kind = TendonPartKind::kCylinder, .at = {"", pulley}, .radius = kRadius},
                                  point("rod1", {0, 0, -kFar})}};
  rope.path[1].side = TendonPlace{"", {{-1, 0, 1}, {}}};  // over the far side
  Actuation actuation = with(rope);
  const double tangent = std::sqrt(kFar * kFar - kRadius * kRadius), part = std::acos(kRadius / kFar);
  for (const double q :
       {-0.4, 0.0, 0.4}) {  // the rod points to −z turned by q about y: from +x it is 270° the long way
    CAPTURE(q);
    actuation.place(at(pendulum(), q, 2));
    const double angle = 1.5 * std::numbers::pi - q - 2 * part;
    CHECK(std::abs(actuation.tendon_length(0) - (2 * tangent + kRadius * angle)) < 1e-9);  // Newton's method ends there
    CHECK(std::abs(std::abs(entry(actuation.tendon_moment(0), 0)) - kRadius) < 1e-9);
  }
}

TEST_CASE("a tendon passes a pulley as the lines from its ends to the side point do") {
  constexpr double kRadius = 0.1, kFar = 0.5;
  const Pose pulley{{0, 0, 0}, {-std::numbers::pi / 2, 0, 0}};
  const double straight = kFar * std::sqrt(2.0);
  const double tangent = std::sqrt(kFar * kFar - kRadius * kRadius), part = std::acos(kRadius / kFar);
  const double round = 2 * tangent + kRadius * (1.5 * std::numbers::pi - 2 * part);
  // From +x to −z: the pulley is within the triangle with the side point only if that is between −x and +z.
  for (const auto& [side, length] : {std::pair{Vec3<>{-1, 0, 0.01}, round},
                                     {{-0.01, 0, 1}, round},
                                     {{-1, 0, -0.01}, straight},
                                     {{0.01, 0, 1}, straight},
                                     {{1, 0, -1}, straight}}) {
    CAPTURE(side.x);
    CAPTURE(side.z);
    TendonPart part_of{.kind = TendonPartKind::kCylinder, .at = {"", pulley}, .radius = kRadius};
    part_of.side = TendonPlace{"", {side, {}}};
    Actuation actuation =
        with({.name = "rope", .path = {point("", {kFar, 0, 0}), part_of, point("rod1", {0, 0, -kFar})}});
    actuation.place(at(pendulum(), 0, 0));
    CHECK(std::abs(actuation.tendon_length(0) - length) < kTolerance);
  }
}

TEST_CASE(
    "points that move on their link, and those that come and go: the moment arm is the derivative of the length") {
  TendonDescription rope = straight(0.7, 0.4);
  TendonPart kink = point("rod1", {0.1, 0, -0.2});
  kink.when = TendonCondition{{"hinge1", 0}, {-0.5, 0.5}};
  rope.path.insert(rope.path.begin() + 1, kink);
  CoordinateFunction spline{
      .kind = CoordinateFunction::Kind::kSpline, .x = {-1, 0, 0.5, 1.2}, .y = {0.1, 0, 0.05, 0.2}};
  rope.path.back().shifts.push_back({{"hinge1", 0}, spline, {0.6, 0, 0.8}});
  Actuation actuation = with(rope);
  const auto length = [&](double q) {
    actuation.place(at(pendulum(), q, 0));
    return actuation.tendon_length(0);
  };
  for (const double q : {-0.9, -0.3, 0.0, 0.2, 0.49, 0.51, 1.1, 2.0}) {
    CAPTURE(q);
    constexpr double kStep = 1e-6;
    const double slope = (length(q + kStep) - length(q - kStep)) / (2 * kStep);
    actuation.place(at(pendulum(), q, 2));
    CHECK(std::abs(entry(actuation.tendon_moment(0), 0) - slope) < 1e-8);  // of differences: step², and rounding/step
    CHECK(std::abs(actuation.tendon_velocity(0) - 2 * slope) < 1e-7);      // the same, times the speed of 2
  }
  CHECK(actuation.tendon_points(0).size() == 2);  // at 2 rad the kink is not there
  length(0.2);
  CHECK(actuation.tendon_points(0).size() == 3);
}

TEST_CASE("a tendon goes past the end of a cylinder") {
  for (const double z : {0.09, 0.11}) {  // the cylinder ends at 0.1
    CAPTURE(z);
    TendonDescription rope{.name = "rope",
                           .path = {point("", {-0.5, 0.01, z}),
                                    {.kind = TendonPartKind::kCylinder, .radius = 0.1, .length = 0.2},
                                    point("", {0.5, 0.01, z})}};
    Actuation actuation = with(rope);
    actuation.place(at(pendulum(), 0, 0));
    CHECK((actuation.tendon_length(0) > 1.001) == (z < 0.1));
  }
}

TEST_CASE("a tendon without a path is a sum of coordinates; a pulley divides what follows") {
  const Model model = pendulum(2);
  TendonDescription sum{.name = "sum", .terms = {{{"hinge1", 0}, 0.5}, {{"hinge2", 0}, -2}}};
  TendonDescription branches{.name = "branches",
                             .path = {point("", {0, 0, 1}),
                                      point("", {0, 0, 3}),
                                      {.kind = TendonPartKind::kPulley, .divisor = 4},
                                      point("", {1, 0, 0}),
                                      point("", {1, 2, 0})}};
  Actuation actuation(model, {{sum, branches}, {}});
  State state(model);
  state.q << 0.3, -0.2;
  state.v << 1, 2;
  actuation.place(state);
  CHECK(std::abs(actuation.tendon_length(0) - (0.5 * 0.3 + 2 * 0.2)) < kTolerance);
  CHECK(std::abs(actuation.tendon_velocity(0) - (0.5 - 4)) < kTolerance);
  CHECK(std::abs(actuation.tendon_length(1) - (2 + 2.0 / 4)) < kTolerance);
  CHECK(actuation.find_tendon("branches") == 1);
  CHECK(actuation.find_tendon("none") == -1);
}

TEST_CASE("servos follow their laws, and ranges cut controls and forces") {
  ActuatorDescription servo{.name = "servo", .dof = {"hinge1", 0}, .gear = 2};
  make_position_servo(servo, 30, 4);
  servo.control_range = {-1, 1}, servo.force_range = {-20, 20};
  Actuation actuation(pendulum(), {{}, {servo}});
  actuation.place(at(pendulum(), 0.1, 0.5));
  CHECK(actuation.actuator_length(0) == doctest::Approx(0.2));
  const ActuatorForce free = actuation.force(0, 0.4, 0);
  CHECK(free.force == doctest::Approx(30 * (0.4 - 0.2) - 4 * 1.0));
  CHECK(free.d_length == doctest::Approx(-30));
  CHECK(free.d_velocity == doctest::Approx(-4));
  CHECK_FALSE(free.clamped);
  const ActuatorForce cut = actuation.force(0, 7, 0);  // the control is cut at 1: 30·0.8 − 4 = 20
  CHECK(cut.force == doctest::Approx(20));
  CHECK(actuation.force(0, -7, 0).force == doctest::Approx(-20));  // −40 otherwise
  CHECK(actuation.force(0, -7, 0).clamped);
  Eigen::VectorXd u(1), x = Eigen::VectorXd::Zero(1);
  u << 0.4;
  CHECK(actuation.torques(u, x)[0] == doctest::Approx(2 * free.force));  // by the gear
}

TEST_CASE("activations: an integrator adds up, a filter approaches the control exactly, ranges cut both") {
  ActuatorDescription integrator{.name = "i", .dof = {"hinge1", 0}, .activation = ActivationLaw::kIntegrator};
  integrator.activation_range = {-0.5, 0.5};
  ActuatorDescription filter{.name = "f", .dof = {"hinge1", 0}, .activation = ActivationLaw::kFilter};
  filter.activation_numbers = {0.2, 0, 0};
  const Actuation actuation(pendulum(), {{}, {integrator, filter}});
  CHECK(actuation.activation_rate(0, 3, 0.1) == 3);
  CHECK(actuation.next_activation(0, 3, 0.1, 0.1) == doctest::Approx(0.4));
  CHECK(actuation.next_activation(0, 3, 0.1, 1) == 0.5);
  CHECK(actuation.activation_rate(1, 1, 0.4) == doctest::Approx(3));
  double x = 0.4;  // in one step or in a hundred
  for (int k = 0; k < 100; ++k) x = actuation.next_activation(1, 1, x, 0.01);
  CHECK(std::abs(x - actuation.next_activation(1, 1, 0.4, 1)) < kTolerance);
  CHECK(std::abs(x - (1 - 0.6 * std::exp(-5))) < kTolerance);
}

TEST_CASE("limits hold for all actuators of a joint or a tendon together") {
  ModelDescription weak = pendulum().description();
  weak.joints[0].dofs = {DofDescription{.effort = 3}};
  const ActuatorDescription motor{.name = "a", .dof = {"hinge1", 0}};
  ActuatorDescription other = motor;
  other.name = "b";
  Actuation joint(ModelBuilder(weak).build(), {{}, {motor, other}});
  joint.place(at(pendulum(), 0, 0));
  const Eigen::Vector2d u{5, 1}, x{0, 0};
  CHECK(joint.torques(u, x)[0] == doctest::Approx(3));
  CHECK(joint.torques(-u, x)[0] == doctest::Approx(-3));
  CHECK(joint.torques(0.1 * u, x)[0] == doctest::Approx(0.6));

  TendonDescription rope = straight(0.7, 0.4);
  rope.effort = {-2, 2};
  ActuatorDescription pull{.name = "a", .transmission = Transmission::kTendon, .target = "rope"};
  ActuatorDescription more = pull;
  more.name = "b";
  Actuation tendon = with(rope, {pull, more});
  tendon.place(at(pendulum(), 0.5, 0));
  std::vector<ActuatorForce> forces(2);
  tendon.forces(u, x, forces);
  CHECK(forces[0].force + forces[1].force == doctest::Approx(2));
  CHECK(forces[0].force == doctest::Approx(5 * forces[1].force));  // each its share
}

TEST_CASE("placing and forces allocate nothing") {
  TendonDescription rope = straight(0.7, 0.4);
  ActuatorDescription pull{.name = "a", .transmission = Transmission::kTendon, .target = "rope"};
  Actuation actuation = with(rope, {pull});
  const State state = at(pendulum(), 0.5, 1);
  std::vector<ActuatorForce> forces(1);
  const Eigen::VectorXd u = Eigen::VectorXd::Ones(1), x = Eigen::VectorXd::Zero(1);
  actuation.place(state);
  CHECK(allocations_in([&] {
          actuation.place(state);
          actuation.forces(u, x, forces);
        }) == 0);
}
