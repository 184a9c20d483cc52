#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace kansetsu {

/// Threads for work in microseconds: inside a job they meet at barriers without the operating system. Between jobs they spin
/// for a while and then sleep, so that a pool that is not used costs nothing. The caller is worker 0.
class SpinPool {
 public:
  explicit SpinPool(int workers);
  SpinPool(const SpinPool&) = delete;
  SpinPool& operator=(const SpinPool&) = delete;
  ~SpinPool();

  int workers() const { return int(threads_.size()) + 1; }

  /// Calls job(w) once for each worker, side by side, and returns when all have. The job must not throw.
  template <class Job>
  void run(Job&& job) {
    run([](void* context, int worker) { (*static_cast<std::remove_reference_t<Job>*>(context))(worker); }, &job);
  }
  /// Inside a job: returns when every worker has come here. All must call it equally often.
  void barrier();

 private:
  using Function = void (*)(void* context, int worker);
  void run(Function function, void* context);
  void serve(int worker);

  std::vector<std::thread> threads_;
  Function function_ = nullptr;  ///< null: time to go
  void* context_ = nullptr;
  alignas(64) std::atomic<unsigned> job_ = 0;
  alignas(64) std::atomic<unsigned> arrived_ = 0;
  alignas(64) std::atomic<unsigned> phase_ = 0;
};

}  // namespace kansetsu
