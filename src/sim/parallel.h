#pragma once

#include <algorithm>
#include <atomic>

#include "base/thread_pool.h"

namespace kansetsu {

/// Calls job(i) for i in [0, count) on all threads of a pool, or on this thread if there is none. Jobs share nothing, so that their
/// order does not matter; none of them uses the pool.
template <class Job>
void for_each(ThreadPool* pool, int count, Job&& job) {
  if (!pool || count < 2) {
    for (int i = 0; i < count; ++i) job(i);
    return;
  }
  constexpr int kTakes = 8;  // per worker: few enough to be cheap, many enough to balance
  const int take = std::max(1, count / (kTakes * pool->workers()));
  std::atomic<int> next = 0;
  pool->run(std::min(pool->workers(), count), [&](int) {
    for (int i = next.fetch_add(take); i < count; i = next.fetch_add(take)) {
      for (int k = i; k < std::min(i + take, count); ++k) job(k);
    }
  });
}

}  // namespace kansetsu
