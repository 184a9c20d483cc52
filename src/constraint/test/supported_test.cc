#include "kansetsu/constraint/supported.h"

#include <doctest/doctest.h>

#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;

namespace {

std::vector<Support> soles(const Model& model) {
  std::vector<Support> out;
  for (const char* foot : {"FootL", "FootR"}) {
    Support s;
    s.link = model.link_id(foot);
    s.corners = {{0.14, 0.06, -0.08}, {-0.05, 0.06, -0.08}, {-0.05, -0.06, -0.08}, {0.14, -0.06, -0.08}};
    out.push_back(s);
  }
  return out;
}

}  // namespace

TEST_CASE("a standing human: the soles carry its weight under its centre of mass, torques return the motion") {
  const Model model = human28();
  State state(model);
  state.q[2] = 0.88;
  Eigen::VectorXd vdot = Eigen::VectorXd::Zero(model.nv());
  vdot[4] = 0.3, vdot[5] = 0.2, vdot[10] = 0.5;  // swaying and rising a little
  const SupportedMotion s = supported_inverse_dynamics(model, state, vdot, soles(model));
  CHECK(s.feasible);
  double sum = 0;
  for (size_t i = 0; i < 2; ++i) {
    sum += s.wrenches[i].f.z;
    CHECK(std::hypot(s.wrenches[i].f.x, s.wrenches[i].f.y) <= 0.8 * s.wrenches[i].f.z);
    CHECK(std::abs(s.pressure[i].z) < 1e-12);
  }
  CHECK(sum > 0.99 * model.mass() * 9.81);

  ExternalForces external(model);
  external[soles(model)[0].link] = s.wrenches[0];
  external[soles(model)[1].link] = s.wrenches[1];
  const AbaResult forward = aba(model, state, s.tau, &external);
  // The sum of squares that picks among equal forces is weighted so lightly that it costs less than this.
  CHECK((forward.vdot - vdot).cwiseAbs().maxCoeff() < 1e-5);
}

TEST_CASE("what soles cannot give is told: they do not pull") {
  const Model model = human28();
  State state(model);
  state.q[2] = 0.88;
  Eigen::VectorXd vdot = Eigen::VectorXd::Zero(model.nv());
  vdot[5] = -15;  // faster down than it falls
  const SupportedMotion s = supported_inverse_dynamics(model, state, vdot, soles(model));
  CHECK_FALSE(s.feasible);
  CHECK(s.residual.f.z == doctest::Approx(model.mass() * (9.81 - 15)).epsilon(1e-6));
  CHECK(norm(s.wrenches[0].f) < 1e-6);
}
