#include "kansetsu/motion/parametric.h"

#include <doctest/doctest.h>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/task.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/motion/analysis.h"

using namespace kansetsu;

namespace {

Transform<> frame(const Model& model, const Clip& clip, int k, const char* name) {
  const ik::FrameOn on = ik::frame_on(model, name);
  return fk(model, clip.q.col(k))[on.link] * on.X_LF;
}

/// Largest distance of a frame from where it is at the start.
double strays(const Model& model, const Clip& clip, const char* name) {
  double most = 0;
  for (int k = 0; k < clip.frames(); ++k)
    most = std::max(most, norm(frame(model, clip, k, name).p - frame(model, clip, 0, name).p));
  return most;
}

void check_limits(const Model& model, const Clip& clip) {
  for (int k = 0; k < clip.frames(); ++k) {
    CHECK((clip.q.col(k) - model.lower_position()).minCoeff() > -1e-9);
    CHECK((model.upper_position() - clip.q.col(k)).minCoeff() > -1e-9);
  }
}

/// Largest change of the acceleration from one frame to the next [rad/s², m/s²].
double jolt(const Model& model, const Clip& clip) {
  double most = 0;
  Eigen::VectorXd before;
  for (int k = 1; k + 1 < clip.frames(); ++k) {
    const double h = clip.times[size_t(k)] - clip.times[size_t(k) - 1];
    const Eigen::VectorXd a =
        (difference(model, clip.q.col(k), clip.q.col(k + 1)) - difference(model, clip.q.col(k - 1), clip.q.col(k))) /
        (h * h);
    if (before.size()) most = std::max(most, (a - before).cwiseAbs().maxCoeff());
    before = a;
  }
  return most;
}

}  // namespace

TEST_CASE("a squat goes as deep as told, over feet that stand still") {
  const Model model = human28();
  const SquatOptions options{.depth = 0.25, .period = 1.5, .count = 3, .pause = 0.2, .rate = 120};
  const Clip clip = squat(model, options);
  REQUIRE(!clip_problem(model, clip));
  CHECK(clip.duration() == doctest::Approx(3 * 1.7 + 0.2));
  CHECK(clip.q(2, 0) - clip.q.row(2).minCoeff() == doctest::Approx(0.25).epsilon(1e-6));
  // Tasks are met to 1e-10 each.
  CHECK(strays(model, clip, "soleL") < 1e-9);
  CHECK(strays(model, clip, "soleR") < 1e-9);
  CHECK(std::abs(frame(model, clip, 0, "soleL").p.z) < 1e-8);
  const Analysis a = analyze(model, clip, {});
  for (const std::optional<Vec3<>>& zmp : a.zmp) {
    REQUIRE(zmp);
    CHECK(std::abs(zmp->x - 0.045) < 0.006);  // the sole's middle, as near as passes go on
    CHECK(std::abs(zmp->y) < 1e-6);
  }
  check_limits(model, clip);
  CHECK((clip.q.col(0) - clip.q.col(clip.frames() - 1)).norm() < 1e-6);  // up again
  // A smooth fold of the hips by 1.5 rad in 0.75 s gives 4 from frame to frame; a joint that runs into its limit gave 35.
  CHECK(jolt(model, clip) < 6);
}

TEST_CASE("a reach ends at its target") {
  const Model model = human28();
  const ReachOptions options{.hand = "gripL", .target = {0.5, 0.3, 1.1}, .pause = 0.3};
  const Clip clip = reach(model, options);
  REQUIRE(!clip_problem(model, clip));
  const int there = int((0.3 + 1.0 + 0.15) * options.rate);
  CHECK(norm(frame(model, clip, there, "gripL").p - options.target) < 1e-8);
  CHECK(strays(model, clip, "soleR") < 1e-9);
  CHECK((clip.q.col(0) - clip.q.col(clip.frames() - 1)).norm() < 1e-6);
  check_limits(model, clip);
}

TEST_CASE("a swing on the bar keeps its hands where they are; rigid, it keeps its energy") {
  const Model model = human28();
  const Clip clip = bar_swing(model, {.angle = 0.8, .pump = 0, .duration = 2, .rate = 200});
  REQUIRE(!clip_problem(model, clip));
  CHECK(strays(model, clip, "gripL") < 1e-7);  // of the integration
  CHECK(strays(model, clip, "gripR") < 1e-7);
  State state(model);
  double least = 1e9, most = -1e9, left = 0, right = 0;
  for (int k = 1; k + 1 < clip.frames(); ++k) {
    state.q = clip.q.col(k);
    state.v = difference(model, clip.q.col(k - 1), clip.q.col(k + 1)) * 100;
    const Energy e = energy(model, state);
    least = std::min(least, e.kinetic + e.potential);
    most = std::max(most, e.kinetic + e.potential);
    left = std::min(left, center_of_mass(model, state.q).x);
    right = std::max(right, center_of_mass(model, state.q).x);
  }
  CHECK(most - least < 0.05);  // [J] central differences err by h²·jerk/6: 1e-4 of 300 J
  CHECK(right > 0.6);
  CHECK(left == doctest::Approx(-right).epsilon(0.02));
  // Pumping makes the swing higher.
  const Clip pumped = bar_swing(model, {.angle = 0.4, .pump = 0.5, .duration = 6});
  double first = 0, last = 0;
  for (int k = 0; k < pumped.frames(); ++k) {
    const double x = std::abs(center_of_mass(model, pumped.q.col(k)).x);
    (pumped.times[size_t(k)] < 2 ? first : last) = std::max(pumped.times[size_t(k)] < 2 ? first : last, x);
  }
  CHECK(last > first + 0.05);
  CHECK(strays(model, pumped, "gripL") < 1e-6);
}

TEST_CASE("what cannot be done is told with numbers") {
  const Model model = human28();
  CHECK_THROWS_WITH_AS(squat(model, {.depth = 2}), doctest::Contains("cannot follow"), Error);
  CHECK_THROWS_WITH_AS(squat(model, {.depth = -1}), doctest::Contains("depth must be positive, not -1"), Error);
  CHECK_THROWS_WITH_AS(squat(model, {.pause = -1}), doctest::Contains("pause"), Error);
  CHECK_THROWS_WITH_AS(squat(chain(4, Base::kFree)), doctest::Contains("no frame 'soleL'"), Error);
  CHECK_THROWS_WITH_AS(reach(model, {.target = {9, 0, 0}}), doctest::Contains("cannot follow"), Error);
  CHECK_THROWS_WITH_AS(reach(model, {.hand = "paw"}), doctest::Contains("paw"), Error);
  CHECK_THROWS_WITH_AS(bar_swing(human28_ball()), doctest::Contains("hipL_y"), Error);
  CHECK_THROWS_WITH_AS(bar_swing(model, {.angle = 3}), doctest::Contains("1.5 rad"), Error);
}
