#include "sim/soundness.h"

#include <doctest/doctest.h>

#include <limits>

#include "stage_support.h"

namespace kansetsu {

using namespace stage;

TEST_CASE("a coordinate that turns kMostTurning in a step, or a base above kFastestBase, is not sound") {
  for (const double side : {0.99, 1.01}) {
    WorldState world(world_options());
    FigureData& f = add_ball(world, 0);
    f.v[0] = side * threshold::kMostTurning / kStep;
    CHECK((find_unsound(world) == &f) == (side > 1));
    f.v[0] = 0, f.v[4] = side * threshold::kFastestBase;
    CHECK((find_unsound(world) == &f) == (side > 1));
    f.nap = 0;
    CHECK(find_unsound(world) == nullptr);
  }
}

TEST_CASE("the fault names the time, the figure, its worst coordinate and the connection that carries most") {
  WorldState world(world_options());
  FigureData& f = add_ball(world, 0);
  join(world, -1, 0, {.name = "weak"}).wrench.f = {1, 0, 0};
  join(world, -1, 0, {.name = "strong"}).wrench.f = {5, 0, 0};
  world.time = 0.25;
  f.v[1] = 1e9;
  const std::string text = describe_fault(world, f);
  for (const char* word : {"0.25", "body0", "base.omega_y", "1e+09", "'strong'", "5 N"}) {
    CAPTURE(text);
    CHECK(text.find(word) != std::string::npos);
  }
}

TEST_CASE("a torque that is not finite is named, of both that are set and that wrenches make") {
  WorldState world(world_options());
  FigureData& f = add(world, rod());
  CHECK(torque_fault(world).empty());
  f.torque[0] = std::numeric_limits<double>::infinity();
  CHECK(torque_fault(world).find("'hinge'") != std::string::npos);
  f.torque[0] = 0, f.external[0] = std::numeric_limits<double>::quiet_NaN(), f.has_external = true;
  CHECK(!torque_fault(world).empty());
}

}  // namespace kansetsu
