#include "motion/motion_quality.h"

#include <doctest/doctest.h>

using namespace kansetsu;

TEST_CASE("quality: a force of one step counts by its mean over 10 ms") {
  MotionQuality quality;
  for (int k = 0; k < 50; ++k) quality.add_force(1e-3, k == 20 ? 1000 : 100);
  CHECK(quality.peak_force() == doctest::Approx(190).epsilon(1e-12));  // (1000 + 9·100)/10
}

TEST_CASE("quality: slides add up during one contact, and begin anew with the next") {
  MotionQuality quality;
  for (int k = 0; k < 3; ++k) quality.add_slide(0, true, 0.01);
  quality.add_slide(0, false, 0);
  for (int k = 0; k < 2; ++k) quality.add_slide(0, true, 0.01), quality.add_slide(1, true, 0.005);
  CHECK(quality.slide() == doctest::Approx(0.03).epsilon(1e-12));
}
