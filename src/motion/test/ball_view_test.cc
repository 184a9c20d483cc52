#include "motion/ball_view.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/motion/analysis.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

using namespace kansetsu;

namespace {

Clip waving(const Model& model, int frames, double step) {
  Clip clip{.name = "waving", .q = Eigen::MatrixXd(model.nq(), frames)};
  for (int k = 0; k < frames; ++k) {
    clip.times.push_back(step * k);
    Eigen::VectorXd v(model.nv());
    for (int i = 0; i < model.nv(); ++i) v[i] = 0.4 * std::sin(3 * step * k + i);
    clip.q.col(k) = integrate(model, neutral(model), v);
  }
  return clip;
}

}  // namespace

TEST_CASE("three hinges that meet are a ball, everything else stays") {
  const Model model = human28();
  const BallView view(model);
  CHECK(!view.same());
  CHECK(view.model().nv() == model.nv());
  CHECK(view.model().nv() == human28_ball().nv());
  CHECK(view.model().link_count() == human28_ball().link_count());
  CHECK(BallView(human28_ball()).same());
  CHECK(BallView(chain(6)).same());
  CHECK_THROWS_AS(view.link(model.link_id("waist_z")), Error);
  const Clip clip = waving(model, 50, 0.01), balls = view.to_balls(clip);
  const LinkPoses a = fk(model, clip.q.col(31)), b = fk(view.model(), balls.q.col(31));
  for (int i = 0; i < model.link_count(); ++i) {
    if (!model.link(LinkId(i)).inertial) continue;
    const LinkId link = view.link(LinkId(i));
    CHECK(norm(a[LinkId(i)].p - b[link].p) < 1e-12);
    CHECK(norm(log_rotation(transpose(a[LinkId(i)].R) * b[link].R)) < 1e-7);
  }
  const Clip back = view.to_hinges(balls, clip);
  CHECK((back.q - clip.q).cwiseAbs().maxCoeff() < 1e-9);
}

TEST_CASE("torques and powers of hinges come from those of balls") {
  const Model model = human28();
  const BallView view(model);
  const Clip clip = waving(model, 400, 0.002);
  const Analysis hinges = analyze(model, clip, {}), balls = analyze(view.model(), view.to_balls(clip), {});
  REQUIRE(hinges.tau.rows() == model.nv());
  for (int k = 5; k < 395; k += 10) {
    CHECK(hinges.power.col(k).sum() == doctest::Approx(balls.power.col(k).sum()).epsilon(1e-6));
    CHECK(norm(hinges.residual[std::size_t(k)].f - balls.residual[std::size_t(k)].f) < 1e-9);
  }
}

TEST_CASE("an arm that swings past its side, where two hinges fall together, pulls no more than elsewhere") {
  const Model model = human28();
  const BallView view(model);
  // The left arm is level and sweeps from before to behind, through the side.
  const int frames = 200;
  Clip balls{.name = "sweep", .q = Eigen::MatrixXd(view.model().nq(), frames)};
  const int shoulder = view.model().coordinates(view.model().joint_id("shoulderL_z")).q;
  for (int k = 0; k < frames; ++k) {
    balls.times.push_back(0.005 * k);
    balls.q.col(k) = neutral(view.model());
    const double heading = 1.2 * std::cos(M_PI * k / (frames - 1.0));
    const Quaternion<> turn = to_quaternion(exp_rotation(Vec3<>{0, 0, heading}) * exp_rotation(Vec3<>{M_PI / 2, 0, 0}));
    balls.q.col(k).segment<4>(shoulder) << turn.x, turn.y, turn.z, turn.w;
  }
  Clip near{.name = "sweep", .times = balls.times, .q = neutral(model).replicate(1, frames)};
  const Clip hinges = view.to_hinges(balls, near);
  // The angles do turn around in an instant.
  const int y = model.coordinates(model.joint_id("shoulderL_y")).q;
  double fastest = 0;
  for (int k = 1; k < frames; ++k) fastest = std::max(fastest, std::abs(hinges.q(y, k) - hinges.q(y, k - 1)) / 0.005);
  CHECK(fastest > 20);  // [rad/s]; the arm itself turns by 3.8
  const Analysis a = analyze(model, hinges, {}, {.cutoff = 6}), b = analyze(view.model(), balls, {}, {.cutoff = 6});
  for (int k = 0; k < frames; ++k) {
    CHECK(norm(a.residual[std::size_t(k)].f - b.residual[std::size_t(k)].f) < 0.1);
    CHECK(norm(a.residual[std::size_t(k)].f) < 1.3 * a.summary.weight);
  }
}

TEST_CASE("hinges go on from frame to frame where nothing else tells their angles") {
  const Model model = human28();
  const BallView view(model);
  const Clip clip = waving(model, 50, 0.01), back = view.to_hinges(view.to_balls(clip));
  CHECK(back.times == clip.times);
  CHECK((back.q - clip.q).cwiseAbs().maxCoeff() < 1e-9);  // where Newton's method ends
  for (int i = 0; i < view.model().link_count(); ++i)
    CHECK(view.model().link(LinkId(i)).name == model.link(view.link_of_figure(LinkId(i))).name);
}

TEST_CASE("links that shall stay are no part of a ball") {
  const Model model = human28();
  const BallView view(model, {"waist_z"});
  CHECK(view.model().find_link("waist_z"));
  CHECK(!view.model().find_link("neck_z"));
  CHECK(view.model().nv() == model.nv());
}
