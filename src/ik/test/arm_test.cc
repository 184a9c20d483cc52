#include "kansetsu/ik/arm.h"

#include "kansetsu/base/error.h"
#include "no_alloc.h"
#include "support.h"

using namespace kansetsu;
using namespace kansetsu::ik;
using namespace kansetsu::ik::test;

namespace {

struct Targets {
  Targets(const Model& model, const FrameOn& frame, int n, std::uint64_t seed) : count(n) {
    std::mt19937_64 rng(seed);
    for (int i = 0; i < n; ++i) {
      poses.push_back(pose_of(model, random_configuration(model, rng), frame));
      const Transform<>& X = poses.back();
      for (const Vec3<>& r : {X.R.x, X.R.y, X.R.z, X.p}) numbers.insert(numbers.end(), {r.x, r.y, r.z});
    }
  }
  int count;
  std::vector<Transform<>> poses;
  std::vector<double> numbers;
};

}  // namespace

TEST_CASE("an arm reaches where it has been, within its limits") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  const Targets targets(model, tool, 2000, 21);
  ArmSolver arm(model, tool);
  int solved = 0;
  for (const Transform<>& X : targets.poses) {
    Eigen::VectorXd q = neutral(model);
    const ArmReport report = arm.solve(X, q);
    CHECK(within_limits(model, q));
    if (!report.solved) continue;
    ++solved;
    CHECK(pose_error(model, q, tool, X) < 1e-8);  // tolerance 1e-9 each, and the log's series
  }
  CHECK(solved >= 1990);  // 99.5 %
}

TEST_CASE("many targets give what one gives, to the bit, on any number of threads") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  const Targets targets(model, tool, 1300, 22);
  ArmSolver one(model, tool);
  std::vector<Eigen::VectorXd> expected;
  for (const Transform<>& X : targets.poses) {
    expected.push_back(neutral(model));
    one.solve(X, expected.back());
  }
  for (const int threads : {1, 3}) {
    ArmSolver many(model, tool, {.threads = threads});
    Eigen::MatrixXd q = neutral(model).replicate(1, targets.count);
    std::vector<ArmReport> reports(size_t(targets.count));
    many.solve(targets.count, targets.numbers.data(), q.data(), reports.data());
    int different = 0;
    for (int i = 0; i < targets.count; ++i) different += q.col(i) != expected[size_t(i)];
    CHECK(different == 0);
  }
}

TEST_CASE("solving allocates nothing") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  const Targets targets(model, tool, 600, 23);
  ArmSolver arm(model, tool, {.threads = 2});
  Eigen::VectorXd q = neutral(model);
  Eigen::MatrixXd all = q.replicate(1, targets.count);
  std::vector<ArmReport> reports(size_t(targets.count));
  CHECK(kansetsu::test::allocations_in([&] { arm.solve(targets.poses[0], q); }) == 0);
  CHECK(kansetsu::test::allocations_in(
            [&] { arm.solve(targets.count, targets.numbers.data(), all.data(), reports.data()); }) == 0);
}

TEST_CASE("slides, tilted axes and flipped joints are arms, too") {
  std::mt19937_64 rng(24);
  for (int trial = 0; trial < 40; ++trial) {
    CAPTURE(trial);
    const Model model = random_tree(
        std::uint64_t(trial),
        {.links = 8, .base = Base::kFixed, .types = {JointType::kRevolute, JointType::kPrismatic}, .branching = 0});
    const FrameOn frame{LinkId(model.link_count() - 1), {from_rpy({0.3, -0.2, 0.5}), {0.1, 0.2, -0.1}}};
    ArmSolver arm(model, frame);
    const Eigen::VectorXd there = random_configuration(model, rng);
    Eigen::VectorXd q = neutral(model);
    const Transform<> X = pose_of(model, there, frame);
    if (arm.solve(X, q).solved) {
      CHECK(pose_error(model, q, frame, X) < 1e-8);
    }
    CHECK(within_limits(model, q));
  }
}

/// What the solver makes as small as it can: ℓ²·φ² + p², ℓ a third of the reach.
double squared_error(const Model& model, const Eigen::VectorXd& q, const FrameOn& frame, const Transform<>& X) {
  double reach = norm(frame.X_LF.p);
  for (int j = 1; j < model.joint_count(); ++j) reach += norm(to_transform(model.joint(JointId(j)).socket).p);
  const Transform<> at = pose_of(model, q, frame);
  const double turn = reach / 3 * angular_distance(at.R, X.R), way = norm(at.p - X.p);
  return turn * turn + way * way;
}

