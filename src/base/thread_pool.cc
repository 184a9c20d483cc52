#include "base/thread_pool.h"

#include <algorithm>

namespace kansetsu {

ThreadPool::ThreadPool(int workers) {
  for (int w = 1; w < workers; ++w) {
    others_.push_back(std::make_unique<Other>());
    others_.back()->thread = std::thread([this, w, other = others_.back().get()] {
      for (unsigned heard = 0;;) {
        other->bell.wait(heard, std::memory_order_acquire);
        heard = other->bell.load(std::memory_order_acquire);
        if (!function_) return;
        function_(context_, w);
        if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
      }
    });
  }
}

ThreadPool::~ThreadPool() {
  function_ = nullptr;
  for (auto& other : others_) {
    other->bell.fetch_add(1, std::memory_order_release);
    other->bell.notify_one();
    other->thread.join();
  }
}

void ThreadPool::run(int workers, Function function, void* context) {
  const int helpers = std::clamp(workers, 1, this->workers()) - 1;
  function_ = function;
  context_ = context;
  busy_.store(helpers, std::memory_order_relaxed);
  for (int w = 0; w < helpers; ++w) {
    others_[size_t(w)]->bell.fetch_add(1, std::memory_order_release);
    others_[size_t(w)]->bell.notify_one();
  }
  function(context, 0);
  for (int left = busy_.load(std::memory_order_acquire); left > 0; left = busy_.load(std::memory_order_acquire)) {
    busy_.wait(left, std::memory_order_acquire);
  }
}

}  // namespace kansetsu
