#include "stress.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "data_dir.h"
#include "sanitized.h"

using namespace kansetsu;

TEST_CASE("random worlds thrown on the floor, grabbed and let go, never stop, and none gains energy") {
  const char* folder = std::getenv("KANSETSU_DATA_DIR");
  const std::optional<std::filesystem::path> data =
      folder ? std::optional<std::filesystem::path>(folder) : std::nullopt;
  const int worlds = test::kSanitized ? 4 : 24;  // script/soak makes a thousand of 3 s
  double worst = 0;
  int gained = 0;
  for (int seed = 1; seed <= worlds; ++seed) {
    const test::StressReport report = test::stress(std::uint64_t(seed), 0.5, data);
    CAPTURE(seed);
    CAPTURE(report.world);
    CHECK(report.failure == "");
    gained += report.gain > test::kMostGain * report.scale;
    worst = std::max(worst, report.gain / report.scale);
  }
  MESSAGE("largest gain: ", worst, " of the energy in play; more than ", test::kMostGain, ": ", gained, " worlds");
  CHECK(gained == 0);  // the largest is 4e-4
}

TEST_CASE("[data] chains that are held so that they can move almost in the plane of the floor only do not run off") {
  for (const int seed : {72, 160}) {
    const test::StressReport report = test::stress(std::uint64_t(seed), 3, test::data_dir());
    CAPTURE(seed);
    CHECK(report.failure == "");
    CHECK(report.gain < test::kMostGain * report.scale);
  }
}

TEST_CASE("a step that comes out too long is done in parts, however slow it began") {
  for (const int seed : {104, 226}) {  // light links under strong torques
    const test::StressReport report = test::stress(std::uint64_t(seed), 1, std::nullopt);
    CAPTURE(seed);
    CHECK(report.failure == "");
    CHECK(report.gain < 1e-3 * report.scale);
  }
}

TEST_CASE("[data] what closes gaps of a metre gives no kinetic energy") {
  for (const int seed : {1858, 2711}) {
    const test::StressReport report = test::stress(std::uint64_t(seed), 3, test::data_dir());
    CAPTURE(seed);
    CHECK(report.failure == "");
    CHECK(report.gain < 1e-3 * report.scale);
  }
}
