#include "base/thread_pool.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "kansetsu/base/error.h"

namespace kansetsu {

ThreadPool::ThreadPool(int workers) {
  for (int w = 1; w < workers; ++w) {
    others_.push_back(std::make_unique<Other>());
    Other& other = *others_.back();
    try {
      other.thread = std::thread([this, w, &other] { serve(w, other); });
    } catch (const std::system_error& e) {
      others_.pop_back();
      stop();
      throw Error("cannot start thread " + std::to_string(w + 1) + " of " + std::to_string(workers) + ": " + e.what());
    }
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::serve(int worker, Other& other) {
  for (unsigned heard = 0;;) {
    other.bell.wait(heard, std::memory_order_acquire);
    heard = other.bell.load(std::memory_order_acquire);
    if (!function_) return;
    function_(context_, worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void ThreadPool::ring(Other& other) {
  other.bell.fetch_add(1, std::memory_order_release);
  other.bell.notify_one();
}

void ThreadPool::stop() {
  function_ = nullptr;
  for (const auto& other : others_) {
    ring(*other);
    other->thread.join();
  }
}

void ThreadPool::run(int workers, Function function, void* context) {
  const int helpers = std::clamp(workers, 1, this->workers()) - 1;
  function_ = function;
  context_ = context;
  busy_.store(helpers, std::memory_order_relaxed);  // seen with the bell
  for (int w = 0; w < helpers; ++w) ring(*others_[size_t(w)]);
  function(context, 0);
  for (int left = busy_.load(std::memory_order_acquire); left > 0; left = busy_.load(std::memory_order_acquire)) {
    busy_.wait(left, std::memory_order_acquire);
  }
}

}  // namespace kansetsu
