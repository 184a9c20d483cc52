#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "kansetsu/constraint/constrained.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"

/// Errata of [NY00] on bodies that move: the printed form is evaluated beside what the engine does, and fails. Numbers: docs/theory/sources.md.
using namespace kansetsu;

namespace {

constexpr double kMiss = 1e-2;  // far beyond any rounding

Model free_box() {
  return ModelBuilder("box")
      .base(Base::kFree)
      .link("box", {.mass = 2, .origin = {.p = {0.3, 0.1, 0}}, .inertia = {0.05, 0, 0, 0.06, 0, 0.07}})
      .build();
}

/// A box of 3 kg on the floor, friction 0.4, pushed along x and moving along x.
struct Slide {
  static constexpr double kMu = 0.4, kMass = 3, kGravity = 9.81, kStep = 1e-3;
  World world;
  FigureId box{-1};

  Slide(double v, double push) {
    world.add_fixed(Plane{}, {}, {kMu, kMu});
    const Model model = value_or_throw(Model::build(make_body("box", Box{{0.4, 0.3, 0.1}}, kMass, {}).model));
    State state(model);
    state.q[2] = 0.05;
    state.v[3] = v;
    box = world.add(model, state, {.material = {kMu, kMu}});
    for (int i = 0; i < 20; ++i) {
      world.apply_wrench({box, LinkId(0)}, {{}, {push, 0, 0}}, world.pose({box, LinkId(0)}).p);
      before = world.v(box)[3];
      world.step();
    }
  }
  double before = 0;
  double velocity() const { return world.v(box)[3]; }
  double acceleration() const { return (velocity() - before) / kStep; }
  /// Of all contacts on the box
  Vec3<> force() const {
    Vec3<> sum{};
    for (const auto& c : world.report().contacts) sum += c.wrench.f;
    return sum.z < 0 ? -sum : sum;
  }
};

}  // namespace

TEST_CASE("erratum B4: (18) as printed stops what should rebound") {
  const Model model = free_box();
  State state(model);
  state.v << 0.2, -0.1, 0.3, 0.5, 0.4, -2;
  const double e = 0.5;
  Constraints wall;
  wall.frames.push_back({.mask = kPointMask, .restitution = {0, 0, 0, e, e, e}});
  const Eigen::MatrixXd J = constraint_rows(model, state, wall).J, M = crba(model, state.q);
  const Eigen::MatrixXd B = J * M.ldlt().solve(J.transpose());
  const Eigen::VectorXd printed = state.v - M.ldlt().solve(J.transpose() * B.ldlt().solve(J * state.v));
  const Eigen::VectorXd right = constrained_impulse(model, state, wall).v;
  CHECK((J * right + e * J * state.v).norm() < 1e-12);
  CHECK((J * printed + e * J * state.v).norm() > kMiss);
}

TEST_CASE("erratum B7: (20) with a drift of held velocities alone lets the held tip of a chain fly off") {
  const Model model = chain(6);
  const int nv = model.nv();
  State state(model);
  for (int k = 0; k < nv; ++k) state.q[k] = 0.3 + 0.1 * k, state.v[k] = 1.0 - 0.4 * k;
  Constraints held;
  held.frames.push_back({.b = LinkId(6), .point = {0, 0, 0.3}, .mask = kPointMask});
  state.v = constrained_impulse(model, state, held).v;
  const ConstraintRows rows = constraint_rows(model, state, held);
  CHECK(rows.velocity.norm() < 1e-12);  // Ḣ_C·θ̇_C, as printed, is a drift of nothing
  const Eigen::VectorXd right = constrained_aba(model, state, Eigen::VectorXd::Zero(nv), held).vdot;
  CHECK((rows.J * right + rows.drift).norm() < 1e-10);
  const Eigen::MatrixXd M = crba(model, state.q), B = rows.J * M.ldlt().solve(rows.J.transpose());
  const Eigen::VectorXd driven = -M.ldlt().solve(rnea(model, state, Eigen::VectorXd::Zero(nv)));
  const Eigen::VectorXd printed = driven - M.ldlt().solve(rows.J.transpose() * B.ldlt().solve(rows.J * driven));
  CHECK((rows.J * printed + rows.drift).norm() > kMiss);
}

TEST_CASE("erratum B8: (25a) as printed lets friction hold a push of twice what it can") {
  const double push = 2 * Slide::kMu * Slide::kMass * Slide::kGravity;
  const Slide k(0, push);
  const double needed = -push, limit = Slide::kMu * k.force().z;
  CHECK(needed <= limit);                  // as printed: it would stay
  CHECK_FALSE(std::abs(needed) <= limit);  // in size: it slides
  CHECK(k.velocity() > kMiss);
  CHECK(std::abs(k.force().x) == doctest::Approx(limit).epsilon(1e-6));
}

TEST_CASE("erratum B9: (25b) as printed refuses the friction that brakes a sliding box") {
  const Slide k(1.5, 0);
  CHECK(k.force().x * k.velocity() < 0);            // against the velocity
  CHECK_FALSE(k.force().x * k.acceleration() < 0);  // printed: against the acceleration, which it causes
  CHECK(k.acceleration() == doctest::Approx(-Slide::kMu * Slide::kGravity).epsilon(1e-6));
}

TEST_CASE("erratum B14: a velocity that is constant along the axes of the foot does not keep it on the floor") {
  const Model model = free_box();
  State state(model);
  state.v << 0.2, -1.1, 0.7, 0.5, 0.4, 0.3;
  const double h = 1e-6;
  const auto point_velocity = [&](double t) {  // of the origin, along the axes of the floor, where nothing accelerates
    State later = state;
    later.q = integrate(model, state.q, Eigen::VectorXd(t * state.v));
    return link_motions(model, later, Eigen::VectorXd::Zero(6)).V[0].v;
  };
  const Vec3<> rate = (0.5 / h) * (point_velocity(h) - point_velocity(-h));
  Constraints floor;
  floor.frames.push_back({.mask = kPointMask});
  const Eigen::VectorXd drift = constraint_rows(model, state, floor).drift;
  CHECK((drift - Eigen::Vector3d(rate.x, rate.y, rate.z)).norm() < 1e-8);  // central difference
  CHECK(drift.norm() > kMiss);  // along the axes of the foot the same velocity has no rate: v̇ = 0
  const Eigen::VectorXd right =
      constrained_aba(model, state, Eigen::VectorXd::Zero(6), floor).vdot;  // [ω̇; v̇] along the axes of the foot
  CHECK(std::abs(right[5] + drift[2]) < 1e-10);                             // rounding
  CHECK(std::abs(right[5]) > kMiss);  // printed: zero, and the foot leaves the floor or sinks in
}
