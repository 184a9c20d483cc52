#include "kansetsu/ik/solver.h"

#include <Eigen/Dense>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/ball_joint.h"
#include "kansetsu/spatial/swing_twist.h"
#include "no_alloc.h"
#include "support.h"

using namespace kansetsu;
using namespace kansetsu::ik;
using namespace kansetsu::ik::test;
using Eigen::VectorXd;

TEST_CASE("a pose that can be reached is reached, and the report says how") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  std::mt19937_64 rng(41);
  Solver solver(model, Problem().add(PoseTask{tool, {}}, {.name = "hand"}), {.starts = 20});
  int solved = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Transform<> X = pose_of(model, random_configuration(model, rng), tool);
    std::get<PoseTask>(solver.problem().items[0].task).target = X;
    const Report report = solver.solve(neutral(model));
    CHECK(within_limits(model, report.q));
    if (!report.solved()) continue;
    ++solved;
    CHECK(report.tasks[0].name == "hand");
    CHECK(report.tasks[0].met);
    CHECK(pose_error(model, report.q, tool, X) < 1e-7);
    CHECK(report.manipulability >= 0);
  }
  CHECK(solved >= 198);
}

TEST_CASE("convergence is quadratic") {
  // Scenario 27: near a solution each error is about the square of the one before.
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  VectorXd q(7);
  q << 0.3, 0.5, -0.4, 1.1, 0.2, 0.9, -0.3;
  const Transform<> X = pose_of(model, q, tool);
  Solver solver(model, Problem().add(PoseTask{tool, X}, {.tolerance = 1e-13}), {.arms = false});
  const Report report = solver.solve(q + VectorXd::Constant(7, 0.1));
  CHECK(report.solved());
  const std::vector<double>& e = report.errors;
  REQUIRE(e.size() >= 3);
  int seen = 0;
  for (size_t i = 1; i + 1 < e.size(); ++i) {
    if (e[i] > 0.05 || e[i + 1] < 1e-14) continue;
    CHECK(e[i + 1] < 10 * e[i] * e[i] + 1e-14);
    ++seen;
  }
  CHECK(seen >= 1);
}

TEST_CASE("a last step is taken, without one that shows it to be the last") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  VectorXd q(7);
  q << 0.3, 0.5, -0.4, 1.1, 0.2, 0.9, -0.3;
  const Problem problem = Problem().add(PoseTask{tool, pose_of(model, q, tool)}, {.tolerance = 1e-13});
  constexpr double kLast = 1e-3;
  for (const double off : {0.3e-3, 0.02}) {  // the first step is no longer than its way, √7·off
    const VectorXd start = q + VectorXd::Constant(7, off);
    Solver to_the_end(model, problem, {.arms = false}), stops(model, problem, {.last = kLast, .arms = false});
    const Report whole = to_the_end.solve(start), shorter = stops.solve(start);
    CHECK(shorter.iterations < whole.iterations);
    CHECK((shorter.iterations == 1) == (off < kLast));
    CHECK(pose_error(model, shorter.q, tool, pose_of(model, q, tool)) < kLast * kLast * 10);  // Newton's squares
  }
}

TEST_CASE("targets out of reach end with the nearest pose and say so") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  const Vec3<> far{4, 1, 0.3};
  Solver solver(model, Problem().add(PositionTask{tool, far}), {.limits = false, .iterations = 300});
  VectorXd start = VectorXd::Constant(7, 0.3);
  const Report report = solver.solve(start);
  CHECK(report.status == Status::kUnreachable);
  const double distance = norm(pose_of(model, report.q, tool).p - far);
  CHECK(report.distance == doctest::Approx(distance).epsilon(1e-9));
  // nothing nearer among configurations around it
  std::mt19937_64 rng(42);
  for (int i = 0; i < 2000; ++i) {
    VectorXd q = report.q;
    for (int k = 0; k < 7; ++k) q[k] += uniform(rng, -0.3, 0.3);
    CHECK(norm(pose_of(model, q, tool).p - far) >= distance - 1e-9);
  }
}

