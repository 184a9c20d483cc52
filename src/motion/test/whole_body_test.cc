#include "kansetsu/motion/whole_body.h"

#include <doctest/doctest.h>

#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "no_alloc.h"

using namespace kansetsu;

namespace {

Sole sole(const Model& model, const char* link) {
  return {.link = model.link_id(link), .X_LS = {.p = {0.045, 0, -0.08}}, .half_length = 0.095, .half_width = 0.06};
}

State crouching(const Model& model) {
  State state(model);
  for (const char* side : {"L", "R"}) {
    const auto set = [&](const std::string& joint, double angle) {
      state.q[model.coordinates(model.joint_id(joint + side + "_y")).q] = angle;
    };
    set("hip", -0.4), set("ankle", -0.4);
    state.q[model.coordinates(model.joint_id(std::string("knee") + side + "_y")).q] = 0.8;
  }
  return state;
}

/// v̇ by forward dynamics under the torques and wrenches of a result.
Eigen::VectorXd replay(const Model& model, const State& state, const std::vector<Sole>& soles,
                       const WholeBodyResult& result) {
  const LinkPoses poses = fk(model, state.q);
  ExternalForces external(model);
  for (size_t i = 0; i < soles.size(); ++i) {
    const Transform<>& X_WL = poses[soles[i].link];
    const Force<> F_L = soles[i].X_LS * result.wrenches[i];
    external[soles[i].link] = {X_WL.R * F_L.t, X_WL.R * F_L.f};
  }
  return aba(model, state, result.tau, &external).vdot;
}

}  // namespace

TEST_CASE("whole body: equations of motion and supports hold exactly, forces stay in their cones") {
  const Model model = human28();
  State state = crouching(model);
  WholeBody control(model);
  const std::vector<Sole> soles{sole(model, "FootL"), sole(model, "FootR")};
  const double weight = model.mass() * 9.81;
  for (const double push : {0.0, 1.0, 4.0, 12.0}) {  // [m/s²] forwards: beyond 0.6/√2·g the pyramid holds it back
    control.begin(state);
    for (const Sole& s : soles) control.support(s, {.friction = 0.6});
    control.com({push, 0, 0}, {1e3, 1e3, 1e3});
    control.posture(Eigen::VectorXd::Zero(model.nv()), Eigen::VectorXd::Constant(model.nv(), 1e-3));
    const WholeBodyResult& result = control.solve();
    CHECK(result.status == WholeBodyResult::Status::kSolved);
    CHECK(result.tau.head<6>().norm() == 0);
    const Eigen::VectorXd vdot = replay(model, state, soles, result);
    CHECK((vdot - result.vdot).norm() < 1e-9 * (1 + vdot.norm()));  // M has a condition of 1e4
    const LinkMotions motions = link_motions(model, state, vdot);
    Vec3<> sum{};
    for (size_t i = 0; i < soles.size(); ++i) {
      const FrameMotion m = frame_motion(motions, soles[i].link, soles[i].X_LS);
      CHECK(norm(m.A.v) + norm(m.A.w) < 1e-8);
      const Force<>& F = result.wrenches[i];
      sum = sum + F.f;  // the soles lie flat: their axes are the world's
      CHECK(F.f.z >= -1e-9);
      CHECK(std::max(std::abs(F.f.x), std::abs(F.f.y)) <= 0.6 / std::sqrt(2.0) * F.f.z + 1e-6);
      CHECK(std::abs(F.t.y) <= 0.095 * F.f.z + 1e-6);
      CHECK(std::abs(F.t.x) <= 0.06 * F.f.z + 1e-6);
    }
    if (push < 2) CHECK(std::abs(sum.x / model.mass() - push) < 1e-3);  // the posture's weight is 1e-6 of the wish's
    if (push < 2) CHECK(std::abs(sum.z / weight - 1) < 1e-4);
  }
}

