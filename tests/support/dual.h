#pragma once

#include <cmath>

#include "kansetsu/spatial/scalar.h"

/// Forward-mode dual number x + ε·d, as one more scalar type for the kernels: its ε part is the exact directional
/// derivative of whatever a kernel computes. For tests only.
namespace kansetsu::test {

struct Dual {
  double x = 0, d = 0;

  Dual() = default;
  Dual(double value) : x(value) {}
  Dual(double value, double derivative) : x(value), d(derivative) {}

  friend Dual operator+(const Dual& a, const Dual& b) { return {a.x + b.x, a.d + b.d}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.x - b.x, a.d - b.d}; }
  friend Dual operator-(const Dual& a) { return {-a.x, -a.d}; }
  friend Dual operator*(const Dual& a, const Dual& b) { return {a.x * b.x, a.x * b.d + a.d * b.x}; }
  friend Dual operator/(const Dual& a, const Dual& b) { return {a.x / b.x, (a.d - a.x / b.x * b.d) / b.x}; }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.x < b.x; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.x > b.x; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.x <= b.x; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.x == b.x; }
};

inline Dual madd(const Dual& a, const Dual& b, const Dual& c) { return a * b + c; }
inline Dual select(bool mask, const Dual& a, const Dual& b) { return mask ? a : b; }
inline Dual sqrt(const Dual& a) { return {std::sqrt(a.x), a.d / (2 * std::sqrt(a.x))}; }
inline void sincos(const Dual& a, Dual& s, Dual& c) {
  s = {std::sin(a.x), std::cos(a.x) * a.d};
  c = {std::cos(a.x), -std::sin(a.x) * a.d};
}

}  // namespace kansetsu::test

namespace kansetsu {
template <>
struct ScalarOf<test::Dual> {
  using type = double;
};
}  // namespace kansetsu
