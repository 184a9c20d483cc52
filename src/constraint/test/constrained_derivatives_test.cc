#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "constrained_support.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// f'(0) by four values of f; of order h⁴: with h = 1e-3 some 1e-11 beside the function's own size.
template <class F>
Eigen::VectorXd slope(const F& f) {
  constexpr double h = 1e-3;
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

/// The largest error of all six matrices, beside the largest entry of each kind.
double largest_error(const Model& model, const State& state, const Eigen::VectorXd& tau, const Constraints& constraints,
                     const ExternalForces* external, bool with_forces = true) {
  const ConstrainedDerivatives d = constrained_aba_derivatives(model, state, tau, constraints, external);
  REQUIRE(d.forward.status == Status::kOk);
  const int nv = model.nv(), rows = constraints.rows();
  ConstrainedWorkspace work(model, constraints);
  ConstrainedMotion motion(model, constraints);
  const auto at = [&](const State& s, const Eigen::VectorXd& t) {
    constrained_aba(model, s, t, constraints, work, motion, external);
    Eigen::VectorXd both(nv + rows);
    both << motion.vdot, motion.lambda;
    return both;
  };
  double error = 0;
  const auto compare = [&](const Eigen::MatrixXd& vdot, const Eigen::MatrixXd& lambda, const auto& moved) {
    Eigen::MatrixXd expected(nv + rows, nv);
    for (int j = 0; j < nv; ++j)
      expected.col(j) = slope([&](double h) { return moved(h, Eigen::VectorXd::Unit(nv, j)); });
    error = std::max(
        error, (vdot - expected.topRows(nv)).cwiseAbs().maxCoeff() / (1 + expected.topRows(nv).cwiseAbs().maxCoeff()));
    if (rows == 0 || !with_forces) return;
    error = std::max(error, (lambda - expected.bottomRows(rows)).cwiseAbs().maxCoeff() /
                                (1 + expected.bottomRows(rows).cwiseAbs().maxCoeff()));
  };
  compare(d.vdot_dq, d.lambda_dq, [&](double h, const Eigen::VectorXd& e) {
    State s = state;
    s.q = integrate(model, state.q, h * e);
    return at(s, tau);
  });
  compare(d.vdot_dv, d.lambda_dv, [&](double h, const Eigen::VectorXd& e) {
    State s = state;
    s.v += h * e;
    return at(s, tau);
  });
  compare(d.vdot_dtau, d.lambda_dtau, [&](double h, const Eigen::VectorXd& e) { return at(state, tau + h * e); });
  return error;
}

}  // namespace

TEST_CASE("derivatives of constrained dynamics: random trees with gears, frames to links and to the world") {
  int compared = 0;
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::mt19937_64 rng(seed);
    CAPTURE(seed);
    for (const auto& [tree, model] : invariant_models(10)) {
      CAPTURE(tree);
      if (model.nv() < 4) continue;
      State state = regular_state(model, rng);
      state.v *= 0.3;
      const Eigen::VectorXd tau = random_vector(model.nv(), rng);
      const Constraints constraints = random_constraints(model, 1 + int(seed) % 2, rng);
      ExternalForces external(model);
      external[LinkId(model.link_count() - 1)] = {{0.3, -0.1, 0.2}, {1, -2, 0.5}};
      const ConstrainedMotion motion = constrained_aba(model, state, tau, constraints, &external);
      if (motion.status != Status::kOk || motion.rank < constraints.rows()) continue;
      // Where rows nearly depend on each other everything changes too fast for differences.
      const ConstraintRows rows = constraint_rows(model, state, constraints);
      const Eigen::MatrixXd M = crba(model, state.q);
      const Eigen::VectorXd values =
          (rows.J * M.llt().solve(rows.J.transpose())).selfadjointView<Eigen::Lower>().eigenvalues();
      const Eigen::VectorXd inertia = M.selfadjointView<Eigen::Lower>().eigenvalues();
      if (values.minCoeff() < 1e-2 * values.maxCoeff() || inertia.minCoeff() < 1e-3 * inertia.maxCoeff()) continue;
      const double error = largest_error(model, state, tau, constraints, &external);
      worst = std::max(worst, error);
      CHECK(error < 1e-8);  // of the differences: 3e-10 seen
      ++compared;
    }
  }
  MESSAGE(compared << " compared, largest error " << worst);
  CHECK(compared > 15);
}

TEST_CASE("derivatives of constrained dynamics: a figure on two soles, a chain from hand to foot, a gear by a row") {
  const Model model = human28();
  std::mt19937_64 rng(8);
  State state = regular_state(model, rng);
  state.v *= 0.3;
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  Constraints constraints = two_soles(model);
  CHECK(largest_error(model, state, tau, constraints, nullptr) < 1e-7);
  constraints.frames.push_back(constraint_on(model, "gripR", {0.1, 0.02, -0.03}, 0b101101));
  constraints.frames.back().a = model.link_id("FootL");
  constraints.frames.back().axes = random_axes(rng);
  const CoordinateRange neck = model.coordinates(model.joint_id("neck_y")),
                        elbow = model.coordinates(model.joint_id("elbowL_y"));
  constraints.coordinates.push_back({.terms = {{neck.v, 1}, {elbow.v, -2}}});
  CHECK(constrained_aba(model, state, tau, constraints).rank == constraints.rows());
  CHECK(largest_error(model, state, tau, constraints, nullptr) < 1e-6);
}

TEST_CASE("derivatives of constrained dynamics: rows that always depend on each other, forces of least norm") {
  const Model model = human28();
  std::mt19937_64 rng(9);
  State state = regular_state(model, rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  // A foot held twice, by frames in different axes: the same six rows in every posture, and which forces do nothing turns with q.
  Constraints twice;
  twice.frames.push_back({.b = model.link_id("FootL"), .point = {0.05, 0, -0.08}});
  twice.frames.push_back({.b = model.link_id("FootL"), .point = {-0.05, 0.03, -0.08}, .axes = random_axes(rng)});
  state.v.setZero();
  const ConstrainedMotion motion = constrained_aba(model, state, tau, twice);
  CHECK(motion.rank == 6);
  CHECK(motion.inconsistency < 1e-9);
  CHECK(largest_error(model, state, tau, twice, nullptr) < 1e-6);
}

TEST_CASE("derivatives of constrained dynamics without constraints are those of aba_derivatives") {
  const Model model = human28();
  std::mt19937_64 rng(10);
  const State state = regular_state(model, rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  const ConstrainedDerivatives d = constrained_aba_derivatives(model, state, tau, {});
  AbaDerivatives expected(model);
  Workspace work(model);
  aba_derivatives(model, state, tau, work, expected);
  const double scale = 1e-9 * (1 + expected.dq.cwiseAbs().maxCoeff());  // v̇ by two ways: rounding of M⁻¹
  CHECK((d.vdot_dq - expected.dq).cwiseAbs().maxCoeff() < scale);
  CHECK((d.vdot_dv - expected.dv).cwiseAbs().maxCoeff() < scale);
  CHECK((d.vdot_dtau - expected.dtau).cwiseAbs().maxCoeff() < scale);
}
