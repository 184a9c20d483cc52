#include "kansetsu/motion/generation.h"

#include <doctest/doctest.h>

#include <random>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/eigen.h"

using namespace kansetsu;

namespace {

/// human28 on bent knees, soles at z = 0.
State standing(const Model& model, double bend = 0.2) {
  State state(model);
  state.q[2] = 0.08 + 0.8 * std::cos(bend);
  for (const char* side : {"L", "R"}) {
    for (const auto& [joint, angle] : {std::pair{"hip", -bend}, {"knee", 2 * bend}, {"ankle", -bend}}) {
      state.q[model.coordinates(model.joint_id(std::string(joint) + side + "_y")).q] = angle;
    }
  }
  return state;
}

std::vector<HeldFrame> soles(const Model& model) {
  std::vector<HeldFrame> holds;
  for (const char* name : {"soleL", "soleR"}) {
    HeldFrame hold{.frame = ik::frame_on(model, name)};
    hold.corners = {{0.14, 0.06, 0}, {-0.05, 0.06, 0}, {-0.05, -0.06, 0}, {0.14, -0.06, 0}};
    holds.push_back(hold);
  }
  return holds;
}

}  // namespace

TEST_CASE("a contradiction stays in its task; the pseudo-inverse lets it into the motion") {
  // A foot that is held and asked to accelerate by 1: half of it in each row.
  const Model model = human28();
  const State state = standing(model);
  GenerationProblem problem{.holds = soles(model)};
  problem.tasks = {{0, frame_rows(model, state, problem.holds[0].frame, {{}, {0, 0, 1}}, kPointInPlaneMask)}};
  const Generated levels = generate(model, state, problem);
  CHECK(levels.status == GenerationStatus::kTasksMissed);
  CHECK(levels.levels[0].residual < 1e-9);  // rounding of sums of 700 N
  CHECK(levels.levels[1].residual == doctest::Approx(1));
  CHECK(levels.levels[1].rank == 0);
  problem.method = GenerationMethod::kPseudoInverse;
  const Generated paper = generate(model, state, problem);
  CHECK(paper.status == GenerationStatus::kInconsistent);
  CHECK(paper.levels[0].residual == doctest::Approx(0.5));
  CHECK(paper.levels[1].residual == doctest::Approx(0.5));
}

TEST_CASE("ranks tell what was asked for in vain") {
  const Model model = human28();
  const State state = standing(model);
  GenerationProblem problem{.holds = soles(model)};
  problem.tasks = {{3, posture_rows(model, Eigen::VectorXd::Zero(model.nv()))}};
  const Generated g = generate(model, state, problem);
  // 34 accelerations, of which the soles take 12: 28 joints cannot all be given.
  CHECK(g.levels[0].rank == 34 + 12);
  CHECK(g.levels[1].rank == 22);
  CHECK(g.levels[1].rows == 28);
  CHECK(g.status == GenerationStatus::kExact);  // zero accelerations fit the holds
  CHECK(g.vdot.norm() < 1e-10);
  CHECK(g.unknowns == 34 + 12 + 28);
}

TEST_CASE("without holds the centre of mass falls, whatever the joints do") {
  constexpr unsigned kSeed = 12;
  MESSAGE("seed " << kSeed);
  std::mt19937_64 rng(kSeed);
  std::normal_distribution<double> normal;
  const Model model = human28();
  State state = standing(model);
  for (double& v : state.v) v = normal(rng);
  Eigen::VectorXd wish(model.nv());
  for (double& x : wish) x = normal(rng);
  const Generated g = generate(model, state, {.holds = {}, .tasks = {{0, posture_rows(model, wish)}}});
  CHECK(g.status == GenerationStatus::kExact);
  CHECK((g.vdot - wish).tail(model.nv() - 6).norm() < 1e-9);  // rounding of accelerations of 10
  CHECK(g.tau.head<6>().norm() == 0);
  const AccelerationRows com = com_rows(model, state, {});
  CHECK((com.J * g.vdot - com.a - to_eigen(model.gravity())).norm() < 1e-9);
  CHECK((aba(model, state, g.tau).vdot - g.vdot).norm() < 1e-7);  // of torques of 100 N·m on hands of 0.1 kg·m²
}

