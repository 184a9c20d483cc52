#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace kansetsu {

/// Threads that sleep until there is work. The caller is worker 0, so that a pool of one has no thread of its own.
class ThreadPool {
 public:
  explicit ThreadPool(int workers);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int workers() const { return int(others_.size()) + 1; }

  /// Calls job(w) once for each w in [0, workers), side by side, and returns when all have. The job must not throw.
  template <class Job>
  void run(int workers, Job&& job) {
    run(
        workers, [](void* context, int worker) { (*static_cast<std::remove_reference_t<Job>*>(context))(worker); },
        &job);
  }

 private:
  using Function = void (*)(void* context, int worker);
  /// A thread with a bell of its own: only those that are needed are woken.
  struct Other {
    std::atomic<unsigned> bell = 0;
    std::thread thread;
  };

  void run(int workers, Function function, void* context);
  void serve(int worker, Other& other);
  static void ring(Other& other);
  void stop();

  std::vector<std::unique_ptr<Other>> others_;
  Function function_ = nullptr;  ///< null: time to go
  void* context_ = nullptr;
  std::atomic<int> busy_ = 0;
};

}  // namespace kansetsu
