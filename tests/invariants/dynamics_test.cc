#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "kansetsu/dynamics/derivatives.h"
#include "kansetsu/dynamics/response.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/jacobian.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

double relative(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  if (a.size() == 0) return 0;
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}

ExternalForces random_forces(const Model& model, std::mt19937_64& rng) {
  ExternalForces out(model);
  for (int l = 0; l < model.link_count(); ++l) {
    const Eigen::VectorXd x = random_vector(6, rng);
    out[LinkId(l)] = {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
  }
  return out;
}

/// Rounding of a solve with M: the condition number times a few ulp.
double solve_tolerance(const Eigen::MatrixXd& M) {
  const Eigen::VectorXd e = M.selfadjointView<Eigen::Lower>().eigenvalues();
  return std::max(1e-10, 1e-14 * e.maxCoeff() / e.minCoeff());
}

}  // namespace

TEST_CASE("inverse dynamics undoes forward dynamics") {
  for (const auto& [seed, model] : invariant_models(200)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const ExternalForces forces = random_forces(model, rng);
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    const AbaResult forward = aba(model, state, tau, &forces);
    CHECK(forward.status == Status::kOk);
    CHECK(relative(rnea(model, state, forward.vdot, &forces), tau) < solve_tolerance(crba(model, state.q)));
  }
}

TEST_CASE("no coordinate of a long chain counts as massless") {
  for (const int links : {45, 64, 200}) {  // a bound that doubled per link called the first joints singular from 44 on
    CAPTURE(links);
    const Model model = chain(links);
    std::mt19937_64 rng(1);
    State state(model);
    state.q = random_configuration(model, rng);
    state.v = random_vector(model.nv(), rng);
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    const AbaResult forward = aba(model, state, tau);
    CHECK(forward.status == Status::kOk);
    CHECK(relative(rnea(model, state, forward.vdot), tau) < solve_tolerance(crba(model, state.q)));
  }
}

TEST_CASE("long chains: no pivot is taken for zero because the whole is large") {
  for (int links : {64, 128, 1000}) {
    for (Base base : {Base::kFixed, Base::kFree}) {
      CAPTURE(links);
      const Model model = chain(links, base);
      std::mt19937_64 rng(11);
      const State state = random_state(model, rng);
      const Eigen::VectorXd tau = random_vector(model.nv(), rng);
      const AbaResult forward = aba(model, state, tau);
      CHECK(forward.status == Status::kOk);
      const double scale = rnea(model, state, Eigen::VectorXd::Zero(model.nv())).lpNorm<Eigen::Infinity>();
      CHECK((rnea(model, state, forward.vdot) - tau).lpNorm<Eigen::Infinity>() / scale <
            1e-9);  // bias cancels v̇'s share
    }
  }
}

TEST_CASE("the mass matrix is symmetric, positive definite, and its columns are inverse dynamics") {
  for (const auto& [seed, model] : invariant_models()) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    State state = regular_state(model, rng);
    const Eigen::MatrixXd M = crba(model, state.q);
    CHECK(relative(M, M.transpose()) == 0);
    CHECK(M.llt().info() == Eigen::Success);
    state.v.setZero();
    Workspace work(model);
    Eigen::VectorXd rest(model.nv()), tau(model.nv());
    gravity_torque(model, state.q, work, rest);
    for (int k = 0; k < model.nv(); ++k) {
      rnea(model, state, Eigen::VectorXd::Unit(model.nv(), k), work, tau);
      CHECK(relative(tau - rest, M.col(k)) < 1e-11);  // gravity up to 1e3 times the entry cancels
    }
    SparseMassMatrix sparse(model);
    crba(model, state.q, work, sparse);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(model.nv(), model.nv());
    for (int r = 0; r < model.nv(); ++r) {
      for (int n = sparse.row_start[size_t(r)]; n < sparse.row_start[size_t(r) + 1]; ++n) {
        dense(r, sparse.column[size_t(n)]) = dense(sparse.column[size_t(n)], r) = sparse.value[size_t(n)];
      }
    }
    CHECK(relative(dense, M) < 1e-13);  // the same sums in another order
  }
}

