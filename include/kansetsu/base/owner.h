#pragma once

#include <memory>

namespace kansetsu {

/// Throws Error: the object was moved to another, and there is nothing left to use.
[[noreturn]] void throw_moved_from();

/// What a pointer of an object's own holds; throws Error where the object was moved from.
template <class Pointer>
auto& held(const Pointer& pointer) {
  if (!pointer) throw_moved_from();
  return *pointer;
}

/// The inner part of an object that can be moved: std::unique_ptr, but using it after it was moved from throws Error.
template <class T>
class Owner {
 public:
  Owner() = default;
  Owner(std::unique_ptr<T> object)
      : object_(std::move(object)) {}  // NOLINT(google-explicit-constructor): as of a pointer

  explicit operator bool() const { return object_ != nullptr; }
  T& operator*() const { return held(object_); }
  T* operator->() const { return &held(object_); }

 private:
  std::unique_ptr<T> object_;
};

}  // namespace kansetsu
