#include "constraint/mechanics.h"

#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "kansetsu/kinematics/jacobian.h"
#include "random_models.h"

using namespace kansetsu;

namespace {

/// J of a link at O in world axes, rows [ω; v].
Eigen::MatrixXd jacobian_at(const Model& model, const Eigen::VectorXd& q, LinkId link, const Vec3<>& O) {
  Eigen::MatrixXd J = jacobian(model, q, link, {}, JacobianAxes::kWorld);
  for (long c = 0; c < J.cols(); ++c) {
    const Vec3<> v = cross(Vec3<>{J(0, c), J(1, c), J(2, c)}, O);
    J(3, c) += v.x, J(4, c) += v.y, J(5, c) += v.z;
  }
  return J;
}

}  // namespace

TEST_CASE("mechanics: free acceleration is that of aba, rows and their Delassus matrix are J and J·M⁻¹·Jᵀ") {
  std::mt19937_64 rng(7);
  for (const auto& [seed, model] : test::invariant_models(40)) {
    CAPTURE(seed);
    const State state = test::regular_state(model, rng);
    const Eigen::VectorXd tau = test::random_vector(model.nv(), rng);
    const AbaResult expected = aba(model, state, tau);
    if (expected.status != Status::kOk) continue;
    Mechanics m(model);
    m.set_pose(state.q.data());
    m.set_motion(state.v.data());
    CHECK(m.factorise(nullptr, tau.data()) == 0);
    Eigen::VectorXd vdot(model.nv());
    m.free_acceleration(vdot.data());
    // Conditioning of M in world axes: the digits that crba and a Cholesky factor keep.
    const Eigen::MatrixXd M = crba(model, state.q);
    const double scale = 1 + expected.vdot.cwiseAbs().maxCoeff();
    const Eigen::VectorXd residual = M * (vdot - expected.vdot);
    CHECK(residual.cwiseAbs().maxCoeff() < 1e-9 * (scale * M.cwiseAbs().maxCoeff()));

    const int links = model.link_count();
    std::uniform_int_distribution<int> pick(0, links - 1);
    const LinkId a(pick(rng)), b(pick(rng));
    const int rows = 9;
    m.begin_rows(rows);
    const Eigen::VectorXd E = test::random_vector(3, rng);
    const Vec3<> p{E[0], E[1], E[2]};
    const auto add_frame = [&](LinkId link, double sign) {
      const Vec3<> axes[3] = {{sign, 0, 0}, {0, sign, 0}, {0, 0, sign}};
      Force<> wrenches[6];
      for (int k = 0; k < 3; ++k) wrenches[k] = {cross(p, axes[k]), axes[k]}, wrenches[3 + k] = {axes[k], {}};
      if (m.body_of(link) >= 0) m.add_wrenches(0, m.body_of(link), wrenches);
    };
    add_frame(b, 1);
    add_frame(a, -1);
    const Force<> F{{0.3, -0.2, 0.5}, {1, 2, -1}};
    if (m.body_of(a) >= 0) m.add_wrenches(6, m.body_of(a), {&F, 1});
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(rows, model.nv());
    const Eigen::MatrixXd Ja = jacobian_at(model, state.q, a, m.origin()),
                          Jb = jacobian_at(model, state.q, b, m.origin());
    Eigen::Matrix3d skew;
    skew << 0, -p.z, p.y, p.z, 0, -p.x, -p.y, p.x, 0;
    const auto at_p = [&](const Eigen::MatrixXd& X, LinkId link) -> Eigen::MatrixXd {
      Eigen::MatrixXd out(6, X.cols());
      out.topRows(3) = X.bottomRows(3) - skew * X.topRows(3);
      out.bottomRows(3) = X.topRows(3);
      if (m.body_of(link) < 0) out.setZero();
      return out;
    };
    J.topRows(6) = at_p(Jb, b) - at_p(Ja, a);
    Eigen::VectorXd f(6);
    f << F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z;
    if (m.body_of(a) >= 0) J.row(6) = f.transpose() * Ja;
    if (model.nv() > 0) {
      m.add_torque(7, model.nv() - 1, 2);
      J(7, model.nv() - 1) = 2;
    }
    m.finish_rows();
    Eigen::MatrixXd G = Eigen::MatrixXd::Zero(m.stride(), m.stride());
    Eigen::VectorXd driven_rows = Eigen::VectorXd::Zero(m.stride());
    m.add_delassus(G.data(), driven_rows.data());
    G.triangularView<Eigen::StrictlyUpper>() = G.transpose();  // row-major: the upper triangle was written
    const Eigen::LDLT<Eigen::MatrixXd> factor(M);
    const Eigen::MatrixXd exact = J * factor.solve(J.transpose());
    const double size = 1 + exact.cwiseAbs().maxCoeff();
    CHECK((G.topLeftCorner(rows, rows) - exact).cwiseAbs().maxCoeff() < 1e-7 * size);
    Eigen::VectorXd lambda = Eigen::VectorXd::Zero(m.stride());
    lambda.head(rows) = test::random_vector(rows, rng);
    Eigen::VectorXd response = Eigen::VectorXd::Zero(model.nv());
    m.respond(lambda.data(), 0, response.data());
    Eigen::VectorXd driven = Eigen::VectorXd::Zero(model.nv());  // with the column of driving torques
    m.respond(lambda.data(), 1, driven.data());
    CHECK((M * (driven - response - vdot)).cwiseAbs().maxCoeff() < 1e-9 * (scale * M.cwiseAbs().maxCoeff()));
    CHECK((driven_rows.head(rows) - J * vdot).cwiseAbs().maxCoeff() < 1e-7 * size * scale);
    CHECK((M * response - J.transpose() * lambda.head(rows)).cwiseAbs().maxCoeff() <
          1e-9 * (1 + (J.transpose() * lambda.head(rows)).cwiseAbs().maxCoeff()) * (1 + M.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("mechanics: velocities and drift of bodies are those of link_motions") {
  std::mt19937_64 rng(11);
  for (const auto& [seed, model] : test::invariant_models(20)) {
    CAPTURE(seed);
    const State state = test::regular_state(model, rng);
    const LinkMotions motions = link_motions(model, state, Eigen::VectorXd::Zero(model.nv()));
    Mechanics m(model);
    m.set_pose(state.q.data());
    m.set_motion(state.v.data());
    for (int i = 0; i < model.link_count(); ++i) {
      const LinkId link(i);
      const Transform<> X = m.link_pose(link);
      CHECK(norm(X.p - motions.poses[link].p) < 1e-12);
      const Motion<> V = m.velocity(m.body_of(link)), A = m.drift(m.body_of(link));
      const Vec3<> r = X.p - m.origin();
      const Vec3<> v = V.v + cross(V.w, r);
      const Vec3<> a = A.v + cross(A.w, r) + cross(V.w, v);
      const double scale = 1 + state.v.squaredNorm();
      CHECK(norm(v - motions.V[size_t(i)].v) < 1e-12 * scale);
      CHECK(norm(A.w - motions.A[size_t(i)].w) < 1e-11 * scale);
      CHECK(norm(a - motions.A[size_t(i)].v) < 1e-11 * scale);
    }
  }
}
