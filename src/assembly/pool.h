#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace kansetsu {

/// Reusable blocks of numbers by size: nothing is allocated once all sizes have been in use.
class NumberPool {
 public:
  /// 64-byte aligned. @param size  rounded up to a class: eighths of a power of two
  double* take(std::size_t size, int& size_class) {
    size_class = class_of(size);
    if (std::size_t(size_class) >= free_.size()) free_.resize(std::size_t(size_class) + 1);
    std::vector<double*>& free = free_[std::size_t(size_class)];
    if (!free.empty()) {
      double* block = free.back();
      free.pop_back();
      return block;
    }
    const std::size_t n = size_of(size_class);
    if (n > left_) {
      left_ = n > kSlab ? n : kSlab;
      slabs_.push_back(Slab(new (std::align_val_t(64)) double[left_]()));
      next_ = slabs_.back().get();
    }
    double* block = next_;
    next_ += n;
    left_ -= n;
    return block;
  }
  void give(double* block, int size_class) {
    std::vector<double*>& free = free_[std::size_t(size_class)];
    if (free.capacity() == free.size()) free.reserve(2 * free.size() + 64);
    free.push_back(block);
  }
  static std::size_t size_of(int size_class) {
    const int octave = size_class / 8, step = size_class % 8;
    return (std::size_t(8 + step) << octave) * 8;
  }
  static int class_of(std::size_t size) {
    int c = 0;
    while (size_of(c + 8) < size) c += 8;
    while (size_of(c) < size) ++c;
    return c;
  }

 private:
  static constexpr std::size_t kSlab = std::size_t(1) << 17;
  struct Free {
    void operator()(double* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  using Slab = std::unique_ptr<double[], Free>;
  std::vector<Slab> slabs_;
  double* next_ = nullptr;
  std::size_t left_ = 0;
  std::vector<std::vector<double*>> free_;
};

/// Short list of integers with inline storage for a few; grows like a vector and keeps its memory.
class IntList {
 public:
  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int operator[](int i) const { return data()[i]; }
  int& operator[](int i) { return data()[i]; }
  const int* begin() const { return data(); }
  const int* end() const { return data() + count_; }
  int* data() { return more_.empty() ? few_ : more_.data(); }
  const int* data() const { return more_.empty() ? few_ : more_.data(); }

  bool contains(int x) const {
    for (int y : *this) {
      if (x == y) return true;
    }
    return false;
  }
  void clear() { count_ = 0; }
  void push_back(int x) {
    if (more_.empty() && count_ == kFew) {
      more_.resize(4 * kFew);
      for (int i = 0; i < kFew; ++i) more_[std::size_t(i)] = few_[i];
    } else if (!more_.empty() && std::size_t(count_) == more_.size()) {
      more_.resize(2 * more_.size());
    }
    data()[count_++] = x;
  }
  /// Keeps ascending order; true if it was not there.
  bool insert(int x) {
    if (contains(x)) return false;
    push_back(x);
    int* a = data();
    int i = count_ - 1;
    for (; i > 0 && a[i - 1] > x; --i) a[i] = a[i - 1];
    a[i] = x;
    return true;
  }
  bool erase(int x) {
    int* a = data();
    int n = 0;
    for (int i = 0; i < count_; ++i) {
      if (a[i] != x) a[n++] = a[i];
    }
    const bool found = n < count_;
    count_ = n;
    return found;
  }
  template <class Gone>
  void erase_if(const Gone& gone) {
    int* a = data();
    int n = 0;
    for (int i = 0; i < count_; ++i) {
      if (!gone(a[i])) a[n++] = a[i];
    }
    count_ = n;
  }

 private:
  static constexpr int kFew = 6;
  int few_[kFew];
  int count_ = 0;
  std::vector<int> more_;
};

}  // namespace kansetsu
