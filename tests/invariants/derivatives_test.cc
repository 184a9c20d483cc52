#include "kansetsu/dynamics/derivatives.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "dual.h"
#include "dynamics/aba_kernel.h"
#include "dynamics/rnea_kernel.h"
#include "kinematics/entry.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

double relative(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}

/// Runs kernels on dual numbers: the ε part of the result is the derivative along (dq, dv), dq in the tangent space.
class DualRun {
 public:
  explicit DualRun(const Model& model)
      : model_(model), tree_(model.tree().view()), memory_(scratch_size(model.tree()) + 64) {}

  Eigen::VectorXd rnea(const State& s, const Eigen::VectorXd& a, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv) {
    Inputs in(*this, s, dq, dv);
    std::vector<Dual> acceleration(a.begin(), a.end()), out(size_t(tree_.nv));
    Dual* a_tree = in.take<Dual>(tree_.nu);
    kernel::expand(tree_, acceleration.data(), a_tree);
    Motion<Dual>* A = in.take<Motion<Dual>>(tree_.body_count);
    Force<Dual>* F = in.take<Force<Dual>>(tree_.body_count);
    Dual* tau = in.take<Dual>(tree_.nu);
    kernel::rnea<Dual>(tree_, in.posture, in.u, a_tree, nullptr, in.V, A, F, tau);
    kernel::reduce(tree_, tau, out.data());
    return derivative(out);
  }

  Eigen::VectorXd aba(const State& s, const Eigen::VectorXd& tau, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv,
                      const Eigen::VectorXd& dtau) {
    Inputs in(*this, s, dq, dv);
    std::vector<Dual> torque(size_t(tree_.nv)), out(size_t(tree_.nv));
    for (size_t k = 0; k < torque.size(); ++k) torque[k] = {tau[long(k)], dtau[long(k)]};
    Motion<Dual>* A = in.take<Motion<Dual>>(tree_.body_count);
    kernel::ArticulatedTree<Dual> art = kernel::carve_articulated(tree_, in.carver);
    kernel::aba<Dual>(tree_, in.posture, in.u, torque.data(), nullptr, in.V, art, A, out.data());
    return derivative(out);
  }

 private:
  struct Inputs {
    Carver<Dual> carver;
    kernel::Posture<Dual> posture;
    Dual* u;
    Motion<Dual>* V;

    Inputs(DualRun& run, const State& s, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv)
        : carver(run.memory_.data()), posture(kernel::carve_posture(run.tree_, carver)) {
      const Eigen::VectorXd rate = position_rate(run.model_, s.q, dq);
      std::vector<Dual> q(size_t(s.q.size())), v(size_t(s.v.size()));
      for (size_t i = 0; i < q.size(); ++i) q[i] = {s.q[long(i)], rate[long(i)]};
      for (size_t i = 0; i < v.size(); ++i) v[i] = {s.v[long(i)], dv[long(i)]};
      kernel::load_posture(run.tree_, q.data(), posture);
      u = take<Dual>(run.tree_.nu);
      kernel::expand(run.tree_, v.data(), u);
      V = take<Motion<Dual>>(run.tree_.body_count);
    }
    template <class Item>
    Item* take(int n) {
      return carver.template take<Item>(n);
    }
  };

  static Eigen::VectorXd derivative(const std::vector<Dual>& x) {
    Eigen::VectorXd out(long(x.size()));
    for (size_t i = 0; i < x.size(); ++i) out[long(i)] = x[i].d;
    return out;
  }

  const Model& model_;
  TreeView tree_;
  std::vector<Dual> memory_;
};

ExternalForces random_forces(const Model& model, std::mt19937_64& rng) {
  ExternalForces out(model);
  for (int l = 0; l < model.link_count(); ++l) {
    const Eigen::VectorXd x = random_vector(6, rng);
    out[LinkId(l)] = {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
  }
  return out;
}

}  // namespace

