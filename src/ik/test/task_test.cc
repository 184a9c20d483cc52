#include "kansetsu/ik/task.h"

#include "kansetsu/base/error.h"
#include "support.h"

using namespace kansetsu;
using namespace kansetsu::ik;
using namespace kansetsu::ik::test;
using Eigen::VectorXd;

namespace {

Transform<> random_pose(std::mt19937_64& rng) { return {to_mat3(uniform_rotation(rng)), uniform_vec3(rng, 1)}; }

FrameOn random_frame(const Model& model, std::mt19937_64& rng) {
  return {LinkId(uniform_index(rng, model.link_count())), random_pose(rng)};
}

/// One task of each kind, with random targets and weights.
std::vector<AnyTask> all_tasks(const Model& model, std::mt19937_64& rng) {
  const Vec3<> w{0.5, 2, 1}, t{1, 0, 1.5};
  MarkerTask markers;
  for (int i = 0; i < 3; ++i) {
    markers.markers.push_back(
        {LinkId(uniform_index(rng, model.link_count())), uniform_vec3(rng, 1), uniform_vec3(rng, 1), 0.7});
  }
  return {PositionTask{random_frame(model, rng), uniform_vec3(rng, 1), w},
          OrientationTask{random_frame(model, rng), random_pose(rng).R, t},
          PoseTask{random_frame(model, rng), random_pose(rng), t, w},
          AxisTask{random_frame(model, rng), {0, 0.6, 0.8}, uniform_direction(rng), 1.3},
          LookAtTask{random_frame(model, rng), {1, 0, 0}, uniform_vec3(rng, 3), 0.8},
          ComTask{uniform_vec3(rng, 1), w},
          RelativePoseTask{random_frame(model, rng), random_frame(model, rng), random_pose(rng), t, w},
          markers,
          PostureTask{random_configuration(model, rng), VectorXd::LinSpaced(model.nv(), 0.5, 2)},
          StayTask{random_frame(model, rng), true, random_pose(rng)}};
}

void check_jacobians(const Model& model, std::mt19937_64& rng) {
  TaskEvaluator evaluator(model);
  const VectorXd q = random_configuration(model, rng);
  for (const AnyTask& task : all_tasks(model, rng)) {
    CAPTURE(task.index());
    const int rows = row_count(task, model);
    VectorXd e(rows), plus(rows), minus(rows);
    TaskEvaluator::RowMajor J(rows, model.nv());
    evaluator.set(q);
    evaluator.rows(task, e, J);
    constexpr double h = 1e-6;
    double worst = 0;
    for (int k = 0; k < model.nv(); ++k) {
      const VectorXd d = h * VectorXd::Unit(model.nv(), k);
      evaluator.set(integrate(model, q, d));
      evaluator.error(task, plus);
      evaluator.set(integrate(model, q, -d));
      evaluator.error(task, minus);
      worst = std::max(worst, ((minus - plus) / (2 * h) - J.col(k)).lpNorm<Eigen::Infinity>());
    }
    // 1e-16/1e-6 from rounding times lengths of a few metres, and h² times third derivatives, large near a turn of π
    CHECK(worst < 2e-7);
  }
}

}  // namespace

TEST_CASE("Jacobians of every task equal central differences, for every joint type") {
  for (const JointTypeInfo& type : joint_table()) {
    if (type.type == JointType::kFixed) continue;
    CAPTURE(std::string(type.name));
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      CAPTURE(seed);
      std::mt19937_64 rng(100 + seed);
      check_jacobians(
          random_tree(seed, {.links = 6, .base = seed % 2 ? Base::kFree : Base::kFixed, .types = {type.type}}), rng);
    }
  }
}

TEST_CASE("Jacobians of every task with gears and mixed joints") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(200 + seed);
    check_jacobians(random_tree(seed, {.links = 12, .gears = 3}), rng);
  }
}

