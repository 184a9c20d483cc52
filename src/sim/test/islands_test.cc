#include "sim/islands.h"

#include <doctest/doctest.h>

#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

std::vector<std::vector<int>> figures_of(Islands& islands) {
  std::vector<std::vector<int>> out;
  for (const IslandWork& w : islands) out.push_back(w.figures);
  return out;
}

}  // namespace

TEST_CASE("figures that touch or are connected are one island, those on the same floor are not") {
  WorldState world(world_options());
  add_floor(world);
  for (int i = 0; i < 5; ++i) add_ball(world, 0).q[0] = i < 2 ? 0.2 * i : 1.0 * i;  // 0 and 1 touch
  find_contacts(world);
  join(world, 2, 4);
  join(world, -1, 3);
  Islands islands(world.options.contact);
  find_islands(world, islands);
  CHECK(figures_of(islands) == std::vector<std::vector<int>>{{0, 1}, {2, 4}, {3}});
  CHECK(islands[0].touches.size() == 3);  // two with the floor
  CHECK(islands[1].connections == std::vector<int>{0});
  CHECK(islands[2].connections == std::vector<int>{1});
  CHECK(&islands[1].members[1].get() == world.figures[4].get());
  CHECK(islands[1].mechanics[1] == &world.figures[4]->mechanics);
  CHECK(islands[1].mass() == doctest::Approx(2));
}

TEST_CASE("figures that sleep are in no island, and neither are their contacts and connections") {
  WorldState world(world_options());
  add_floor(world);
  for (int i = 0; i < 3; ++i) add_ball(world, 0).q[0] = i;
  find_contacts(world);
  join(world, 0, 1);
  world.figures[0]->nap = world.figures[1]->nap = 0;
  Islands islands(world.options.contact);
  find_islands(world, islands);
  CHECK(figures_of(islands) == std::vector<std::vector<int>>{{2}});
  CHECK(islands[0].touches.size() == 1);
  CHECK(islands[0].connections.empty());
}

TEST_CASE("an island begins each part of a step with empty accounts") {
  WorldState world(world_options());
  add_ball(world, 1);
  Islands islands(world.options.contact);
  find_islands(world, islands);
  islands[0].account.impact_energy = -1, islands[0].account.impact = true, islands[0].leave = {1};
  find_islands(world, islands);
  CHECK(islands[0].account.impact_energy == 0);
  CHECK(!islands[0].account.impact);
  CHECK(islands[0].leave.empty());
}

}  // namespace kansetsu
