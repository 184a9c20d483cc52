#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <array>

using namespace kansetsu;

TEST_CASE("thread pool: every worker is called once per run") {
  for (int workers : {1, 2, 5}) {
    ThreadPool pool(workers);
    CHECK(pool.workers() == workers);
    for (int run = 0; run < 200; ++run) {
      const int wanted = 1 + run % workers;
      std::array<std::atomic<int>, 5> calls{};
      pool.run(wanted, [&](int worker) { ++calls[size_t(worker)]; });
      for (int w = 0; w < 5; ++w) REQUIRE(calls[size_t(w)] == (w < wanted ? 1 : 0));
    }
  }
}

TEST_CASE("thread pool: worker 0 is the caller, and no more are called than there are") {
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::thread::id first, second;
  std::atomic<int> calls = 0;
  pool.run(9, [&](int worker) {
    (worker == 0 ? first : second) = std::this_thread::get_id();
    ++calls;
  });
  CHECK(calls == 2);
  CHECK(first == caller);
  CHECK(second != caller);
}