TEST_CASE("the inverse of the mass matrix, without it") {
  for (const auto& [seed, model] : invariant_models()) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    Workspace work(model);
    const Eigen::MatrixXd M = crba(model, state.q);
    const double tolerance = solve_tolerance(M);
    Eigen::MatrixXd inverse(model.nv(), model.nv());
    mass_matrix_inverse(model, state.q, work, inverse);
    CHECK(relative(inverse * M, Eigen::MatrixXd::Identity(model.nv(), model.nv())) < tolerance);
    const Eigen::VectorXd x = random_vector(model.nv(), rng);
    AbaResult solved(model);
    solve_mass_matrix(model, state.q, x, work, solved);
    CHECK(relative(M * solved.vdot, x) < tolerance);
  }
}

TEST_CASE("power of torques and forces equals the rate of energy") {
  for (const auto& [seed, model] : invariant_models()) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const ExternalForces forces = random_forces(model, rng);
    const Eigen::VectorXd vdot = random_vector(model.nv(), rng);
    const Eigen::VectorXd tau = rnea(model, state, vdot, &forces);
    const LinkMotions motions = link_motions(model, state, vdot);
    double power = tau.dot(state.v);
    for (int l = 0; l < model.link_count(); ++l) power += dot(motions.V[size_t(l)], forces[LinkId(l)]);
    const auto at = [&](double t) {
      State moved = state;
      moved.q = integrate(model, state.q, Eigen::VectorXd(t * state.v + 0.5 * t * t * vdot));
      moved.v = state.v + t * vdot;
      const Energy e = energy(model, moved);
      return e.kinetic + e.potential;
    };
    const double h = 1e-5;  // truncation h² and rounding eps/h balance near 1e-10
    const double rate = (at(h) - at(-h)) / (2 * h);
    const double scale = std::max({1.0, std::abs(rate), energy(model, state).kinetic});
    CHECK(std::abs(rate - power) / scale < 1e-6);  // of differences: 1e-10 times second derivatives of fast trees
  }
}

TEST_CASE("momentum of a free mechanism changes by gravity alone, whatever its joints do") {
  for (const auto& [seed, model] : invariant_models()) {
    if (model.base() != Base::kFree) continue;
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    Eigen::VectorXd tau = random_vector(model.nv(), rng);
    tau.head<6>().setZero();
    const AbaResult forward = aba(model, state, tau);
    const Centroidal c = centroidal(model, state);
    const Eigen::VectorXd h_dot = c.A * forward.vdot + c.A_dot * state.v;
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(6);
    expected.tail<3>() << c.mass * model.gravity().x, c.mass * model.gravity().y, c.mass * model.gravity().z;
    CHECK(relative(h_dot, expected) < solve_tolerance(crba(model, state.q)));
  }
}

TEST_CASE("centroidal matrix, its rate and the centre of mass") {
  for (const auto& [seed, model] : invariant_models(20)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const Centroidal c = centroidal(model, state);
    const double h = 1e-6;
    const auto at = [&](double t) {
      State moved{state};
      moved.q = integrate(model, state.q, Eigen::VectorXd(t * state.v));
      return centroidal(model, moved);
    };
    const Centroidal plus = at(h), minus = at(-h);
    CHECK(relative((plus.A - minus.A) / (2 * h), c.A_dot) < 1e-7);  // central difference: h² + eps/h
    const Vec3<> rate = (0.5 / h) * (plus.com - minus.com);
    CHECK(norm(rate - c.com_velocity) < 1e-7);  // central difference: h² + eps/h
    const Eigen::VectorXd momentum = c.A * state.v;
    CHECK(norm(Vec3<>{momentum[3], momentum[4], momentum[5]} - c.mass * c.com_velocity) <
          1e-10 * std::max(1.0, c.mass));
  }
}

