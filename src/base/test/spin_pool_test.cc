#include "base/spin_pool.h"

#include <doctest/doctest.h>

#include <array>

using namespace kansetsu;

TEST_CASE("every worker runs every job once, and nobody passes a barrier early") {
  for (int workers : {1, 2, 3, 5}) {
    CAPTURE(workers);
    SpinPool pool(workers);
    CHECK(pool.workers() == workers);
    std::array<int, 8> steps{};
    int errors = 0;
    for (int round = 0; round < 200; ++round) {
      pool.run([&](int w) {
        for (int k = 0; k < 5; ++k) {
          ++steps[size_t(w)];
          pool.barrier();
          const int expected = 5 * round + k + 1;
          for (int other = 0; other < workers; ++other) {
            if (w == 0 && steps[size_t(other)] != expected) ++errors;
          }
          pool.barrier();
        }
      });
    }
    CHECK(errors == 0);
    for (int w = 0; w < workers; ++w) CHECK(steps[size_t(w)] == 1000);
  }
}
