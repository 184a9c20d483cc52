#pragma once

#include <cstddef>
#include <utility>

namespace kansetsu::test {

/// Counts the heap allocations of this thread from construction on: malloc, calloc, realloc, aligned_alloc,
/// posix_memalign, memalign and whatever is built on them (operator new, Eigen). Scopes may nest.
///
/// Read count() before doctest's macros run, which may allocate themselves:
///
///     NoAllocScope scope;
///     aba(model, state, tau, work, out);
///     const std::size_t allocations = scope.count();
///     CHECK(allocations == 0);
class NoAllocScope {
 public:
  NoAllocScope();
  NoAllocScope(const NoAllocScope&) = delete;
  NoAllocScope& operator=(const NoAllocScope&) = delete;

  /// Allocations since construction; 0 where nothing is counted.
  std::size_t count() const;

  /// False under AddressSanitizer, ThreadSanitizer and on systems other than Linux with glibc, where nothing is
  /// counted.
  static bool counts();

 private:
  std::size_t start_;
};

/// While it lives, the allocation of this thread with that number, counted from 1, fails once.
class FailedAllocation {
 public:
  explicit FailedAllocation(std::size_t number);
  ~FailedAllocation();
  FailedAllocation(const FailedAllocation&) = delete;
  FailedAllocation& operator=(const FailedAllocation&) = delete;

  bool happened() const;
};

/// Number of heap allocations while calling f: CHECK(allocations_in([&] { aba(model, state, tau, work, out); }) == 0).
template <class F>
std::size_t allocations_in(F&& f) {
  const NoAllocScope scope;
  std::forward<F>(f)();
  return scope.count();
}

}  // namespace kansetsu::test
