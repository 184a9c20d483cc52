#include "kansetsu/constraint/constrained.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "constrained_support.h"
#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/edit.h"
#include "no_alloc.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

double largest(const Eigen::MatrixXd& X) { return X.size() == 0 ? 0 : X.cwiseAbs().maxCoeff(); }

/// [M −Jᵀ; J 0]·[v̇; λ] = [τ − c; wanted − J̇·v] by an orthogonal decomposition: of all λ the shortest.
struct Kkt {
  Eigen::VectorXd vdot, lambda;
  int rank;

  Kkt(const Eigen::MatrixXd& M, const Eigen::VectorXd& drive, const Eigen::MatrixXd& J, const Eigen::VectorXd& rows) {
    const long n = M.rows(), m = J.rows();
    // Dependent rows are left to the decomposition of the Delassus matrix, which is better conditioned than the whole.
    const Eigen::LLT<Eigen::MatrixXd> factor(M);
    const Eigen::MatrixXd Z = factor.matrixL().solve(J.transpose());  // n × m, G = Zᵀ·Z
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> cod;
    cod.setThreshold(1e-6);
    cod.compute(Z.transpose());
    const Eigen::VectorXd free = factor.solve(drive);
    const Eigen::VectorXd y = cod.solve(rows - J * free);  // Zᵀ·y, y = Z·λ
    rank = int(cod.rank());
    cod.compute(Z);
    lambda = cod.solve(y);
    vdot = free + factor.matrixU().solve(y);
    CHECK(n >= rank);
    CHECK(m >= rank);
  }
};

/// A box whose root is free, 1.2 kg, its centre of mass 0.1 m along x from its origin.
Model free_box() {
  return ModelBuilder("box")
      .base(Base::kFree)
      .link("box", {.mass = 1.2, .origin = {.p = {0.1, 0, 0}}, .inertia = {0.01, 0, 0, 0.02, 0, 0.025}})
      .build();
}

}  // namespace

TEST_CASE("constrained: rows are those of Jacobians and of link accelerations") {
  std::mt19937_64 rng(31);
  for (const auto& [seed, model] : invariant_models(30)) {
    CAPTURE(seed);
    const State state = regular_state(model, rng);
    const Constraints constraints = random_constraints(model, 3, rng);
    const ConstraintRows rows = constraint_rows(model, state, constraints),
                         expected = dense_rows(model, state, constraints);
    const double scale = 1 + state.v.squaredNorm();
    CHECK(largest(rows.J - expected.J) < 1e-11 * (1 + largest(expected.J)));  // rounding along paths of 30 links
    CHECK(largest(rows.velocity - expected.velocity) < 1e-11 * scale);
    CHECK(largest(rows.drift - expected.drift) < 1e-11 * scale * scale);
  }
}

TEST_CASE("constrained_aba equals a dense solution of mass matrix and rows, gears and dependent rows included") {
  int compared = 0, dependent = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::mt19937_64 rng(seed);
    CAPTURE(seed);
    for (const auto& [tree, model] : invariant_models(24)) {
      CAPTURE(tree);
      const State state = regular_state(model, rng);
      const Eigen::VectorXd tau = random_vector(model.nv(), rng);
      Constraints constraints = random_constraints(model, 1 + int(seed) % 3, rng);
      if (seed % 2 == 0) constraints.frames.push_back(constraints.frames.front());  // rows twice
      ExternalForces external(model);
      for (int i = 0; i < model.link_count(); i += 3) {
        const Eigen::VectorXd x = random_vector(6, rng);
        external[LinkId(i)] = {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
      }
      if (aba(model, state, tau).status != Status::kOk) continue;
      const Eigen::MatrixXd M = crba(model, state.q);
      const Eigen::VectorXd drive = tau - rnea(model, state, Eigen::VectorXd::Zero(model.nv()), &external);
      const ConstraintRows rows = dense_rows(model, state, constraints);
      const Kkt expected(M, drive, rows.J, wanted_accelerations(constraints) - rows.drift);
      const ConstrainedMotion motion = constrained_aba(model, state, tau, constraints, &external);
      const Eigen::VectorXd left = rows.J * expected.vdot + rows.drift - wanted_accelerations(constraints);
      if (largest(left) > 1e-8 * (1 + largest(rows.drift))) continue;  // rows that contradict have no common answer
      // Near a posture where rows come to depend on each other both lose the digits of the condition of G.
      const Eigen::VectorXd values =
          (rows.J * M.llt().solve(rows.J.transpose())).selfadjointView<Eigen::Lower>().eigenvalues().cwiseAbs();
      double least = values.maxCoeff();
      for (const double x : values) {
        if (x > 1e-11 * values.maxCoeff()) least = std::min(least, x);
      }
      if (least < 1e-5 * values.maxCoeff()) continue;
      CHECK(motion.status == Status::kOk);
      CHECK(motion.rank == expected.rank);
      const double scale = 1 + largest(expected.vdot), force = 1 + largest(expected.lambda);
      // To 1e-10 in what both must satisfy, M·v̇ = τ − c + Jᵀ·λ: v̇ of light links is large where M is badly conditioned.
      CHECK(largest(M * (motion.vdot - expected.vdot)) < 1e-10 * scale * (1 + largest(M)));
      CHECK(largest(rows.J * (motion.vdot - expected.vdot)) < 1e-10 * scale * (1 + largest(rows.J)));
      CHECK(largest(M * motion.vdot - drive - rows.J.transpose() * motion.lambda) <
            1e-10 * (1 + largest(drive) + force * largest(rows.J)));
      CHECK(std::abs(motion.lambda.norm() - expected.lambda.norm()) < 1e-7 * force);  // least squares: digits of G
      ++compared;
      dependent += motion.rank < constraints.rows();
    }
  }
  MESSAGE(compared << " compared, " << dependent << " with dependent rows");
  CHECK(compared > 60);
  CHECK(dependent > 20);
}