TEST_CASE("a lone pose on an arm goes the arm's way, with the same report") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  std::mt19937_64 rng(47);
  Solver fast(model, Problem().add(PoseTask{tool, {}}), {.starts = 20});
  Solver general(model, Problem().add(PoseTask{tool, {}}), {.starts = 20, .arms = false});
  Report report, other;
  int both = 0, by_arm = 0;
  for (int trial = 0; trial < 100; ++trial) {
    CAPTURE(trial);
    const Transform<> X = pose_of(model, random_configuration(model, rng), tool);
    for (Solver* s : {&fast, &general}) std::get<PoseTask>(s->problem().items[0].task).target = X;
    fast.solve(neutral(model), report);
    general.solve(neutral(model), other);
    if (!report.solved() || !other.solved()) continue;
    ++both;
    CHECK(pose_error(model, report.q, tool, X) < 1e-8);
    CHECK(within_limits(model, report.q));
    CHECK(report.tasks[0].met);
    by_arm += report.errors.size() == 1;  // already there
    CHECK(report.iterations > 0);
    CHECK(report.manipulability > 0);
  }
  CHECK(both >= 98);
  CHECK(by_arm >= 95);
  const VectorXd start = neutral(model);
  CHECK(kansetsu::test::allocations_in([&] { fast.solve(start, report); }) == 0);

  // what the arm does not reach, the general way says why
  for (Solver* s : {&fast, &general}) {
    std::get<PoseTask>(s->problem().items[0].task).target = {Mat3<>::identity(), {4, 1, 0.3}};
  }
  fast.solve(start, report);
  general.solve(start, other);
  CHECK(report.status == other.status);
  CHECK(report.q == other.q);
  // another tool, and a free axis: no longer that arm's problem
  auto& task = std::get<PoseTask>(fast.problem().items[0].task);
  task = {FrameOn{tool.link, tool.X_LF * Transform<>{Mat3<>::identity(), {0, 0, 0.1}}}, {}};
  task.target = pose_of(model, VectorXd::Constant(7, 0.4), task.frame);
  fast.solve(VectorXd::Constant(7, 0.3), report);
  CHECK(report.solved());
  CHECK(pose_error(model, report.q, task.frame, task.target) < 1e-7);
  task.turn_weight = {1, 1, 0};
  task.target = {task.target.R * rotation_z(0.0, 1.0), task.target.p};  // a quarter turn about z
  fast.solve(report.q, other);
  CHECK(other.solved());
  CHECK(other.iterations == 0);
}

TEST_CASE("what follows a joint of the arm by gears keeps its limits, too") {
  ModelDescription d = arm7().description();
  d.links.push_back({.name = "rod", .inertial = d.links.back().inertial});
  d.joints.push_back({.name = "rod_joint",
                      .type = JointType::kRevolute,
                      .parent = "link2",
                      .child = "rod",
                      .axis = {0, 1, 0},
                      .dofs = {{.lower = -0.6, .upper = 0.8}}});
  d.couplings.push_back({.dependent = {"rod_joint", 0}, .terms = {{{"joint2", 0}, -2.0}}, .offset = 0.1});
  const Model model = value_or_throw(Model::build(d));
  const FrameOn tool = frame_on(model, "tool");
  ArmSolver arm(model, tool);
  std::mt19937_64 rng(48);
  int solved = 0;
  for (int trial = 0; trial < 200; ++trial) {
    VectorXd there = random_configuration(model, rng);
    there[1] = uniform(rng, -0.35, 0.35);  // −2·q + 0.1 within the limits
    VectorXd q = neutral(model);
    solved += arm.solve(pose_of(model, there, tool), q).solved;
    const double rod = -2 * q[1] + 0.1;
    CHECK(rod >= -0.6 - 1e-12);
    CHECK(rod <= 0.8 + 1e-12);
  }
  CHECK(solved >= 195);
  d.couplings.back().terms.push_back({{"joint1", 0}, 1.0});
  const Model shared = value_or_throw(Model::build(d));
  CHECK(ArmSolver::problem(shared, frame_on(shared, "tool")).has_value());
}