TEST_CASE("derivatives of inverse dynamics equal dual numbers") {
  for (const auto& [seed, model] : invariant_models(20)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const Eigen::VectorXd vdot = random_vector(model.nv(), rng);
    Workspace work(model);
    RneaDerivatives result(model);
    rnea_derivatives(model, state, vdot, work, result);
    DualRun dual(model);
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(model.nv());
    Eigen::MatrixXd dq(result.dq), dv(result.dv);
    for (int k = 0; k < model.nv(); ++k) {
      dq.col(k) = dual.rnea(state, vdot, Eigen::VectorXd::Unit(model.nv(), k), none);
      dv.col(k) = dual.rnea(state, vdot, none, Eigen::VectorXd::Unit(model.nv(), k));
    }
    CHECK(relative(result.dq, dq) < 1e-11);  // sums of some hundred products
    CHECK(relative(result.dv, dv) < 1e-11);
    CHECK(relative(result.da, crba(model, state.q)) < 1e-12);  // two routes to the same sums
  }
}

TEST_CASE("derivatives of forward dynamics equal dual numbers") {
  for (const auto& [seed, model] : invariant_models(20)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    Workspace work(model);
    AbaDerivatives result(model);
    aba_derivatives(model, state, tau, work, result);
    DualRun dual(model);
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(model.nv());
    Eigen::MatrixXd dq(result.dq), dv(result.dv), dtau(result.dtau);
    for (int k = 0; k < model.nv(); ++k) {
      const Eigen::VectorXd unit = Eigen::VectorXd::Unit(model.nv(), k);
      dq.col(k) = dual.aba(state, tau, unit, none, none);
      dv.col(k) = dual.aba(state, tau, none, unit, none);
      dtau.col(k) = dual.aba(state, tau, none, none, unit);
    }
    // condition of M times rounding, and two independent routes
    const Eigen::VectorXd e = crba(model, state.q).selfadjointView<Eigen::Lower>().eigenvalues();
    const double tolerance = std::max(1e-9, 1e-13 * e.maxCoeff() / e.minCoeff());
    CHECK(relative(result.dq, dq) < tolerance);
    CHECK(relative(result.dv, dv) < tolerance);
    CHECK(relative(result.dtau, dtau) < tolerance);
  }
}

TEST_CASE("derivatives with external forces equal finite differences") {
  for (const auto& [seed, model] : invariant_models(10)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = regular_state(model, rng);
    const ExternalForces forces = random_forces(model, rng);
    const Eigen::VectorXd vdot = random_vector(model.nv(), rng), tau = random_vector(model.nv(), rng);
    Workspace work(model);
    RneaDerivatives inverse(model);
    AbaDerivatives forward(model);
    rnea_derivatives(model, state, vdot, work, inverse, &forces);
    aba_derivatives(model, state, tau, work, forward, &forces);
    const double h = 1e-6;
    Eigen::MatrixXd inverse_dq(inverse.dq), forward_dq(forward.dq), forward_dv(forward.dv);
    for (int k = 0; k < model.nv(); ++k) {
      const auto at = [&](double t) {
        State moved{state};
        moved.q = integrate(model, state.q, Eigen::VectorXd(t * Eigen::VectorXd::Unit(model.nv(), k)));
        return moved;
      };
      const auto faster = [&](double t) {
        State moved{state};
        moved.v[k] += t;
        return moved;
      };
      inverse_dq.col(k) = (rnea(model, at(h), vdot, &forces) - rnea(model, at(-h), vdot, &forces)) / (2 * h);
      forward_dq.col(k) = (aba(model, at(h), tau, &forces).vdot - aba(model, at(-h), tau, &forces).vdot) / (2 * h);
      forward_dv.col(k) =
          (aba(model, faster(h), tau, &forces).vdot - aba(model, faster(-h), tau, &forces).vdot) / (2 * h);
    }
    CHECK(relative(inverse.dq, inverse_dq) < 1e-5);  // central differences: h² times third derivative, eps/h
    CHECK(relative(forward.dq, forward_dq) < 1e-5);
    CHECK(relative(forward.dv, forward_dv) < 1e-5);
  }
}
