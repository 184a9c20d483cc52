#include "motion/track_plan.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/figures.h"
#include "motion/hull.h"

using namespace kansetsu;

namespace {

/// human28 as it stands at ease, moved by a function of time.
template <class Move>
Clip standing(const Model& model, const Biped& biped, double duration, Move move) {
  Clip clip;
  const int n = int(duration * 200) + 1;
  clip.q.resize(model.nq(), n);
  for (int k = 0; k < n; ++k) {
    clip.times.push_back(k / 200.0);
    clip.q.col(k) = biped.posture;
    clip.q.col(k).head<3>() += move(k / 200.0);
  }
  return clip;
}

}  // namespace

TEST_CASE("the nearest point of a hull is inside it, on its rim or at its corner") {
  const std::vector<Vec3<>> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const auto near = [&](const Vec3<>& p, const Vec3<>& wanted) {
    return norm(nearest_in_hull(square, p) - wanted) < 1e-12;
  };
  CHECK(near({0.3, 0.4, 2}, {0.3, 0.4, 2}));
  CHECK(near({0.3, -5, 0}, {0.3, 0, 0}));
  CHECK(near({3, 4, 0}, {1, 1, 0}));
  CHECK(norm(nearest_in_hull(std::span(square).first(1), {3, 4, 0})) < 1e-12);
  CHECK(distance_to_hull(square, {4, 5, 0}) == doctest::Approx(5));
}

TEST_CASE("who stands still is planned to stand still") {
  const Model model = human28();
  const Biped biped = biped_of(model);
  const TrackPlan plan =
      plan_track(model, biped, standing(model, biped, 1, [](double) { return Eigen::Vector3d(0, 0, 0); }), -1, 200);
  const Vec3<> com = center_of_mass(model, biped.posture);
  for (const TrackPlan::Centre& c : plan.centre) {
    CHECK(norm(c.p - com) < 0.01);
    CHECK(norm(c.a) < 0.05);
  }
  CHECK(plan.left.down(100));
  CHECK(!plan.flies(100));
  CHECK(std::isinf(plan.until_flight[0]));
  CHECK(plan.others.empty());
}

TEST_CASE("a plan flies where the clip does, and its mass centre falls there") {
  const Model model = human28();
  const Biped biped = biped_of(model);
  constexpr double kStart = 0.5, kSpeed = 2;
  const double g = norm(model.gravity()), flight = 2 * kSpeed / g;
  const Clip clip = standing(model, biped, 1.4, [&](double t) {
    const double s = t - kStart;
    return Eigen::Vector3d(0, 0, s > 0 && s < flight ? kSpeed * s - 0.5 * g * s * s : 0);
  });
  const TrackPlan plan = plan_track(model, biped, clip, -1, 200);
  const int middle = int((kStart + 0.5 * flight) * 200);
  CHECK(plan.flies(middle));
  CHECK(plan.until_flight[size_t(middle)] == 0);
  CHECK(plan.centre[size_t(middle)].a.z == doctest::Approx(-g).epsilon(0.02));
  CHECK(plan.until_flight[40] == doctest::Approx(0.3).epsilon(0.2));
  CHECK(!plan.flies(20));
}