TEST_CASE("responses equal J M⁻¹ Jᵀ") {
  for (const auto& [seed, model] : invariant_models(15)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const Eigen::MatrixXd M = crba(model, state.q);
    const double tolerance = solve_tolerance(M);
    Response response(model);
    CHECK(response.update(state.q) == Status::kOk);
    std::uniform_int_distribution<int> pick(0, model.link_count() - 1);
    for (int n = 0; n < 12; ++n) {
      const LinkId i(pick(rng)), j(pick(rng));
      const Eigen::MatrixXd Ji = jacobian(model, state.q, i), Jj = jacobian(model, state.q, j);
      const Eigen::MatrixXd expected = Jj * M.ldlt().solve(Ji.transpose());
      CHECK(relative(response.link_response_world(j, i), expected) < tolerance);
      const Eigen::MatrixXd own = response.link_response(j, i);
      CHECK(relative(own, response.link_response(i, j).transpose()) < tolerance);
    }
    std::vector<Motion<>> A(size_t(model.link_count()));
    Eigen::VectorXd vdot(model.nv());
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    response.apply_torque(tau, vdot, A);
    CHECK(relative(M * vdot, tau) < tolerance);
  }
}

TEST_CASE("gears transmit torque without power") {
  for (const auto& [seed, model] : invariant_models()) {
    if (model.description().couplings.empty()) continue;
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const Eigen::VectorXd vdot = random_vector(model.nv(), rng);
    Workspace work(model);
    Reactions r(model);
    reactions(model, state, vdot, work, r);
    const Eigen::VectorXd tau = rnea(model, state, vdot);
    // Σ ratio·(torque at each joint coordinate) is what the independent coordinate must be driven with.
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(model.nv());
    for (int j = 0; j < model.joint_count(); ++j) {
      for (int k = 0; k < info(model.joint(JointId(j)).type).nv; ++k) {
        for (const auto& [column, ratio] : model.row(JointId(j), k).terms) {
          sum[column] += ratio * r.torque[r.torque_start[size_t(j)] + k];
        }
      }
    }
    const int base = model.base_coordinates().nv;
    CHECK(relative(sum.tail(model.nv() - base), tau.tail(model.nv() - base)) <
          1e-12);  // rounding of sums over 60 links
  }
}

TEST_CASE("Coriolis matrix: C v is the bias, and dM/dt − 2C is skew") {
  for (const auto& [seed, model] : invariant_models(20)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    Workspace work(model);
    Eigen::MatrixXd C(model.nv(), model.nv());
    Eigen::VectorXd c(model.nv()), g(model.nv());
    coriolis_matrix(model, state, work, C);
    bias(model, state, work, c);
    gravity_torque(model, state.q, work, g);
    CHECK(relative(C * state.v, c - g) < 1e-11);  // g cancels against c
    const double h = 1e-6;
    const auto M = [&](double t) { return crba(model, integrate(model, state.q, Eigen::VectorXd(t * state.v))); };
    const Eigen::MatrixXd M_dot = (M(h) - M(-h)) / (2 * h), skew = M_dot - 2 * C;
    CHECK(relative(skew, -skew.transpose()) < 1e-6);  // central difference
  }
}

TEST_CASE("the regressor is linear in the inertial parameters") {
  for (const auto& [seed, model] : invariant_models(15)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const Eigen::VectorXd vdot = random_vector(model.nv(), rng);
    Workspace work(model);
    Eigen::MatrixXd Y(model.nv(), 10 * model.link_count());
    regressor(model, state, vdot, work, Y);
    Eigen::VectorXd tau = rnea(model, state, vdot);
    for (int j = 0; j < model.joint_count(); ++j) {  // rotors are not link parameters
      for (int k = 0; k < info(model.joint(JointId(j)).type).nv; ++k) {
        const Model::Row& row = model.row(JointId(j), k);
        double a = 0;
        for (const auto& [column, ratio] : row.terms) a += ratio * vdot[column];
        for (const auto& [column, ratio] : row.terms) {
          tau[column] -= ratio * model.dof(JointId(j), k).rotor_inertia * a;
        }
      }
    }
    CHECK(relative(Y * inertial_parameters(model), tau) < 1e-12);  // rounding of sums over 60 links
  }
}
