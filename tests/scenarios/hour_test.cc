#include "hour.h"

#include <doctest/doctest.h>

#include "kansetsu/base/error.h"
#include "kansetsu/model/figures.h"
#include "sanitized.h"

/// Long runs, in short: what script/soak does for an hour.
namespace kansetsu {

TEST_CASE("a long run that is cut off goes on with the same bits, hands joined or not") {
  test::Hour whole(3);
  const int cuts[] = {300, 700, 1500};  // before hands are joined, while they are, after
  std::vector<std::string> saved;
  for (int i = 0; i < 2200; ++i) {
    for (const int cut : cuts) {
      if (i == cut) saved.push_back(whole.save());
    }
    whole.step();
  }
  REQUIRE(whole.world().status() == WorldStatus::kRunning);
  CHECK(whole.world().totals().contacts > 1000);
  for (std::size_t k = 0; k < saved.size(); ++k) {
    CAPTURE(cuts[k]);
    test::Hour again(3, k == 1 ? 2 : 1);  // on other threads, too
    again.restore(saved[k]);
    for (int i = cuts[k]; i < 2200; ++i) again.step();
    CHECK(again.world().hash() == whole.world().hash());
  }
  test::Hour other(2);
  CHECK_THROWS_AS(other.restore(saved[0]), Error);
  CHECK_THROWS_AS(other.restore(saved[0].substr(0, 100)), Error);
  CHECK_THROWS_AS(other.restore("nothing of ours"), Error);
}

TEST_CASE("many steps take no more memory" * doctest::skip(test::kSanitized)) {  // sanitizers keep what is given back
  World world;
  world.add_fixed(Plane{}, {}, {}, "floor");
  const Model model = human28();
  State state(model);
  state.q[2] = 1;
  const FigureId id = world.add(model, state);
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      if (i % 1000 == 0) world.set_state(id, state);  // falls anew, and does not sleep
      world.step();
    }
  };
  run(20'000);  // all memory that it will need
  const std::size_t before = test::heap_in_use();
  run(30'000);
  REQUIRE(world.status() == WorldStatus::kRunning);
  CHECK(test::heap_in_use() <= before + 4096);  // bytes; one number per step would be 240 000
}

}  // namespace kansetsu
