#include <new>
#include <utility>

#include "kansetsu/base/error.h"
#include "kansetsu/model/model.h"
#include "model/tree.h"

namespace kansetsu {
namespace {
constexpr std::align_val_t kAlignment{64};
}

Workspace::Workspace(const Model& model) : size_(model.tree().scratch * sizeof(double)) {
  memory_ = static_cast<std::byte*>(::operator new(size_, kAlignment));
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
  if (memory_) ::operator delete(memory_, kAlignment);
}

}  // namespace kansetsu
