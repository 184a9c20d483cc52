#include "base/spin_pool.h"

#include <string>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits until `value` is no longer `old`. After some 50 µs the processor is offered to others: where there are more threads
/// than processors, the one that is waited for may need it.
constexpr int kSpins = 2000;
void wait_while(const std::atomic<unsigned>& value, unsigned old) {
  for (int spins = 0; value.load(std::memory_order_acquire) == old; ++spins) {
    if (spins < kSpins) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

SpinPool::SpinPool(int workers) {
  for (int w = 1; w < workers; ++w) {
    try {
      threads_.emplace_back([this, w] { serve(w); });
    } catch (const std::system_error& e) {
      function_ = nullptr;
      job_.fetch_add(1, std::memory_order_release);
      job_.notify_all();
      for (std::thread& thread : threads_) thread.join();
      throw Error("cannot start thread " + std::to_string(w + 1) + " of " + std::to_string(workers) + ": " + e.what());
    }
  }
}

SpinPool::~SpinPool() {
  function_ = nullptr;
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SpinPool::barrier() {
  const unsigned count = unsigned(workers());
  if (count == 1) return;
  const unsigned phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  wait_while(phase_, phase);
}

void SpinPool::serve(int worker) {
  for (unsigned heard = 0;;) {
    for (int spins = 0; spins < kSpins && job_.load(std::memory_order_acquire) == heard; ++spins) relax();
    job_.wait(heard, std::memory_order_acquire);
    heard = job_.load(std::memory_order_acquire);
    if (!function_) return;
    function_(context_, worker);
    barrier();
  }
}

void SpinPool::run(Function function, void* context) {
  if (threads_.empty()) {
    function(context, 0);
    return;
  }
  function_ = function;
  context_ = context;
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
  function(context, 0);
  barrier();  // all are done
}

}  // namespace kansetsu