TEST_CASE("an axis that points the other way still knows a way") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  TaskEvaluator evaluator(model);
  const VectorXd q = neutral(model);
  evaluator.set(q);
  const Vec3<> z = evaluator.pose(tool).R.column_z();
  VectorXd e(3);
  TaskEvaluator::RowMajor J(3, model.nv());
  evaluator.rows(AxisTask{tool, {0, 0, 1}, -z}, e, J);
  CHECK(e.norm() > 2);
  CHECK((J.transpose() * e).norm() > 0.1);
}

TEST_CASE("the gradient of a clearance equals central differences") {
  const Model model = arm7();
  TaskEvaluator evaluator(model);
  std::mt19937_64 rng(31);
  const ShapeOn tool{Geometry(Capsule{0.05, 0.1}), model.link_id("link7"), {Mat3<>::identity(), {0, 0, 0.1}}};
  const ShapeOn arm{Geometry(Sphere{0.08}), model.link_id("link2"), {Mat3<>::identity(), {0, 0, 0.2}}};
  const ShapeOn ball{Geometry(Sphere{0.2}), std::nullopt, {Mat3<>::identity(), {0.3, 0.4, 0.5}}};
  for (int trial = 0; trial < 100; ++trial) {
    const Clearance pair{tool, trial % 2 ? arm : ball, 0};
    const VectorXd q = random_configuration(model, rng);
    VectorXd gradient(model.nv()), ignored(model.nv());
    evaluator.set(q);
    evaluator.distance(pair, gradient);
    for (int k = 0; k < model.nv(); ++k) {
      const VectorXd step = 1e-6 * VectorXd::Unit(model.nv(), k);
      evaluator.set(integrate(model, q, step));
      const double plus = evaluator.distance(pair, ignored);
      evaluator.set(integrate(model, q, -step));
      // the end of a capsule is a kink of the second derivative only; 1e-16/1e-6 from rounding
      CHECK(std::abs((plus - evaluator.distance(pair, ignored)) / 2e-6 - gradient[k]) < 1e-5);
    }
  }
}

TEST_CASE("distances of round shapes equal those of points sampled on them") {
  const Model model = arm7();
  TaskEvaluator evaluator(model);
  std::mt19937_64 rng(32);
  VectorXd ignored(model.nv());
  for (int trial = 0; trial < 50; ++trial) {
    const double lengths[2] = {uniform(rng, 0, 1), trial % 5 ? uniform(rng, 0, 1) : 0};
    const Transform<> X[2] = {random_pose(rng), random_pose(rng)};
    evaluator.set(neutral(model));
    const double d = evaluator.distance(
        {{Geometry(Capsule{0.1, lengths[0]}), {}, X[0]}, {Geometry(Capsule{0.2, lengths[1]}), {}, X[1]}}, ignored);
    double least = 1e9;
    for (int i = 0; i <= 200; ++i) {
      for (int j = 0; j <= 200; ++j) {
        const Vec3<> a = X[0] * Vec3<>{0, 0, lengths[0] * (i / 200.0 - 0.5)};
        const Vec3<> b = X[1] * Vec3<>{0, 0, lengths[1] * (j / 200.0 - 0.5)};
        least = std::min(least, norm(a - b) - 0.3);
      }
    }
    CHECK(d <= least + 1e-12);
    CHECK(d > least - 0.006);  // half a step of the grid on both
  }
  CHECK_THROWS_AS(evaluator.distance({{Geometry(Box{{1, 1, 1}})}, {Geometry(Sphere{1})}}, ignored), Error);
}

TEST_CASE("clearances of a model with itself and with an obstacle") {
  ModelDescription d = arm7().description();
  for (LinkDescription& link : d.links) link.collisions.push_back({.shape = Sphere{0.05}});
  d.links.back().collisions.push_back({.shape = Box{{1, 1, 1}}});
  const Model model = value_or_throw(Model::build(d));
  const std::vector<Clearance> own = self_clearances(model, 0.01);
  CHECK(own.size() == 21);  // 28 pairs of 8 links less the 7 that a joint joins; boxes are left out
  CHECK(own.front().least == 0.01);
  CHECK(obstacle_clearances(model, {Geometry(Sphere{0.1})}, 0).size() == 7);  // the base does not move
}
