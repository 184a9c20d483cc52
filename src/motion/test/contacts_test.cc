#include "kansetsu/motion/contacts.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/motion/analysis.h"
#include "kansetsu/motion/walk.h"
#include "motion/hull.h"

using namespace kansetsu;

namespace {

/// A figure that stands, 100 frames per second.
Clip standing(const Model& model, int frames) {
  Clip clip{.name = "standing", .q = Eigen::MatrixXd(model.nq(), frames)};
  for (int k = 0; k < frames; ++k) {
    clip.times.push_back(0.01 * k);
    clip.q.col(k) = neutral(model);
    clip.q(2, k) = 0.88;
  }
  return clip;
}

}  // namespace

TEST_CASE("distances to hulls are those seen from above") {
  const std::array<Vec3<>, 5> square{Vec3<>{0, 0, 0}, {1, 0, 3}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 9}};
  CHECK(distance_to_hull(square, {0.5, 0.2, 7}) == 0);
  CHECK(distance_to_hull(square, {2, 0.5, 0}) == doctest::Approx(1));
  CHECK(distance_to_hull(square, {2, 2, 0}) == doctest::Approx(std::sqrt(2)));
  CHECK(distance_to_hull({square.data(), 1}, {3, 4, 0}) == doctest::Approx(5));
  CHECK(distance_to_hull({square.data(), 2}, {0.5, 2, 0}) == doctest::Approx(2));
}

TEST_CASE("the floor is where soles rest, whatever else they do") {
  const Model model = human28();
  Clip clip = standing(model, 300);
  // A third of the time it hops about, far above and a little below.
  for (int k = 0; k < 300; k += 3) clip.q(2, k) += 0.1 + 0.002 * k;
  clip.q.row(2).array() += 0.37;
  const Ground ground = find_ground(model, clip, find_feet(model), 0.05);
  CHECK(ground.height == doctest::Approx(0.37).epsilon(0.001));
  CHECK(!ground.moves());
  const Clip level = on_ground(model, clip, ground);
  CHECK(level.q(2, 1) == doctest::Approx(0.88).epsilon(0.001));
}

TEST_CASE("a walk on a belt has the contacts and forces of the walk on the floor") {
  const Model model = human28();
  const Clip walk = walk_clip(model, {.speed = 1, .distance = 4});
  const double speed = (walk.q(0, walk.frames() - 1) - walk.q(0, 0)) / walk.duration();
  REQUIRE(speed > 0.4);  // it begins and ends at rest
  Clip belt = walk;
  for (int k = 0; k < walk.frames(); ++k) belt.q(0, k) -= speed * walk.times[std::size_t(k)];
  const std::vector<FootContacts> feet = find_feet(model);
  CHECK(!find_ground(model, walk, feet, 0.05).moves());
  const Ground ground = find_ground(model, belt, feet, 0.05);
  CHECK(ground.belt.x == doctest::Approx(-speed).epsilon(0.03));  // soles roll, so that their slowest ends differ
  const Clip back = on_ground(model, belt, {.belt = ground.belt});
  const Analysis a = analyze(model, walk, find_supports(model, walk)),
                 b = analyze(model, back, find_supports(model, back));
  double apart = 0, all = 0;
  for (int k = 0; k < a.frames(); ++k) {
    const std::size_t i = std::size_t(k);
    for (std::size_t s = 0; s < 2; ++s) {
      const Vec3<> d = a.supports[s].wrench[i].f - b.supports[s].wrench[i].f;
      apart += dot(d, d), all += dot(a.supports[s].wrench[i].f, a.supports[s].wrench[i].f);
    }
  }
  CHECK(std::sqrt(apart / all) < 0.02);
}

TEST_CASE("a belt is level where its walk was, and climbs where the treadmill does") {
  const Model model = human28();
  const std::vector<FootContacts> feet = find_feet(model);
  const Clip walk = walk_clip(model, {.speed = 1, .distance = 4});
  const double speed = (walk.q(0, walk.frames() - 1) - walk.q(0, 0)) / walk.duration(), slope = 0.02;
  Clip tilted = walk, climbing = walk;  // over a tilted floor, its velocity taken away; and on a treadmill that climbs
  for (int k = 0; k < walk.frames(); ++k) {
    const double way = speed * walk.times[std::size_t(k)], x = walk.q(0, k);
    tilted.q(0, k) = climbing.q(0, k) = x - way;
    tilted.q(2, k) += slope * x;
    climbing.q(2, k) += slope * (x - way);
  }
  const Ground a = find_ground(model, tilted, feet, 0.05), b = find_ground(model, climbing, feet, 0.05);
  CHECK(a.moves());
  CHECK(a.slope.x == doctest::Approx(slope).epsilon(0.1));
  CHECK(b.moves());
  // The floor is fitted along a belt that is known: the same as that of the walk over ground.
  Clip over_ground = walk;
  for (int k = 0; k < walk.frames(); ++k) over_ground.q(2, k) += slope * walk.q(0, k);
  const Ground known = find_ground(model, tilted, feet, 0.05, Vec3<>{-speed, 0, 0}),
               still = find_ground(model, over_ground, feet, 0.05, Vec3<>{});
  CHECK(known.belt.x == -speed);
  CHECK(!still.moves());
  CHECK(norm(known.slope - still.slope) < 1e-9);  // rounding of sums over the clip
  CHECK(std::abs(known.height - still.height) < 1e-9);
  // Either way who stands at the end is as high as at the beginning, within a tenth of the 8 cm by which the floor rises.
  for (const auto& [clip, ground] : {std::pair{&tilted, &a}, std::pair{&climbing, &b}}) {
    const Clip level = on_ground(model, *clip, *ground);
    const auto last = level.frames() - 1;
    CHECK(std::abs(level.q(2, last) - level.q(2, 0)) < 0.008);
  }
}

TEST_CASE("weight that nothing carries is told, with its frames") {
  const Model model = human28();
  const Clip clip = standing(model, 250);
  std::vector<SupportHistory> supports = find_supports(model, clip);
  const Analysis held = analyze(model, clip, supports);
  CHECK(held.gaps.empty());
  CHECK(held.summary.supported == doctest::Approx(1));
  CHECK(held.summary.unsupported_frames == 0);
  for (SupportHistory& s : supports)
    for (std::size_t k = 100; k < 120; ++k) s.touching[k] = 0;
  const Analysis dropped = analyze(model, clip, supports);
  REQUIRE(dropped.gaps.size() == 1);
  CHECK(dropped.gaps[0].first <= 100);
  CHECK(dropped.gaps[0].last >= 119);
  CHECK(dropped.gaps[0].found < dropped.gaps[0].needed);
  CHECK(dropped.summary.unsupported_frames == doctest::Approx(20. / 250));
}

TEST_CASE("a jump leaves the ground and lands: flight is where nothing is needed") {
  const Model model = human28();
  Clip clip = standing(model, 200);
  // 0.4 s of flight from frame 80 on; the impulses of push and landing fall on single frames, which the filter spreads.
  for (int k = 80; k <= 120; ++k) clip.q(2, k) += 0.5 * 9.81 * (0.04 - std::pow(0.01 * (k - 100), 2));
  const std::vector<FootContacts> feet = find_contacts(model, clip);
  int flying = 0;
  for (int k = 0; k < 200; ++k) flying += !feet[0].down(k) && !feet[1].down(k);
  // Within 40 ms at each end: feet that never slow down tell little.
  CHECK(flying >= 32);
  CHECK(flying <= 48);
}
