#include "model_handle.h"

#include <fmt/format.h>
#include <pthread.h>

#include "errors.h"

namespace kansetsu::python {
namespace {

std::atomic<unsigned> forks = 0;

constexpr size_t kMostKept = 4;  // idle batches of one model
constexpr int kMostThreads = 1024;

}  // namespace

unsigned fork_count() {
  static const bool watched = [] { return pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0; }();
  return watched ? forks.load(std::memory_order_relaxed) : 0;
}

Scratch::Scratch(const Model& model) : state(model), work(model), aba(model), external(model), poses(model) {}

ModelHandle::~ModelHandle() {
  for (std::atomic<Scratch*>& slot : spare_) delete slot.load();
  // Threads that a fork left behind cannot be joined.
  for (auto& kept : doubles_) {
    if (kept->forks != fork_count()) (void)kept.release();
  }
  for (auto& kept : floats_) {
    if (kept->forks != fork_count()) (void)kept.release();
  }
}

Scratch* ModelHandle::take() {
  for (std::atomic<Scratch*>& slot : spare_) {
    if (!slot.load(std::memory_order_relaxed)) continue;
    if (Scratch* found = slot.exchange(nullptr, std::memory_order_acquire)) return found;
  }
  return new Scratch(model);
}

void ModelHandle::give_back(Scratch* scratch) {
  for (std::atomic<Scratch*>& slot : spare_) {
    Scratch* none = nullptr;
    if (slot.compare_exchange_strong(none, scratch, std::memory_order_release, std::memory_order_relaxed)) return;
  }
  delete scratch;
}

template <class Real>
std::unique_ptr<ModelHandle::Kept<Real>> ModelHandle::take_batch(int threads) {
  if (threads < 0 || threads > kMostThreads)
    raise_value(fmt::format("threads is {}, expected 0 (one per core) to {}", threads, kMostThreads));
  {
    const std::lock_guard lock(mutex_);
    Pool<Real>& kept = pool<Real>();
    for (size_t i = kept.size(); i-- > 0;) {
      if (kept[i]->forks != fork_count()) {
        (void)kept[i].release();
        kept.erase(kept.begin() + std::ptrdiff_t(i));
      } else if (kept[i]->threads == threads) {
        std::unique_ptr<Kept<Real>> found = std::move(kept[i]);
        kept.erase(kept.begin() + std::ptrdiff_t(i));
        return found;
      }
    }
  }
  return std::make_unique<Kept<Real>>(model, threads);
}

template <class Real>
void ModelHandle::keep_batch(std::unique_ptr<Kept<Real>> kept) {
  const std::lock_guard lock(mutex_);
  Pool<Real>& all = pool<Real>();
  all.push_back(std::move(kept));
  if (all.size() > kMostKept) all.erase(all.begin());
}

template std::unique_ptr<ModelHandle::Kept<double>> ModelHandle::take_batch(int);
template std::unique_ptr<ModelHandle::Kept<float>> ModelHandle::take_batch(int);
template void ModelHandle::keep_batch(std::unique_ptr<Kept<double>>);
template void ModelHandle::keep_batch(std::unique_ptr<Kept<float>>);

}  // namespace kansetsu::python