TEST_CASE("constrained_aba: soles by one frame or by four points each move alike; the rank is told") {
  const Model model = human28();
  std::mt19937_64 rng(5);
  State state = regular_state(model, rng);
  state.v.setZero();
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  const Constraints welds = two_soles(model);
  Constraints corners;
  for (const FrameConstraint& sole : welds.frames) {
    for (const double x : {-0.05, 0.15}) {
      for (const double y : {-0.04, 0.04})
        corners.frames.push_back({.b = sole.b, .point = {x, y, -0.08}, .mask = kPointMask});
    }
  }
  const ConstrainedMotion one = constrained_aba(model, state, tau, welds),
                          four = constrained_aba(model, state, tau, corners);
  CHECK(one.rank == 12);
  CHECK(four.rank == 12);
  CHECK(corners.rows() == 24);
  CHECK(largest(one.vdot - four.vdot) < 1e-9 * (1 + largest(one.vdot)));
  CHECK(four.inconsistency < 1e-9);
  const LinkPoses poses = fk(model, state.q);
  for (int side = 0; side < 2; ++side) {  // the points carry together what the frame does
    const Force<> whole = constraint_wrench(model, poses, welds, side, one.lambda);
    Vec3<> f{};
    for (int k = 0; k < 4; ++k) f += constraint_wrench(model, poses, corners, 4 * side + k, four.lambda).f;
    CHECK(norm(f - whole.f) < 1e-8 * (1 + norm(whole.f)));
  }
}

TEST_CASE("constrained_aba: rows that contradict each other are told") {
  const Model model = human28();
  const State state(model);
  Constraints constraints = two_soles(model);
  constraints.frames.push_back(constraints.frames.front());
  constraints.frames.back().acceleration[5] = 1;  // the same foot, upwards
  const ConstrainedMotion motion = constrained_aba(model, state, Eigen::VectorXd::Zero(model.nv()), constraints);
  CHECK(motion.rank == 12);
  CHECK(motion.inconsistency == doctest::Approx(1));
  CHECK(motion.status == Status::kOk);
}

TEST_CASE("constrained_aba: more rows than one matrix takes, the same motion") {
  const Model model = human28();
  std::mt19937_64 rng(17);
  State state = regular_state(model, rng);
  state.v.setZero();  // dependent rows agree then
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  Constraints few = two_soles(model), many = few;
  while (many.rows() <= 70) many.frames.insert(many.frames.end(), few.frames.begin(), few.frames.end());
  const ConstrainedMotion a = constrained_aba(model, state, tau, few), b = constrained_aba(model, state, tau, many);
  CHECK(b.rank == 12);
  CHECK(largest(a.vdot - b.vdot) < 1e-9 * (1 + largest(a.vdot)));
}

