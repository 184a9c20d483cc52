#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "kansetsu/spatial/inertia.h"
#include "kansetsu/spatial/pack.h"
#include "kansetsu/spatial/quaternion.h"

/// What the tests of this module share: random values, distances, comparison of lanes.
namespace kansetsu::test {

/// Random values of a stated seed, components in [−2, 2] unless said.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  double number() { return uniform(-2, 2); }
  Vec3<> vector() { return {number(), number(), number()}; }
  Vec3<> unit_vector() {
    std::normal_distribution<double> normal;
    const Vec3<> v{normal(engine_), normal(engine_), normal(engine_)};
    return (1 / norm(v)) * v;
  }
  Quaternion<> quaternion() {
    std::normal_distribution<double> normal;
    return normalised(Quaternion<>{normal(engine_), normal(engine_), normal(engine_), normal(engine_)});
  }
  Mat3<> rotation() { return to_mat3(quaternion()); }
  Mat3<> matrix() { return {vector(), vector(), vector()}; }
  Sym3<> symmetric() { return {number(), number(), number(), number(), number(), number()}; }
  /// Positive definite with eigenvalues of at least 0.1.
  Sym3<> positive() {
    const Mat3<> m = matrix();
    return to_sym3(times_transpose(m, m)) + Sym3<>::diagonal(0.1, 0.1, 0.1);
  }
  Transform<> transform() { return {rotation(), vector()}; }
  Motion<> motion() { return {vector(), vector()}; }
  Force<> force() { return {vector(), vector()}; }
  Inertia<> inertia() { return make_inertia(uniform(0.1, 3), vector(), positive()); }
  ArticulatedInertia<> articulated() { return {symmetric(), matrix(), symmetric()}; }

 private:
  std::mt19937_64 engine_;
};

/// The numbers of a struct of T, in order.
template <class T, class V>
auto numbers(const V& value) {
  return std::bit_cast<std::array<T, sizeof(V) / sizeof(T)>>(value);
}

/// Largest difference of components.
template <class V>
double distance(const V& a, const V& b) {
  const auto x = numbers<double>(a), y = numbers<double>(b);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = std::abs(x[i] - y[i]);
    if (!(d <= largest)) largest = d;  // a NaN stays
    if (std::isnan(d)) return d;
  }
  return largest;
}

using Lanes = Pack<double, 4>;

/// Requires that lane `lane` of a result on packs has the bits of the scalar result.
template <class PackValue, class Value>
void require_same_bits(const PackValue& pack_value, int lane, const Value& value) {
  const auto packs = numbers<Lanes>(pack_value);
  const auto scalars = numbers<double>(value);
  static_assert(packs.size() == scalars.size());
  for (std::size_t i = 0; i < packs.size(); ++i)
    REQUIRE(std::bit_cast<std::uint64_t>(double(packs[i][lane])) == std::bit_cast<std::uint64_t>(scalars[i]));
}

/// Four values of a struct of double as one struct of packs.
template <class PackValue, class Value>
PackValue pack(const std::array<Value, 4>& values) {
  std::array<Lanes, sizeof(Value) / sizeof(double)> packs;
  for (int lane = 0; lane < 4; ++lane) {
    const auto scalars = numbers<double>(values[std::size_t(lane)]);
    for (std::size_t i = 0; i < packs.size(); ++i) packs[i].set(lane, scalars[i]);
  }
  return std::bit_cast<PackValue>(packs);
}

}  // namespace kansetsu::test