TEST_CASE("a limit in the way is named") {
  const Model model = pendulum(1);
  ModelDescription d = model.description();
  d.joints[0].dofs = {{.lower = -0.5, .upper = 0.5}};
  const Model limited = value_or_throw(Model::build(d));
  VectorXd target(1);
  target << 1.0;
  Solver solver(limited, Problem().add(PostureTask{target}));
  const Report report = solver.solve(neutral(limited));
  CHECK(report.status == Status::kLimitsActive);
  CHECK(report.q[0] == 0.5);
  CHECK(report.active_limits == std::vector<int>{0});
  CHECK(report.distance == doctest::Approx(0.5));
}

TEST_CASE("strict priorities: a lower level changes nothing above it") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  std::mt19937_64 rng(43);
  int unhindered = 0, settled = 0;
  for (int trial = 0; trial < 30; ++trial) {
    CAPTURE(trial);
    const VectorXd there = 0.6 * random_configuration(model, rng);
    const Vec3<> p = pose_of(model, there, tool).p;
    const VectorXd rest = 0.3 * random_configuration(model, rng);
    Solver solver(model, Problem().add(PositionTask{tool, p}).add(PostureTask{rest}, {.level = 1}),
                  {.iterations = 300});
    const Report report = solver.solve(there + VectorXd::Constant(7, 0.05));
    CHECK(report.solved());
    CHECK(norm(pose_of(model, report.q, tool).p - p) < 1e-8);
    // what is left of the posture lies across the directions in which the tool stays: no better posture is near
    const Eigen::MatrixXd J = [&] {
      TaskEvaluator evaluator(model);
      evaluator.set(report.q);
      VectorXd e(3);
      TaskEvaluator::RowMajor rows(3, 7);
      evaluator.rows(PositionTask{tool, p}, e, rows);
      return Eigen::MatrixXd(rows);
    }();
    if (!report.active_limits.empty()) continue;
    ++unhindered;
    const Eigen::MatrixXd N = Eigen::MatrixXd::Identity(7, 7) - J.completeOrthogonalDecomposition().pseudoInverse() * J;
    settled +=
        (N * (rest - report.q)).norm() < 1e-3;  // steps end where they no longer pay: squared errors equal to 1e-12
  }
  CHECK(settled >= unhindered - 2);  // near singularities the lower level creeps
}

TEST_CASE("human28: hands, feet and centre of mass together") {
  const Model model = human28();
  std::mt19937_64 rng(44);
  const FrameOn frames[4] = {frame_on(model, "gripL"), frame_on(model, "gripR"), frame_on(model, "soleL"),
                             frame_on(model, "soleR")};
  Problem problem;
  for (const FrameOn& f : frames) problem.add(PoseTask{f, {}});
  problem.add(ComTask{});
  Solver solver(model, problem);
  Report report;
  int solved = 0, iterations = 0;
  constexpr int kTrials = 100;
  for (int trial = 0; trial < kTrials; ++trial) {
    VectorXd start = neutral(model), there = start;
    for (int k = 7; k < model.nq(); ++k) {
      start[k] = std::clamp(uniform(rng, -0.3, 0.3), model.lower_position()[k], model.upper_position()[k]);
      there[k] = std::clamp(start[k] + uniform(rng, -0.1, 0.1), model.lower_position()[k], model.upper_position()[k]);
    }
    for (int i = 0; i < 4; ++i) {
      std::get<PoseTask>(solver.problem().items[size_t(i)].task).target = pose_of(model, there, frames[i]);
    }
    std::get<ComTask>(solver.problem().items[4].task).target = center_of_mass(model, there);
    solver.solve(start, report);
    solved += report.solved();
    iterations += report.iterations;
    for (int i = 0; i < 4 && report.solved(); ++i) {
      CHECK(pose_error(model, report.q, frames[i], pose_of(model, there, frames[i])) < 1e-7);
    }
  }
  CHECK(solved >= 98);
  MESSAGE("solved " << solved << " of 100, iterations per solve " << iterations / double(kTrials));
  const VectorXd start = neutral(model);
  CHECK(kansetsu::test::allocations_in([&] { solver.solve(start, report); }) == 0);
}