TEST_CASE("targets out of reach end with the nearest pose and say so, alone and among many") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  std::mt19937_64 rng(25);
  ArmSolver arm(model, tool, {.starts = 20});
  constexpr int kCount = 60;
  std::vector<double> numbers;
  Eigen::MatrixXd all = neutral(model).replicate(1, kCount);
  for (int i = 0; i < kCount; ++i) {
    CAPTURE(i);
    const double far = i % 3 == 0 ? 1.5 : i % 3 == 1 ? 5 : 200;  // just beyond a reach of 1.1 m, and far away [m]
    const Transform<> X{to_mat3(uniform_rotation(rng)), far * uniform_direction(rng)};
    for (const Vec3<>& r : {X.R.x, X.R.y, X.R.z, X.p}) numbers.insert(numbers.end(), {r.x, r.y, r.z});
    Eigen::VectorXd q = neutral(model);
    const ArmReport report = arm.solve(X, q);
    CHECK(!report.solved);
    CHECK(report.starts == 20);
    CHECK(within_limits(model, q));
    CHECK(report.position == doctest::Approx(norm(pose_of(model, q, tool).p - X.p)).epsilon(1e-9));
    CHECK(report.rotation == doctest::Approx(angular_distance(pose_of(model, q, tool).R, X.R)).epsilon(1e-6));
    // nothing nearer among configurations around it, up to where the last iterations stop
    const double here = squared_error(model, q, tool, X);
    for (int trial = 0; trial < 300; ++trial) {
      Eigen::VectorXd other = q;
      const double size = trial % 2 ? 0.2 : 0.01;
      for (int k = 0; k < 7; ++k) other[k] += uniform(rng, -size, size);
      other = other.cwiseMax(model.lower_position()).cwiseMin(model.upper_position());
      CHECK(squared_error(model, other, tool, X) >= here * (1 - 1e-7));
    }
    all.col(i) = q;
  }
  Eigen::MatrixXd q = neutral(model).replicate(1, kCount);
  std::vector<ArmReport> reports(kCount);
  arm.solve(kCount, numbers.data(), q.data(), reports.data());
  CHECK(q == all);
}

TEST_CASE("single precision in between does not bound what an arm may be") {
  // the base kilometres away, and links of tens of metres: rounding of floats is coarse there
  ModelDescription far = arm7().description(), large = far;
  far.joints[0].socket.p = {3000, -4000, 10};
  for (JointDescription& joint : large.joints) joint.socket.p = 40 * joint.socket.p;
  for (const ModelDescription& d : {far, large}) {
    const Model model = value_or_throw(Model::build(d));
    const FrameOn tool = frame_on(model, "tool");
    const Targets targets(model, tool, 300, 26);
    ArmSolver arm(model, tool);
    int solved = 0, starts = 0;
    for (const Transform<>& X : targets.poses) {
      Eigen::VectorXd q = neutral(model);
      const ArmReport report = arm.solve(X, q);
      solved += report.solved && pose_error(model, q, tool, X) < 1e-7;
      starts += report.starts;
    }
    CHECK(solved >= 297);
    CHECK(starts < 4 * 300);  // 1.3 each for the arm as it is
  }
}

TEST_CASE("numbers that are not finite do no harm") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ArmSolver arm(model, tool, {.starts = 5});
  Eigen::VectorXd q = neutral(model);
  const Transform<> there = pose_of(model, Eigen::VectorXd::Constant(7, 0.3), tool);
  const ArmReport lost = arm.solve({there.R, {nan, 0, 0}}, q);
  CHECK(!lost.solved);
  CHECK(lost.position == kInfinity);
  CHECK(q.allFinite());
  q.setConstant(nan);  // a start that says nothing
  CHECK(arm.solve(there, q).solved);
  CHECK(pose_error(model, q, tool, there) < 1e-8);
}

TEST_CASE("what is no arm says why") {
  const Model human = human28();
  CHECK(ArmSolver::problem(human, frame_on(human, "gripL")).value() == "a ball or a free base carries it");
  CHECK_THROWS_AS(ArmSolver(human, frame_on(human, "gripL")), Error);
  const Model long_chain = chain(9);
  CHECK(ArmSolver::problem(long_chain, frame_on(long_chain, "link9")).value() == "more than 8 joints carry it");
  const Model model = arm7();
  CHECK(ArmSolver::problem(model, frame_on(model, "base")).value() == "no joint moves it");
  CHECK_THROWS_AS(frame_on(model, "tol"), Error);
}
