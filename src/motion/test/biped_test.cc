#include "kansetsu/motion/biped.h"

#include <doctest/doctest.h>

#include "kansetsu/model/figures.h"
#include "kansetsu/motion/walk.h"

using namespace kansetsu;

TEST_CASE("biped: human28 stands with bent knees, soles flat, the centre of mass above them") {
  const Model model = human28();
  const FoundBiped found = find_biped(model);
  REQUIRE(found.biped);
  const Biped& b = *found.biped;
  CHECK(model.link(b.left.link).name == "FootL");
  CHECK(model.link(b.trunk).name == "UpperBody");
  CHECK(std::abs(b.left.half_length - 0.095) < 1e-12);  // the sole of the spec's section 9
  CHECK(std::abs(b.left.half_width - 0.06) < 1e-12);
  const LinkPoses poses = fk(model, b.posture);
  for (const bool left : {true, false}) {
    const Transform<> X = poses[b.sole(left).link] * b.sole(left).X_LS;
    CHECK(std::abs(X.p.z) < 1e-7);
    CHECK(X.R.z.z > 1 - 1e-12);
  }
  const Vec3<> com = center_of_mass(model, b.posture);
  CHECK(std::abs(com.x) + std::abs(com.y) < 1e-7);
  CHECK(std::abs(poses[b.pelvis].p.z - 0.83) < 1e-7);  // 0.88 m less the crouch of 0.05 m
}

TEST_CASE("biped: what cannot walk says why") {
  CHECK(find_biped(pendulum()).problem.find("fixed") != std::string::npos);
  CHECK(find_biped(chain(4, Base::kFree)).problem.find("soleL") != std::string::npos);
  CHECK(!find_biped(human28(), 0.85).biped);
}

TEST_CASE("terrain: heights, and footholds that are wholly on one step") {
  const Terrain stairs{.stair_rise = 0.15, .stair_run = 0.4, .stair_start = 1, .stair_count = 3};
  CHECK(stairs.height(0.99) == 0);
  CHECK(stairs.height(1.01) == doctest::Approx(0.15));
  CHECK(stairs.height(9) == doctest::Approx(0.45));
  CHECK(stairs.foothold(0.5, 0.1) == 0.5);
  CHECK(stairs.foothold(0.97, 0.1) == doctest::Approx(0.88));
  CHECK(stairs.foothold(1.05, 0.1) == doctest::Approx(1.12));
  CHECK(stairs.foothold(2.5, 0.1) == 2.5);
  const Terrain slope{.slope = 0.1};
  CHECK(slope.height(2) == doctest::Approx(2 * std::tan(0.1)));
  CHECK(slope.even_grade(1) == doctest::Approx(std::tan(0.1)));
  CHECK(slope.foothold(1.05, 0.1) == 1.05);
}