TEST_CASE("markers of a whole figure") {
  const Model model = human28();
  std::mt19937_64 rng(46);
  VectorXd there = neutral(model);
  for (int k = 7; k < model.nq(); ++k) {
    there[k] = std::clamp(uniform(rng, -0.3, 0.3), model.lower_position()[k], model.upper_position()[k]);
  }
  const LinkPoses poses = fk(model, there);
  MarkerTask task;
  for (int i = 0; i < model.link_count(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const Vec3<> p = uniform_vec3(rng, 0.1);
      task.markers.push_back({LinkId(i), p, poses[LinkId(i)] * p, k == 0 ? 0.5 : 1.0});
    }
  }
  Solver solver(model, Problem().add(task));
  const Report report = solver.solve(neutral(model));
  CHECK(report.solved());
  CHECK(difference(model, report.q, there).norm() < 1e-6);
}

TEST_CASE("ball joints keep their swing and twist limits") {
  const Model model = human28_ball();
  std::vector<BallLimit> limits;
  for (int j = 0; j < model.joint_count(); ++j) {
    if (model.joint(JointId(j)).type == JointType::kBall) limits.push_back({JointId(j), 0.6, 0.3, -0.2, 0.4});
  }
  REQUIRE(limits.size() > 2);
  const FrameOn hand = frame_on(model, "gripL");
  Solver solver(model, Problem().add(PositionTask{hand, {0.4, 0.2, 1.9}}).add(StayTask{frame_on(model, "soleL"), true}),
                {.ball_limits = limits, .iterations = 200});
  const Report report = solver.solve(neutral(model));
  for (const BallLimit& l : limits) {
    const int i = model.coordinates(l.joint).q;
    const SwingTwist st = swing_twist(Quaternion<>{report.q[i], report.q[i + 1], report.q[i + 2], report.q[i + 3]});
    CHECK(std::pow(st.swing_x / l.swing_x, 2) + std::pow(st.swing_y / l.swing_y, 2) <= 1 + 1e-9);
    CHECK(st.twist >= l.twist_lower - 1e-9);
    CHECK(st.twist <= l.twist_upper + 1e-9);
  }
  CHECK(!report.active_limits.empty());
}

TEST_CASE("balls with ZYX angles keep their swing and twist limits as those with quaternions do") {
  for (const JointType type : {JointType::kBall, JointType::kBallZyx}) {
    ModelBuilder b("chain");
    b.link("base");
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::to_string(i);
      b.link("link" + name, {.mass = 1, .inertia = {0.01, 0, 0, 0.01, 0, 0.01}});
      b.joint({.name = "ball" + name,
               .type = type,
               .parent = i ? "link" + std::to_string(i - 1) : "base",
               .child = "link" + name,
               .socket = {.p = {0, 0, i ? 0.5 : 0.0}},
               .swing_twist = SwingTwistLimit{.swing = 0.4, .twist_lower = -0.1, .twist_upper = 0.2}});
    }
    const Model model = b.build();
    const FrameOn tip{LinkId(3), {Mat3<>::identity(), {0, 0, 0.5}}};
    const std::uint64_t seed = 50;
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    int solved = 0, at_limit = 0;
    for (int i = 0; i < 100; ++i) {
      Solver solver(model, Problem().add(PositionTask{tip, pose_of(model, random_configuration(model, rng), tip).p}),
                    {.starts = 5});
      // Half of the starts are beyond the limits.
      const Eigen::VectorXd start =
          i % 2 ? neutral(model) : integrate(model, neutral(model), 2 * Eigen::VectorXd::Random(9));
      const Report report = solver.solve(start);
      solved += report.solved();
      at_limit += !report.active_limits.empty();
      for (int j = 0; j < 3; ++j) {
        const SwingTwist st = swing_twist(BallJoint::find(model, JointId(j))->rotation(report.q));
        CHECK(st.swing() <= 0.4 + 1e-9);
        CHECK((st.twist >= -0.1 - 1e-9 && st.twist <= 0.2 + 1e-9));
      }
    }
    CHECK(solved >= 98);
    CHECK(at_limit > 10);
  }
}

