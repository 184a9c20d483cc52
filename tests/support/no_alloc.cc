#include "no_alloc.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

// The sanitizers bring their own allocator, which must not be replaced.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KANSETSU_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define KANSETSU_TEST_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(KANSETSU_TEST_SANITIZED)
#define KANSETSU_TEST_COUNTS_ALLOCATIONS 1
#endif

namespace {

// Constant-initialised and part of the executable, so that counting needs no memory of its own.
thread_local std::size_t allocation_count = 0;
thread_local std::size_t failing_allocation = 0;  // counted as above; 0: none
thread_local bool allocation_failed = false;

/// Counts an allocation; whether it is the one that fails.
[[maybe_unused]] bool fails() noexcept {
  if (++allocation_count != failing_allocation) return false;
  allocation_failed = true;
  return true;
}

}  // namespace

#ifdef KANSETSU_TEST_COUNTS_ALLOCATIONS

// An executable's definitions win over those of shared libraries, so these serve the whole process. glibc offers its
// own under a second name; unlike dlsym(RTLD_NEXT, …), these can be called before anything is initialised. free()
// stays.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

#define KANSETSU_TEST_EXPORT __attribute__((visibility("default"), used))

KANSETSU_TEST_EXPORT void* malloc(std::size_t size) noexcept { return fails() ? nullptr : __libc_malloc(size); }

KANSETSU_TEST_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
  return fails() ? nullptr : __libc_calloc(count, size);
}

KANSETSU_TEST_EXPORT void* realloc(void* memory, std::size_t size) noexcept {
  return fails() ? nullptr : __libc_realloc(memory, size);
}

KANSETSU_TEST_EXPORT void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

KANSETSU_TEST_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

KANSETSU_TEST_EXPORT int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if (fails()) return ENOMEM;
  const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!power_of_two || alignment % sizeof(void*) != 0) {
    return EINVAL;
  }
  void* result = __libc_memalign(alignment, size);
  if (result == nullptr) {
    return ENOMEM;
  }
  *memory = result;
  return 0;
}

}  // extern "C"

#endif

namespace kansetsu::test {

NoAllocScope::NoAllocScope() : start_(allocation_count) {}

std::size_t NoAllocScope::count() const { return allocation_count - start_; }

FailedAllocation::FailedAllocation(std::size_t number) {
  allocation_failed = false;
  failing_allocation = allocation_count + number;
}
FailedAllocation::~FailedAllocation() { failing_allocation = 0; }
bool FailedAllocation::happened() const { return allocation_failed; }

bool NoAllocScope::counts() {
#ifdef KANSETSU_TEST_COUNTS_ALLOCATIONS
  return true;
#else
  return false;
#endif
}

}  // namespace kansetsu::test
