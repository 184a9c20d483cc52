#include "kansetsu/ik/differential.h"

#include <Eigen/Dense>

#include "kansetsu/base/error.h"
#include "no_alloc.h"
#include "support.h"

using namespace kansetsu;
using namespace kansetsu::ik;
using namespace kansetsu::ik::test;
using Eigen::VectorXd;

TEST_CASE("one step gives the task's velocity, and the feed-forward is followed") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  VectorXd q(7), v(7);
  q << 0.3, 0.6, 0.1, 1.2, 0.2, 0.9, 0;
  Differential control(model, Problem().add(PoseTask{tool, pose_of(model, q, tool)}), {.damping = 1e-12});
  VectorXd rate(6);
  rate << 0.1, -0.2, 0.1, 0.1, 0.05, -0.1;
  control.set_feed_forward(0, rate);
  const StepReport report = control.step(q, 1e-3, v);
  CHECK(report.status == StepReport::Status::kSolved);
  // the frame's displacement over a short time: turn in axes of the target, way in the world's
  const Transform<> X = pose_of(model, q, tool), Y = pose_of(model, q + 1e-6 * v, tool);
  const Vec3<> turn = transpose_times(X.R, log_rotation(times_transpose(Y.R, X.R)));
  CHECK(norm(turn - 1e-6 * Vec3<>{0.1, -0.2, 0.1}) < 1e-11);
  CHECK(norm(Y.p - X.p - 1e-6 * Vec3<>{0.1, 0.05, -0.1}) < 1e-11);
}

TEST_CASE("velocity and position limits hold while tracking, also at the limits") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  std::mt19937_64 rng(51);
  const double dt = 1e-3;
  VectorXd q = neutral(model), v(7);
  Differential control(model, Problem().add(PoseTask{tool, {}}).add(PostureTask{neutral(model)}, {.level = 1}));
  for (int part = 0; part < 20; ++part) {
    std::get<PoseTask>(control.problem().items[0].task).target = pose_of(model, random_configuration(model, rng), tool);
    for (int i = 0; i < 200; ++i) {
      control.step(q, dt, v);
      CHECK(v.allFinite());
      CHECK((v.array().abs() <= model.velocity_limit().array() * (1 + 1e-12)).all());
      q += dt * v;
      CHECK((q - q.cwiseMax(model.lower_position()).cwiseMin(model.upper_position())).norm() < 1e-12);
    }
  }
}

TEST_CASE("strict priorities are exact") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  std::mt19937_64 rng(52);
  for (int trial = 0; trial < 100; ++trial) {
    const VectorXd q = 0.7 * random_configuration(model, rng);
    const Vec3<> p = pose_of(model, q, tool).p + uniform_vec3(rng, 1e-4);
    const VectorXd rest = random_configuration(model, rng);
    VectorXd alone(7), both(7);
    const StepOptions options{.damping = 0, .velocity_limits = false};
    Differential one(model, Problem().add(PositionTask{tool, p}), options);
    Differential two(model, Problem().add(PositionTask{tool, p}).add(PostureTask{rest}, {.level = 1}), options);
    one.step(q, 1, alone);
    two.step(q, 1, both);
    TaskEvaluator evaluator(model);
    evaluator.set(q);
    VectorXd e(3);
    TaskEvaluator::RowMajor J(3, 7);
    evaluator.rows(PositionTask{tool, p}, e, J);
    CHECK((J * (alone - both)).norm() < 1e-10);
  }
}

TEST_CASE("a step allocates nothing; misuse is told") {
  const Model model = human28();
  Problem problem;
  for (const char* name : {"gripL", "gripR", "soleL", "soleR"}) {
    const FrameOn f = frame_on(model, name);
    problem.add(PoseTask{f, pose_of(model, neutral(model), f)});
  }
  problem.add(ComTask{{0, 0, 1}}, {.level = 1});
  Differential control(model, problem);
  const VectorXd q = neutral(model);
  VectorXd v(model.nv());
  CHECK(kansetsu::test::allocations_in([&] { control.step(q, 1e-3, v); }) == 0);
  CHECK_THROWS_AS(control.step(q, 0, v), Error);
  CHECK_THROWS_AS(control.set_feed_forward(9, v), Error);
  CHECK_THROWS_AS(Differential(model, Problem().add(StayTask{frame_on(model, "soleL")})), Error);
}