TEST_CASE("levels keep their order, and the sum of the forces is what the centre of mass needs") {
  std::mt19937_64 rng(7);
  std::normal_distribution<double> normal;
  const Model model = human28();
  for (int trial = 0; trial < 20; ++trial) {
    CAPTURE(trial);
    State state = standing(model, 0.2 + 0.02 * trial);
    const Vec3<> a{normal(rng), normal(rng), normal(rng)};
    GenerationProblem problem{.holds = soles(model)};
    const ik::FrameOn hand = ik::frame_on(model, "gripR");
    problem.tasks = {{2, posture_rows(model, Eigen::VectorXd::Random(model.nv()))},
                     {0, com_rows(model, state, a)},
                     {1, frame_rows(model, state, hand, {{}, {1, 2, 3}}, kPointMask)}};
    const Generated g = generate(model, state, problem);
    CHECK(g.status == GenerationStatus::kTasksMissed);  // the random posture, and nothing before it
    CHECK(g.levels[0].residual < 1e-9);                 // rounding of sums of 1000 N
    CHECK(g.levels[1].residual < 1e-10);
    CHECK(g.levels[2].residual < 1e-10);
    CHECK(g.levels[3].residual > 1e-3);
    const FrameMotion moves = frame_motion(link_motions(model, state, g.vdot), hand.link, hand.X_LF);
    CHECK(norm(moves.A.v - Vec3<>{1, 2, 3}) < 1e-10);
    const Vec3<> sum = g.holds[0].wrench.f + g.holds[1].wrench.f;
    CHECK(norm(sum - model.mass() * (a - model.gravity())) < 1e-8);
  }
}

TEST_CASE("what a floor could not do is reported") {
  const Model model = human28();
  const State state = standing(model);
  GenerationProblem problem{.holds = soles(model)};
  const auto with_com = [&](const Vec3<>& a) {
    problem.tasks = {{0, com_rows(model, state, a)}, {1, posture_rows(model, Eigen::VectorXd::Zero(model.nv()))}};
    return generate(model, state, problem);
  };
  const Generated rest = with_com({});
  for (const HeldReport& hold : rest.holds) {
    CHECK(hold.possible());
    CHECK(std::abs(hold.pressure.z) < 1e-12);
  }
  // Symmetric: half of the weight each, and its centre under the centre of mass.
  CHECK(rest.holds[0].wrench.f.z == doctest::Approx(model.mass() * 9.81 / 2));
  const Generated falls = with_com({0, 0, -12});
  CHECK(!falls.holds[0].pushes);
  CHECK(!falls.holds[0].possible());
  const Generated slides = with_com({9, 0, 0});
  CHECK(slides.holds[0].pushes);
  CHECK(!slides.holds[0].within_cone);
  CHECK(!slides.holds[0].pressure_inside);
  problem.holds[0].grips = problem.holds[1].grips = true;
  CHECK(with_com({0, 0, -12}).holds[0].possible());
}

TEST_CASE("a hold may move, turn its axes and leave directions free") {
  const Model model = human28();
  const State state = standing(model);
  GenerationProblem problem{.holds = soles(model)};
  const double c = std::cos(0.3), s = std::sin(0.3);
  problem.holds[1].axes = {{c, 0, s}, {0, 1, 0}, {-s, 0, c}};
  problem.holds[1].mask = kPointInPlaneMask;
  problem.holds[1].acceleration = {{}, {0, 0, 2}};
  const Generated g = generate(model, state, problem);
  CHECK(g.status == GenerationStatus::kExact);
  const ik::FrameOn& frame = problem.holds[1].frame;
  const Vec3<> a = frame_motion(link_motions(model, state, g.vdot), frame.link, frame.X_LF).A.v;
  const Vec3<> normal{s, 0, c};
  CHECK(dot(a, normal) == doctest::Approx(2 * c));
  const Vec3<> f = g.holds[1].wrench.f;
  CHECK(norm(f - dot(f, normal) * normal) < 1e-9);  // frictionless: along the normal only
}

TEST_CASE("sizes and weights that make no sense are told") {
  const Model model = human28();
  const State state = standing(model);
  GenerationProblem problem;
  problem.tasks = {{0, {"mine", Eigen::MatrixXd(2, 5), Eigen::VectorXd(2)}}};
  CHECK_THROWS_WITH_AS(generate(model, state, problem), doctest::Contains("'mine' has a 2 × 5"), Error);
  problem.tasks.clear();
  problem.weights.force = 0;
  CHECK_THROWS_WITH_AS(generate(model, state, problem), doctest::Contains("positive"), Error);
  problem.weights = {.wish = Eigen::VectorXd(3)};
  CHECK_THROWS_AS(generate(model, state, problem), Error);
  CHECK_THROWS_AS(posture_rows(model, Eigen::VectorXd(3)), Error);
}