TEST_CASE("the constrained rigid body: a box held at a point turns about it as Euler's equations say") {
  const Model model = free_box();
  State state(model);
  state.v.head<3>() = Eigen::Vector3d(0.5, -1.0, 2.0);
  const Vec3<> pivot{-0.05, 0.02, 0};
  const Vec3<> w{0.5, -1.0, 2.0}, v = cross(w, -pivot);  // the pivot is at rest
  state.v.segment<3>(3) = Eigen::Vector3d(v.x, v.y, v.z);
  Constraints held;
  held.frames.push_back({.b = LinkId(0), .point = pivot, .mask = kPointMask});
  const ConstrainedMotion motion = constrained_aba(model, state, Eigen::VectorXd::Zero(6), held);

  // I_p·ω̇ = r×m·g − ω×I_p·ω about the pivot, and f = m·(a_c − g)
  const Eigen::Vector3d r = vec(Vec3<>{0.1, 0, 0} - pivot), g = vec(model.gravity()), omega = vec(w);
  const double m = 1.2;
  const Eigen::Matrix3d I = Eigen::Vector3d(0.01, 0.02, 0.025).asDiagonal().toDenseMatrix() +
                            m * (r.squaredNorm() * Eigen::Matrix3d::Identity() - r * r.transpose());
  const Eigen::Vector3d alpha = I.llt().solve(r.cross(m * g) - omega.cross(I * omega));
  const Eigen::Vector3d f = m * (alpha.cross(r) + omega.cross(omega.cross(r)) - g);
  CHECK(largest(motion.vdot.head<3>() - alpha) < 1e-12 * alpha.norm());
  CHECK(largest(motion.lambda - f) < 1e-12 * f.norm());
  CHECK(motion.rank == 3);

  held.frames[0].mask = kWeldMask;  // held altogether, at rest: its weight and the moment of it
  state.v.setZero();
  const ConstrainedMotion still = constrained_aba(model, state, Eigen::VectorXd::Zero(6), held);
  CHECK(largest(still.vdot) < 1e-13);
  Eigen::VectorXd weight(6);
  weight << -r.cross(m * g), -m * g;
  CHECK(largest(still.lambda - weight) < 1e-12 * weight.norm());
}

TEST_CASE("constrained_impulse: a ball of 1 kg at 2 m/s, restitution one half; and a rod caught at its end") {
  const Model ball =
      ModelBuilder("ball").base(Base::kFree).link("ball", {.mass = 1, .inertia = {0.1, 0, 0, 0.1, 0, 0.1}}).build();
  State state(ball);
  state.v[5] = 2;
  Constraints wall;
  wall.frames.push_back({.mask = kPointInPlaneMask, .restitution = {0, 0, 0, 0, 0, 0.5}});
  const ConstrainedImpulse hit = constrained_impulse(ball, state, wall);
  CHECK(hit.v[5] == doctest::Approx(-1).epsilon(1e-14));
  CHECK(hit.lambda[0] == doctest::Approx(-3).epsilon(1e-14));
  CHECK(hit.energy == doctest::Approx(-1.5).epsilon(1e-14));

  // A box that falls without turning and is caught at a point: its momentum about that point stays.
  const Model box = free_box();
  State falling(box);
  falling.v[5] = -3;
  Constraints caught;
  caught.frames.push_back({.b = LinkId(0), .mask = kPointMask});
  const ConstrainedImpulse catch_ = constrained_impulse(box, falling, caught);
  const double spin = 0.1 * 1.2 * 3 / (0.02 + 1.2 * 0.01);
  CHECK(catch_.v[1] == doctest::Approx(spin).epsilon(1e-13));
  CHECK(largest(catch_.v.tail<3>()) < 1e-13);
  const Energy before = energy(box, falling), after = energy(box, [&] {
                                                State s = falling;
                                                s.v = catch_.v;
                                                return s;
                                              }());
  CHECK(catch_.energy == doctest::Approx(after.kinetic - before.kinetic).epsilon(1e-13));
}

TEST_CASE("constrained_impulse equals M·(v⁺ − v⁻) = Jᵀ·Λ and every row bounces by its own restitution") {
  std::mt19937_64 rng(23);
  for (const auto& [seed, model] : invariant_models(20)) {
    CAPTURE(seed);
    const State state = regular_state(model, rng);
    Constraints constraints = random_constraints(model, 1, rng);
    constraints.frames[0].restitution = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    const ConstrainedImpulse hit = constrained_impulse(model, state, constraints);
    if (hit.status != Status::kOk || hit.rank < constraints.rows()) continue;
    const ConstraintRows rows = dense_rows(model, state, constraints);
    const Eigen::MatrixXd M = crba(model, state.q);
    CHECK(largest(M * (hit.v - state.v) - rows.J.transpose() * hit.lambda) <
          1e-9 * (1 + largest(hit.lambda)) * (1 + largest(rows.J)));
    int row = 0;
    for (size_t k = 0; k < 6; ++k) {
      if (!(constraints.frames[0].mask >> k & 1)) continue;
      CHECK(std::abs(rows.J.row(row).dot(hit.v) + constraints.frames[0].restitution[k] * rows.velocity[row]) <
            1e-8 * (1 + largest(hit.v)));
      ++row;
    }
  }
}

