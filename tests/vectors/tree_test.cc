#include <doctest/doctest.h>

#include "dyn_case.h"
#include "kansetsu/dynamics/derivatives.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {
constexpr double kTolerance = 1e-9;  // the vectors themselves agree to 6e-11 (tree_broom40) or 3e-13
}

TEST_CASE("forward dynamics of the reference trees") {
  for (const auto& path : vector_files({"tree_", "pair_", "gear_", "response_", "chain_"})) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    const AbaResult result = aba(c.model, c.state, c.tau, &c.external);
    REQUIRE(result.status == Status::kOk);
    const LinkMotions motions = link_motions(c.model, c.state, result.vdot);
    for (int i = 0; i < c.body_count(); ++i) {
      CAPTURE(i);
      const Json& expected = c.expected(i);
      const size_t l = size_t(c.link(i).value());
      const Transform<>& X = motions.poses.X_WL[l];
      const auto local = [&](const Vec3<>& a) { return transpose_times(X.R, a); };
      const Mat3<> R = mat(expected.at("R"));
      CHECK(deviation(X.R.x, R.x) < kTolerance);
      CHECK(deviation(X.R.y, R.y) < kTolerance);
      CHECK(deviation(X.R.z, R.z) < kTolerance);
      CHECK(deviation(X.p, vec(expected.at("r"))) < kTolerance);
      CHECK(deviation(local(motions.V[l].w), vec(expected.at("omega"))) < kTolerance);
      CHECK(deviation(local(motions.V[l].v), vec(expected.at("v"))) < kTolerance);
      CHECK(deviation(local(motions.A[l].w), vec(expected.at("alpha"))) < kTolerance);
      CHECK(deviation(local(motions.A[l].v), vec(expected.at("a"))) < kTolerance);
      if (i > 0) CHECK(deviation(c.joint_rate(i, result.vdot), vector(expected.at("qdd"))) < kTolerance);
    }
  }
}

TEST_CASE("inverse dynamics returns the torques of the reference trees") {
  for (const auto& path : vector_files({"tree_", "pair_", "gear_", "response_", "chain_"})) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    const AbaResult forward = aba(c.model, c.state, c.tau, &c.external);
    const Eigen::VectorXd tau = rnea(c.model, c.state, forward.vdot, &c.external);
    CHECK(deviation(tau, c.tau) < kTolerance);
  }
}

TEST_CASE("joint wrenches and gear torques of the reference trees") {
  for (const auto& path : vector_files({"tree_", "pair_", "gear_", "response_", "chain_"})) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    Workspace work(c.model);
    Reactions reaction(c.model);
    reactions(c.model, c.state, aba(c.model, c.state, c.tau, &c.external).vdot, work, reaction, &c.external);
    for (int i = 1; i < c.body_count(); ++i) {
      CAPTURE(i);
      const Force<>& F = reaction.wrench[size_t(c.link(i).value())];
      const Json& expected = c.expected(i).at("joint_wrench");
      CHECK(deviation(F.t, vec(expected.at("n"))) < kTolerance);
      CHECK(deviation(F.f, vec(expected.at("f"))) < kTolerance);
    }
    if (!c.json.at("expect").contains("gear_torque")) continue;
    for (const Json& gear : c.json.at("expect").at("gear_torque")) {
      for (const auto& [body, lambda] : gear.items()) {
        const int i = std::stoi(body);
        const Eigen::VectorXd motor = vector(c.body(i).at("tau"));
        const int start = reaction.torque_start[size_t(c.joint(i).value())];
        CHECK(deviation(Eigen::VectorXd(reaction.torque.segment(start, motor.size()) - motor),
                        lambda.is_array() ? vector(lambda) : Eigen::VectorXd::Constant(1, lambda.get<double>())) <
              kTolerance);
      }
    }
  }
}

TEST_CASE("mass matrix and bias of the reference trees") {
  int compared = 0;
  for (const auto& path : vector_files({"tree_", "pair_", "response_", "chain_"})) {
    const DynCase c(path);
    if (!c.json.at("expect").contains("mass_matrix")) continue;
    ++compared;
    CAPTURE(path.filename().string());
    const Eigen::MatrixXd M = matrix(c.json.at("expect").at("mass_matrix"));
    const std::vector<int> order = c.columns();
    CHECK(deviation(Eigen::MatrixXd(crba(c.model, c.state.q)(order, order)), M) < kTolerance);

    Eigen::VectorXd drift = Eigen::VectorXd::Zero(c.model.nv());  // classical − spatial acceleration of the root: ω × v
    if (c.model.base() == Base::kFree) {
      drift.segment<3>(3) = c.state.v.head<3>().cross(c.state.v.segment<3>(3));
    }
    const Eigen::VectorXd expected = vector(c.json.at("expect").at("bias_force")) + M * drift;
    const Eigen::VectorXd bias = rnea(c.model, c.state, Eigen::VectorXd::Zero(c.model.nv()), &c.external);
    CHECK(deviation(Eigen::VectorXd(bias(order)), expected) < kTolerance);
  }
  CHECK(compared >= 8);
}
