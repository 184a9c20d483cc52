#pragma once

#include <memory>

namespace kansetsu {

/// Throws Error: the object was moved from and can no longer be used.
[[noreturn]] void throw_moved_from();

/// The object behind an owning pointer; throws Error if it was moved from.
template <class Pointer>
auto& held(const Pointer& pointer) {
  if (!pointer) throw_moved_from();
  return *pointer;
}

/// The implementation object of a movable class: like std::unique_ptr, but use after a move throws Error, and its type must be complete
/// only where it is created, so that the owning class needs no destructor and no move operations.
template <class T>
class Owner {
 public:
  Owner() = default;
  Owner(std::unique_ptr<T> object)  // NOLINT(google-explicit-constructor): as of a pointer
      : object_(object.release(), [](T* made) { delete made; }) {}

  explicit operator bool() const { return object_ != nullptr; }
  T& operator*() const { return held(object_); }
  T* operator->() const { return &held(object_); }

 private:
  std::unique_ptr<T, void (*)(T*)> object_{nullptr, nullptr};
};

}  // namespace kansetsu
