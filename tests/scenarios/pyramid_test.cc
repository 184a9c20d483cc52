#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"

/// Large structures at rest: forces that hold them are those of the last step.
namespace kansetsu {
namespace {

/// Unit boxes of 100 kg: `base` of them in the lowest row, each row half a box further in, a hundredth of a box between neighbours.
World pyramid(int base) {
  World world(WorldOptions{.time_step = 1.0 / 240});
  world.add_fixed(Plane{}, {}, {}, "floor");
  for (int row = 0; row < base; ++row) {
    for (int i = 0; i + row < base; ++i) {
      const std::string name = "b" + std::to_string(row) + "_" + std::to_string(i);
      const Model model = value_or_throw(Model::build(make_body(name, Box{{1, 1, 1}}, 100, {}).model));
      State state(model);
      state.q[0] = 1.01 * (i + 0.5 * row), state.q[2] = 0.5 + row;
      world.add(model, state);
    }
  }
  return world;
}

std::vector<Vec3<>> forces(const World& world) {
  std::vector<Vec3<>> out;
  for (const ContactReport& c : world.report().contacts) out.push_back(c.wrench.f);
  return out;
}

}  // namespace

TEST_CASE("a pyramid at rest keeps its forces, and solves no system for them") {
  World world = pyramid(10);
  world.advance(0.1);
  const std::vector<Vec3<>> before = forces(world);
  int systems = 0;
  for (int n = 0; n < 48; ++n) {
    world.step();
    for (const ContactReport& c : world.report().contacts) systems = std::max(systems, c.solves);
  }
  CHECK(systems == 0);
  REQUIRE(world.report().asleep == 0);  // they have not been at rest for long enough
  const std::vector<Vec3<>> after = forces(world);
  REQUIRE(after.size() == before.size());
  double change = 0;
  for (size_t i = 0; i < after.size(); ++i) change = std::max(change, norm(after[i] - before[i]));
  const double weight = 55 * 100 * 9.81;
  CHECK(change < 1e-4 * weight);         // residuals of 1e-5 of g·h in each of ten rows
  CHECK(world.kinetic_energy() < 1e-8);  // [J] what counts as rest
  CHECK(world.report().tiers[int(ContactTier::kUnsolved)] == 0);
}

}  // namespace kansetsu