TEST_CASE("whole body: joints stay within their limits, however hard the posture pulls") {
  const Model model = human28();
  State state = crouching(model);
  const CoordinateRange elbow = model.coordinates(model.joint_id("elbowL_y"));
  state.q[elbow.q] = -0.5;
  WholeBody control(model);
  const double h = 1e-3;
  for (int i = 0; i < 1000; ++i) {
    control.begin(state);
    for (const char* foot : {"FootL", "FootR"}) control.support(sole(model, foot));
    Eigen::VectorXd vdot = -20 * state.v;
    vdot[elbow.v] = 100;
    control.posture(vdot, Eigen::VectorXd::Ones(model.nv()));
    state.v += h * control.solve().vdot;
    state.q = integrate(model, state.q, h * state.v);
    REQUIRE(state.q[elbow.q] <= model.upper_position()[elbow.q]);
  }
  CHECK(state.q[elbow.q] > model.upper_position()[elbow.q] - 1e-3);
}

TEST_CASE("whole body: effort limits bind the torques, misuse is an error, nothing is allocated") {
  const Model figure = human28();
  ModelDescription description = figure.description();
  for (JointDescription& joint : description.joints) {
    if (joint.name == "kneeL_y") joint.dofs[0].effort = 30;
  }
  const Model model = *Model::build(description).value;
  const State state = crouching(model);
  WholeBody control(model);
  const int knee = model.coordinates(model.joint_id("kneeL_y")).v;
  const auto solve = [&]() -> const WholeBodyResult& {
    control.begin(state);
    for (const char* foot : {"FootL", "FootR"}) control.support(sole(model, foot));
    control.com({0, 0, 0}, {1, 1, 1});
    control.posture(Eigen::VectorXd::Zero(model.nv()), Eigen::VectorXd::Ones(model.nv()));
    return control.solve();
  };
  CHECK(std::abs(solve().tau[knee]) <= 30 + 1e-6);
  CHECK_THROWS_AS(control.posture(Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(3)), Error);

  const Eigen::VectorXd none = Eigen::VectorXd::Zero(model.nv()), one = Eigen::VectorXd::Ones(model.nv());
  const Sole left = sole(model, "FootL"), right = sole(model, "FootR");
  const std::size_t allocations = test::allocations_in([&] {
    control.begin(state);
    control.support(left), control.support(right);
    control.com({0, 0, 0}, {1, 1, 1});
    control.posture(none, one);
    control.solve();
  });
  CHECK(allocations == 0);
}

TEST_CASE("whole body: a point pushes without a moment and may turn, a grip pulls") {
  const Model model = human28();
  const State state = crouching(model);
  const LinkId hand = model.link_id("LowerArmL");
  const Sole point{.link = hand, .X_LS = {.p = {0, 0, -0.33}}};
  WholeBody control(model);
  for (const SupportKind kind : {SupportKind::kPoint, SupportKind::kGrip}) {
    CAPTURE(int(kind));
    control.begin(state);
    control.support(point, {.friction = 0.6, .kind = kind});
    control.com({0, 0, -20}, {1e3, 1e3, 1e3});  // faster than it falls
    control.posture(Eigen::VectorXd::Zero(model.nv()), Eigen::VectorXd::Constant(model.nv(), 1e-3));
    const WholeBodyResult& result = control.solve();
    CHECK(result.status == WholeBodyResult::Status::kSolved);
    CHECK(norm(result.wrenches[0].t) < 1e-8);  // an equation: rounding of forces of some hundred newtons
    const FrameMotion m = frame_motion(link_motions(model, state, result.vdot), hand, point.X_LS);
    CHECK(norm(m.A.v) < 1e-8);  // the same of accelerations
    CHECK((result.wrenches[0].f.z < -1) == (kind == SupportKind::kGrip));
    CHECK((replay(model, state, {point}, result) - result.vdot).norm() < 1e-7);  // M has a condition of 1e4
  }
}