TEST_CASE("constrained_rnea finds torques and forces that constrained_aba turns into the motion again") {
  const Model model = human28();
  std::mt19937_64 rng(41);
  const State state = regular_state(model, rng);
  const Constraints soles = two_soles(model);
  Eigen::VectorXd tau = 10 * random_vector(model.nv(), rng);
  tau.head<6>().setZero();
  const ConstrainedMotion motion = constrained_aba(model, state, tau, soles);
  const ConstrainedTorque found = constrained_rnea(model, state, motion.vdot, soles);
  CHECK(found.missing < 1e-8);
  CHECK(found.violation < 1e-8);
  CHECK(largest(found.tau.head<6>()) == 0);
  CHECK(found.lambda.norm() <= motion.lambda.norm() * (1 + 1e-9));
  const ConstrainedMotion again = constrained_aba(model, state, found.tau, soles);
  CHECK(largest(again.vdot - motion.vdot) < 1e-8 * (1 + largest(motion.vdot)));

  const Constraints none;
  const ConstrainedTorque falling = constrained_rnea(model, state, motion.vdot, none);
  CHECK(falling.missing > 1);  // nothing holds the base
  const Eigen::VectorXd other = motion.vdot + Eigen::VectorXd::Ones(model.nv());
  CHECK(constrained_rnea(model, state, other, soles).violation > 0.1);
}

TEST_CASE("constrained functions allocate nothing once their workspace has held the rows") {
  if (!NoAllocScope::counts()) return;
  const Model model = human28();
  std::mt19937_64 rng(3);
  const State state = regular_state(model, rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  Constraints constraints = two_soles(model);
  constraints.frames.push_back({.b = model.link_id("FootL"), .mask = kPointMask});
  constraints.coordinates.push_back({.terms = {{8, 1}}});
  ConstrainedWorkspace work(model, constraints);
  ConstrainedMotion motion(model, constraints);
  ConstrainedImpulse impulse(model, constraints);
  ConstrainedTorque torque(model, constraints);
  ConstrainedDerivatives derivatives(model, constraints);
  ConstraintRows rows(model, constraints);
  ExternalForces external(model);
  const auto all = [&] {
    constrained_aba(model, state, tau, constraints, work, motion, &external);
    constrained_impulse(model, state, constraints, work, impulse);
    constrained_rnea(model, state, motion.vdot, constraints, {}, work, torque, &external);
    constrained_aba_derivatives(model, state, tau, constraints, work, derivatives, &external);
    constraint_rows(model, state, constraints, work, rows);
  };
  all();
  CHECK(allocations_in(all) == 0);
}

TEST_CASE("constrained functions say what does not fit") {
  const Model model = human28(), other = human28_ball();
  const State state(model);
  const Eigen::VectorXd tau = Eigen::VectorXd::Zero(model.nv());
  const auto refused = [&](const Constraints& c, const char* what) {
    CAPTURE(what);
    CHECK_THROWS_WITH_AS(constrained_aba(model, state, tau, c), doctest::Contains(what), Error);
  };
  refused({.frames = {{.b = LinkId(99)}}}, "names link 99");
  refused({.frames = {{.a = LinkId(-1)}}}, "names link -1");
  refused({.frames = {{.mask = 0}}}, "mask 0");
  refused({.frames = {{.mask = 64}}}, "mask 64");
  refused({.frames = {{.axes = 2.0 * Mat3<>::identity()}}}, "right angles");
  refused({.frames = {{.axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}}}}, "right-handed");
  refused({.frames = {{.point = {NAN, 0, 0}}}}, "not finite");
  refused({.coordinates = {{.terms = {{-1, 1}}}}}, "coordinate -1");
  refused({.coordinates = {{}}}, "no term");
  const Constraints none;
  ConstrainedWorkspace work(other);
  ConstrainedMotion motion(model, none);
  CHECK_THROWS_WITH_AS(constrained_aba(model, state, tau, none, work, motion), doctest::Contains("another model"),
                       Error);
  State bad = state;
  bad.q.setConstant(NAN);
  CHECK(constrained_aba(model, bad, tau, two_soles(model)).status == Status::kNotFinite);
}
