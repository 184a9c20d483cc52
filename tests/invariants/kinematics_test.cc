#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/kinematics/kinematics.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic>;

double relative(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}
Eigen::Matrix<double, 6, 1> stacked(const Vec3<>& w, const Vec3<>& v) {
  return (Eigen::Matrix<double, 6, 1>() << w.x, w.y, w.z, v.x, v.y, v.z).finished();
}
const Transform<> kTool{Mat3<>{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}, {0.1, -0.2, 0.3}};

}  // namespace

TEST_CASE("Jacobians give the velocities of frames, in all three forms") {
  for (const auto& [seed, model] : invariant_models(20)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = random_state(model, rng);
    const LinkMotions motions = link_motions(model, state, Eigen::VectorXd::Zero(model.nv()));
    for (int l = 0; l < model.link_count(); l += 2) {
      const FrameMotion f = frame_motion(motions, LinkId(l), kTool);
      const auto V = [&](JacobianAxes axes) {
        return Eigen::VectorXd(jacobian(model, state.q, LinkId(l), kTool, axes) * state.v);
      };
      CHECK(relative(V(JacobianAxes::kLocalWorldAligned), stacked(f.V.w, f.V.v)) < 1e-12);
      CHECK(relative(V(JacobianAxes::kLocal),
                     stacked(transpose_times(f.X_WF.R, f.V.w), transpose_times(f.X_WF.R, f.V.v))) < 1e-12);
      CHECK(relative(V(JacobianAxes::kWorld), stacked(f.V.w, f.V.v - cross(f.V.w, f.X_WF.p))) < 1e-12);
    }
  }
}

TEST_CASE("rates of Jacobians equal central differences, and J v̇ + J̇ v is the acceleration") {
  for (const auto& [seed, model] : invariant_models(12)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = random_state(model, rng);
    const Eigen::VectorXd vdot = random_vector(model.nv(), rng);
    Workspace work(model);
    Jacobian out(model);
    const LinkId link(model.link_count() - 1);
    const double h = 1e-6;
    for (JacobianAxes axes : {JacobianAxes::kLocalWorldAligned, JacobianAxes::kLocal, JacobianAxes::kWorld}) {
      jacobian(model, state, link, kTool, axes, work, out);
      const auto at = [&](double t) {
        return jacobian(model, integrate(model, state.q, Eigen::VectorXd(t * state.v)), link, kTool, axes);
      };
      CHECK(relative((at(h) - at(-h)) / (2 * h), out.J_dot) < 1e-7);  // central difference: h² + eps/h
      CHECK(relative(out.J_dot * state.v, out.drift) < 1e-13);        // rounding of one product
    }
    jacobian(model, state, link, kTool, JacobianAxes::kLocalWorldAligned, work, out);
    const FrameMotion f = frame_motion(link_motions(model, state, vdot), link, kTool);
    CHECK(relative(out.J * vdot + out.drift, stacked(f.A.w, f.A.v)) < 1e-11);  // rounding over chains of 60 links
  }
}

TEST_CASE("poses move as velocities say") {
  for (const auto& [seed, model] : invariant_models(12)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const State state = random_state(model, rng);
    const double h = 1e-6;
    const auto at = [&](double t) { return fk(model, integrate(model, state.q, Eigen::VectorXd(t * state.v))); };
    const LinkPoses plus = at(h), minus = at(-h);
    const LinkMotions motions = link_motions(model, state, Eigen::VectorXd::Zero(model.nv()));
    for (size_t l = 0; l < plus.X_WL.size(); ++l) {
      const Vec3<> v = (0.5 / h) * (plus.X_WL[l].p - minus.X_WL[l].p);
      CHECK(norm(v - motions.V[l].v) < 1e-7 * std::max(1.0, norm(v)));  // central difference
      const Mat3<> W = times_transpose((0.5 / h) * (plus.X_WL[l].R - minus.X_WL[l].R), motions.poses.X_WL[l].R);
      CHECK(norm(Vec3<>{W.z.y, W.x.z, W.y.x} - motions.V[l].w) <
            1e-7 * std::max(1.0, norm(motions.V[l].w)));  // central difference
    }
  }
}

TEST_CASE("joint axes: summed over all coordinates they give the velocity of the last link of a chain") {
  const Model model = chain(7, Base::kFree);
  std::mt19937_64 rng(5);
  const State state = random_state(model, rng);
  Workspace work(model);
  Columns S(6, model.nv());
  joint_axes(model, state.q, work, S);
  CHECK(relative(S, jacobian(model, state.q, LinkId(model.link_count() - 1), {}, JacobianAxes::kWorld)) < 1e-13);
}
