#include "no_alloc.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

using kansetsu::test::allocations_in;
using kansetsu::test::NoAllocScope;

namespace {

/// Where pointers go so that the optimiser cannot drop an allocation together with its release.
void* volatile sink = nullptr;

struct alignas(128) Overaligned {
  double value[16];
};

struct Allocator {
  const char* name;
  std::function<void()> call;
  std::size_t count;
};

void keep_and_free(void* memory) {
  sink = memory;
  std::free(sink);
}

}  // namespace

TEST_CASE("every way to allocate is counted") {
  const std::vector<Allocator> allocators = {
      {"malloc", [] { keep_and_free(std::malloc(24)); }, 1},
      {"calloc", [] { keep_and_free(std::calloc(3, 8)); }, 1},
      {"malloc, realloc", [] { keep_and_free(std::realloc(std::malloc(8), 4096)); }, 2},
      {"aligned_alloc", [] { keep_and_free(std::aligned_alloc(64, 128)); }, 1},
      {"memalign", [] { keep_and_free(memalign(64, 128)); }, 1},
      {"posix_memalign",
       [] {
         void* memory = nullptr;
         if (posix_memalign(&memory, 64, 128) == 0) {
           keep_and_free(memory);
         }
       },
       1},
      {"new",
       [] {
         auto* number = new int(7);
         sink = number;
         delete number;
       },
       1},
      {"new, aligned",
       [] {
         auto* block = new Overaligned;
         sink = block;
         delete block;
       },
       1},
      {"std::string in libstdc++", [] { sink = const_cast<char*>(std::string(200, 'x').c_str()); }, 1},
  };
  for (const Allocator& allocator : allocators) {
    CAPTURE(allocator.name);
    const std::size_t count = allocations_in(allocator.call);
    CHECK(count == (NoAllocScope::counts() ? allocator.count : 0));
  }
}

TEST_CASE("memory from the counted functions is usable and aligned as asked") {
  void* memory = nullptr;
  REQUIRE(posix_memalign(&memory, 256, 1000) == 0);
  CHECK(reinterpret_cast<std::size_t>(memory) % 256 == 0);
  std::free(memory);

  auto* zeros = static_cast<unsigned char*>(std::calloc(100, 1));
  REQUIRE(zeros != nullptr);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(zeros[i] == 0);
  }
  std::free(zeros);
}

TEST_CASE("code without allocations counts zero, and scopes nest") {
  double numbers[8] = {};
  const NoAllocScope outer;
  const std::size_t none = allocations_in([&] { numbers[3] += 1.0; });
  const std::size_t inner = allocations_in([] { keep_and_free(std::malloc(1)); });
  keep_and_free(std::malloc(1));
  const std::size_t all = outer.count();

  CHECK(none == 0);
  CHECK(inner == (NoAllocScope::counts() ? 1 : 0));
  CHECK(all == (NoAllocScope::counts() ? 2 : 0));
  CHECK(numbers[3] == 1.0);
}

TEST_CASE("other threads are not counted") {
  std::size_t before = 0;
  std::size_t after = 0;
  {
    std::thread worker;
    const NoAllocScope scope;
    worker = std::thread([] {
      for (int i = 0; i < 100; ++i) {
        keep_and_free(std::malloc(64));
      }
    });
    before = scope.count();  // starting a thread allocates here
    worker.join();
    after = scope.count();
  }
  CHECK(after == before);
}