TEST_CASE("gears are respected, and the follower's own limits") {
  ModelDescription d = pendulum(3).description();
  d.base = Base::kFixed;
  d.couplings.push_back({.dependent = {d.joints[1].name, 0}, .terms = {{{d.joints[0].name, 0}, 2.0}}, .offset = 0.1});
  d.joints[1].dofs = {{.lower = -1, .upper = 1}};
  const Model model = value_or_throw(Model::build(d));
  CHECK(model.nv() == 2);
  const FrameOn tip{LinkId(model.link_count() - 1), {}};
  std::mt19937_64 rng(45);
  for (int trial = 0; trial < 20; ++trial) {
    VectorXd there(2);
    there << uniform(rng, -0.5, 0.4), uniform(rng, -1, 1);
    Solver solver(model, Problem().add(PoseTask{tip, pose_of(model, there, tip)}), {.starts = 20});
    const Report report = solver.solve(neutral(model));
    CHECK(report.solved());
    CHECK(2 * report.q[0] + 0.1 <= 1 + 1e-12);
    CHECK(2 * report.q[0] + 0.1 >= -1 - 1e-12);
  }
}

TEST_CASE("a loop stays closed while a point moves") {
  // two chains of the figure joined at the hands: a relative pose on the first level, the waist on the second
  const Model model = human28();
  const FrameOn left = frame_on(model, "gripL"), right = frame_on(model, "gripR");
  VectorXd q = neutral(model);
  const Transform<> X = inverse(pose_of(model, q, left)) * pose_of(model, q, right);
  const Vec3<> up = pose_of(model, q, left).p + Vec3<>{0.2, 0, 0.3};
  Solver solver(model, Problem()
                           .add(RelativePoseTask{right, left, X})
                           .add(StayTask{frame_on(model, "soleL"), true})
                           .add(PositionTask{left, up}, {.level = 1}));
  const Report report = solver.solve(q);
  CHECK(report.solved());
  const Transform<> after = inverse(pose_of(model, report.q, left)) * pose_of(model, report.q, right);
  CHECK(norm(after.p - X.p) < 1e-7);
  CHECK(angular_distance(after.R, X.R) < 1e-7);
  CHECK(report.tasks[2].error < 1e-6);
}

TEST_CASE("loops of a figure are constraints, and a target they cannot follow does not open them") {
  const Model model = human28();
  const VectorXd q = neutral(model);
  const Transform<> X_LR =
      inverse(pose_of(model, q, frame_on(model, "gripL"))) * pose_of(model, q, frame_on(model, "gripR"));
  LoopClosure loop{.name = "bar", .link_a = "gripL", .link_b = "gripR", .mask = kPointMask};
  loop.pose_a.p = X_LR.p;  // both hands on a bar between them, as points
  Problem problem;
  problem.add_loops(model, {loop});
  problem.add(StayTask{frame_on(model, "soleL"), true}, {.level = -1});
  problem.add(PositionTask{frame_on(model, "gripR"), {0.3, -0.2, 0.3}}, {.name = "hand"});
  Solver solver(model, problem, {.iterations = 300});
  const auto opening = [&](const VectorXd& at) {
    return norm(pose_of(model, at, frame_on(model, "gripL")) * X_LR.p - pose_of(model, at, frame_on(model, "gripR")).p);
  };
  const Report near = solver.solve(q);
  CHECK(near.solved());
  CHECK(near.tasks[0].name == "bar");
  CHECK(opening(near.q) < 1e-7);
  CHECK(norm(pose_of(model, near.q, frame_on(model, "gripR")).p - Vec3<>{0.3, -0.2, 0.3}) < 1e-7);
  std::get<PositionTask>(solver.problem().items[2].task).target = {5, 0, 0};
  const Report far = solver.solve(q);
  CHECK(!far.solved());
  CHECK(far.distance > 2);
  CHECK(opening(far.q) < 1e-6);
}

