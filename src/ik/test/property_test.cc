#include "support.h"

using namespace kansetsu;
using namespace kansetsu::ik;
using namespace kansetsu::ik::test;
using Eigen::VectorXd;

namespace {

/// Where inverse kinematics is known to break: stretched, at zero, at limits, and at multiples of a right angle (gimbal lock).
VectorXd awkward_configuration(const Model& model, std::mt19937_64& rng) {
  VectorXd q = random_configuration(model, rng);
  const int kind = uniform_index(rng, 5);
  for (int k = 0; k < q.size(); ++k) {
    const bool turned = kind == 4 || uniform_index(rng, 2) == 0;
    if (kind == 0) q[k] = 0;
    if (kind == 1 && turned) q[k] = model.lower_position()[k];
    if (kind == 2) q[k] = (uniform_index(rng, 5) - 2) * std::numbers::pi / 2;
    if (kind == 3 && turned) q[k] = 0;
  }
  return q.cwiseMax(model.lower_position()).cwiseMin(model.upper_position());
}

/// A target that is where the frame is, the opposite of it (a turn by π), somewhere, or far out of reach.
Transform<> awkward_target(const Transform<>& X, std::mt19937_64& rng) {
  switch (uniform_index(rng, 5)) {
    case 0:
      return X;
    case 1:
      return {X.R * to_mat3(to_quaternion(AxisAngle{uniform_direction(rng), std::numbers::pi})), X.p};
    case 2:
      return {X.R * rotation_z(0.0, -1.0), -X.p};
    case 3:
      return {to_mat3(uniform_rotation(rng)), uniform_vec3(rng, 1)};
    default:
      return {X.R, 100 * uniform_direction(rng)};
  }
}

}  // namespace

TEST_CASE("100 000 awkward cases: never NaN, never beyond a limit") {
  const std::uint64_t seed = 61;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  ArmSolver arm(model, tool, {.starts = 3});
  int bad = 0, outside = 0;
  for (int i = 0; i < 100'000; ++i) {
    VectorXd q = awkward_configuration(model, rng);
    const Transform<> X = awkward_target(pose_of(model, q, tool), rng);
    const ArmReport r = arm.solve(X, q);
    bad += !q.allFinite() || !std::isfinite(r.position) || !std::isfinite(r.rotation);
    outside += !within_limits(model, q);
  }
  CHECK(bad == 0);
  CHECK(outside == 0);
}

TEST_CASE("awkward cases of the general solver: all tasks, balls and free bases") {
  const std::uint64_t seed = 62;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    const Model model = trial % 3 == 0   ? arm7()
                        : trial % 3 == 1 ? human28_ball()
                                         : random_tree(std::uint64_t(trial), {.links = 8, .gears = 1});
    VectorXd q = trial % 2 ? random_configuration(model, rng) : neutral(model);
    const FrameOn f{LinkId(model.link_count() - 1), {}};
    const Transform<> X = awkward_target(pose_of(model, q, f), rng);
    Problem problem;
    problem.add(PoseTask{f, X});
    problem.add(AxisTask{f, {0, 0, 1}, -(pose_of(model, q, f).R.column_z())}, {.level = 1});
    problem.add(LookAtTask{f, {1, 0, 0}, trial % 4 ? X.p : pose_of(model, q, f).p}, {.level = 1});
    problem.add(PostureTask{neutral(model)}, {.level = 2});
    Solver solver(model, problem, {.iterations = 30});
    const Report report = solver.solve(q);
    CHECK(report.q.allFinite());
    CHECK(std::isfinite(report.distance));
    CHECK(std::isfinite(report.manipulability));
  }
}
