#include "model/workspace_use.h"

#include <atomic>
#include <new>
#include <thread>
#include <utility>

#include "kansetsu/base/error.h"
#include "model/tree.h"

namespace kansetsu {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kHead = 64;  ///< before the memory: who uses it

using User = std::atomic<std::thread::id>;
static_assert(sizeof(User) <= kHead);

}  // namespace

Workspace::Workspace(const Model& model) : size_(model.tree().scratch * sizeof(double)) {
  auto* head = static_cast<std::byte*>(::operator new(kHead + size_, kAlignment));
  new (head) User();
  memory_ = head + kHead;
}
Workspace::Workspace(Workspace&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
Workspace& Workspace::operator=(Workspace&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  return *this;
}
void Workspace::check(const char* function, const Model& model) const {
  if (size_ >= model.tree().scratch * sizeof(double)) return;
  throw Error(std::string(function) + ": the workspace was made for another, smaller model than '" + model.name() +
              "'");
}
Workspace::~Workspace() {
  if (memory_) ::operator delete(memory_ - kHead, kAlignment);
}

#ifndef NDEBUG
WorkspaceUse::WorkspaceUse(Workspace& work, const char* function, const Model& model) {
  work.check(function, model);
  std::thread::id user{};
  const std::thread::id self = std::this_thread::get_id();
  if (reinterpret_cast<User*>(work.data() - kHead)->compare_exchange_strong(user, self))
    held_ = &work;
  else if (user != self)
    throw Error(std::string(function) + ": another thread is using the workspace; each thread needs one of its own");
}
WorkspaceUse::~WorkspaceUse() {
  if (held_) reinterpret_cast<User*>(held_->data() - kHead)->store({});
}
#endif

}  // namespace kansetsu