TEST_CASE("obstacles are kept away from") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  const Vec3<> goal{0.5, 0.2, 0.5};
  Problem problem;
  problem.add(PositionTask{tool, goal});
  const ShapeOn hand{Geometry(Capsule{0.05, 0.15}), model.link_id("link7"), {Mat3<>::identity(), {0, 0, 0.075}}};
  problem.clearances.push_back({hand, {Geometry(Sphere{0.1}), std::nullopt, {Mat3<>::identity(), goal}}, 0.02});
  Solver solver(model, problem, {.iterations = 300});
  const Report report = solver.solve(VectorXd::Constant(7, 0.4));
  TaskEvaluator evaluator(model);
  evaluator.set(report.q);
  VectorXd ignored(7);
  CHECK(evaluator.distance(problem.clearances[0], ignored) >= 0.02 - 1e-6);
  CHECK(report.status == Status::kLimitsActive);
  CHECK(report.distance < 0.2);
  CHECK(report.distance >= 0.12 - 1e-6);
}

TEST_CASE("several solutions of one problem") {
  const Model model = pendulum(2);
  const FrameOn tip{LinkId(model.link_count() - 1), {Mat3<>::identity(), {0, 0, -1}}};
  VectorXd q(2);
  q << 0.4, 0.8;
  Solver solver(model, Problem().add(PositionTask{tip, pose_of(model, q, tip).p}));
  const std::vector<Report> found = solver.solve_all(neutral(model), 60, 0.1);
  CHECK(found.size() >= 2);  // elbow on either side; turns by 2π count as others
  for (const Report& r : found) CHECK(norm(pose_of(model, r.q, tip).p - pose_of(model, q, tip).p) < 1e-7);
}

TEST_CASE("a path is followed without jumps, or the place is told where it cannot be") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  VectorXd q(7);
  q << 0.3, 0.6, 0.1, 1.2, 0.2, 0.9, 0;
  const Transform<> X = pose_of(model, q, tool);
  std::vector<Transform<>> path;
  for (int i = 0; i <= 40; ++i) {
    const double angle = i * std::numbers::pi / 20;
    path.push_back({X.R, X.p + Vec3<>{0, 0.06 * std::sin(angle), 0.06 * (std::cos(angle) - 1)}});
  }
  const PathReport report = follow(model, tool, path, q);
  CAPTURE(report.reason);
  REQUIRE(report.complete);
  for (size_t i = 0; i < path.size(); ++i) {
    CHECK(pose_error(model, report.q[i], tool, path[i]) < 1e-7);
    if (i) CHECK((report.q[i] - report.q[i - 1]).lpNorm<Eigen::Infinity>() <= 0.2);
  }
  path.push_back({X.R, {9, 9, 9}});
  const PathReport broken = follow(model, tool, path, q);
  CHECK(!broken.complete);
  CHECK(broken.reached == 41);
  CHECK(broken.reason.find("pose 41") == 0);
}

TEST_CASE("misuse is an error with the values in it") {
  const Model model = arm7();
  Solver solver(model, Problem().add(PositionTask{frame_on(model, "tool"), {}}));
  CHECK_THROWS_AS(solver.solve(VectorXd::Zero(3)), Error);
  VectorXd q = neutral(model);
  q[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(solver.solve(q), Error);
}
