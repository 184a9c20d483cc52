#include "kansetsu/spatial/sincos.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "kansetsu/spatial/pack.h"

namespace kansetsu {
namespace {

/// |value − exact| in units of the last place of a T at exact.
template <class T>
double ulps(T value, long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int last = std::max(exponent - std::numeric_limits<T>::digits,
                            std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return double(std::abs(static_cast<long double>(value) - exact) / std::ldexp(1.0L, last));
}

/// The larger of the errors of sin and cos, against the 64-bit significand of long double (its own error is 2⁻¹¹ ulp).
template <class T>
double error_ulps(T x) {
  T s, c;
  sincos(x, s, c);
  const auto exact = static_cast<long double>(x);
  return std::max(ulps(s, std::sin(exact)), ulps(c, std::cos(exact)));
}

constexpr double kMaxUlps = 0.85;  // measured 0.77 (double) and 0.80 (float, all floats up to 1e4); the promise is 1

template <class T, int W>
void check_lanes(unsigned seed) {
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> uniform(T(-2e4), T(2e4));
  for (int i = 0; i < 2000; ++i) {
    Pack<T, W> x, s, c;
    for (int lane = 0; lane < W; ++lane) x.set(lane, i % 2 ? uniform(random) : uniform(random) / T(1e4));
    sincos(x, s, c);
    for (int lane = 0; lane < W; ++lane) {
      T sin_x, cos_x;
      sincos(T(x[lane]), sin_x, cos_x);
      using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      REQUIRE(std::bit_cast<Bits>(T(s[lane])) == std::bit_cast<Bits>(sin_x));
      REQUIRE(std::bit_cast<Bits>(T(c[lane])) == std::bit_cast<Bits>(cos_x));
    }
  }
}

TEST_CASE("sincos: double is within 1 ulp in every range of magnitude") {
  const unsigned seed = 11;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const double range : {0.1, std::numbers::pi / 4, 10.0, 1e3, 1e4, 1e5, 1e6}) {
    CAPTURE(range);
    std::uniform_real_distribution<double> uniform(-range, range);
    double worst = 0;
    for (int i = 0; i < 200000; ++i) worst = std::max(worst, error_ulps(uniform(random)));
    CHECK(worst < kMaxUlps);
  }
}

TEST_CASE("sincos: float is within 1 ulp up to 1e4") {
  double worst = 0;
  for (std::uint32_t i = std::bit_cast<std::uint32_t>(1e-4f); i < std::bit_cast<std::uint32_t>(1e4f);
       i += 331)  // every 331st
    worst = std::max(worst, error_ulps(std::bit_cast<float>(i)));
  CHECK(worst < kMaxUlps);
}

TEST_CASE("sincos: the doubles next to multiples of π/2 keep relative accuracy") {
  double worst = 0;
  for (int n = 1; n < 6366; ++n) {  // up to 1e4 rad
    double x = std::nextafter(double(n * (std::numbers::pi_v<long double> / 2)), 0.0);
    for (int i = 0; i < 3; ++i, x = std::nextafter(x, 1e9)) worst = std::max(worst, error_ulps(x));
  }
  CHECK(worst < kMaxUlps);
}

TEST_CASE("sincos: floats next to multiples of π/2 keep relative accuracy") {
  double worst = 0;
  for (int n = 1; n < 6366; ++n) {
    float x = std::nextafter(float(n * (std::numbers::pi / 2)), 0.0f);
    for (int i = 0; i < 3; ++i, x = std::nextafter(x, 1e9f)) worst = std::max(worst, error_ulps(x));
  }
  CHECK(worst < kMaxUlps);
}

TEST_CASE("sincos: the boundaries between quadrants, on both sides") {
  for (int n = -101; n <= 101; n += 2) {
    const double boundary = n * (std::numbers::pi / 4);
    for (const double x : {std::nextafter(boundary, -1e3), boundary, std::nextafter(boundary, 1e3)}) {
      CAPTURE(x);
      CHECK(error_ulps(x) < kMaxUlps);
      CHECK(error_ulps(float(x)) < kMaxUlps);
    }
  }
}

TEST_CASE("sincos: signs of quadrants 0 to 3 and −1 to −4") {
  const int signs_of_sin[] = {1, 1, -1, -1}, signs_of_cos[] = {1, -1, -1, 1};
  for (int n = -4; n < 4; ++n) {
    double s, c;
    sincos((n + 0.5) * (std::numbers::pi / 2), s, c);
    CAPTURE(n);
    CHECK(s * signs_of_sin[n & 3] > 0.7);  // √½ up to rounding
    CHECK(c * signs_of_cos[n & 3] > 0.7);
  }
}

TEST_CASE_TEMPLATE("sincos: zero, tiny, odd and even to the bit", T, double, float) {
  T s, c;
  sincos(T(-0.0), s, c);
  CHECK(std::signbit(s));
  CHECK(s == 0);
  CHECK(c == 1);
  sincos(T(0), s, c);
  CHECK_FALSE(std::signbit(s));
  for (T x = 1; x > 0; x /= 2) {
    T s_minus, c_minus;
    sincos(x, s, c);
    sincos(-x, s_minus, c_minus);
    CHECK(s_minus == -s);
    CHECK(c_minus == c);
    if (x * x < std::numeric_limits<T>::epsilon()) CHECK(s == x);  // x³/6 is below half an ulp of x
  }
}

TEST_CASE("sincos: far arguments lose accuracy, not sense; NaN and ∞ give NaN") {
  double s, c;
  for (const double x : {1e6, 1e7, 1e8, 1e9, 1e12, 3e15}) {
    sincos(x, s, c);
    CHECK(std::abs(s * s + c * c - 1) < 1e-15);  // two roundings of 1 ulp each
    if (x <= 1e9)
      CHECK(std::abs(s - std::sin(x)) < 1e-15 * x);  // the promised growth: products with n are no longer exact
  }
  float sf, cf;
  sincos(1e9f, sf, cf);
  CHECK((std::isfinite(sf) && std::isfinite(cf)));
  for (const double x : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    sincos(x, s, c);
    sincos(float(x), sf, cf);
    CHECK((std::isnan(s) && std::isnan(c) && std::isnan(sf) && std::isnan(cf)));
  }
}

TEST_CASE("sincos: every lane of every width has the bits of the scalar") {
  check_lanes<double, 2>(1);
  check_lanes<double, 4>(2);
  check_lanes<double, 8>(3);
  check_lanes<float, 4>(4);
  check_lanes<float, 8>(5);
  check_lanes<float, 16>(6);
}

TEST_CASE("sincos: several in step have the bits of each alone, also where sines replace the angles") {
  double x[5] = {0.3, -7.5, 1e4, -0.0, 2e-9}, s[5], c[5], expected_s[5], expected_c[5];
  for (int i = 0; i < 5; ++i) sincos(x[i], expected_s[i], expected_c[i]);
  sincos_in_step<5>(x, s, c);
  CHECK(std::memcmp(s, expected_s, sizeof(s)) == 0);
  CHECK(std::memcmp(c, expected_c, sizeof(c)) == 0);
  sincos_in_step<5>(x, x, c);
  CHECK(std::memcmp(x, expected_s, sizeof(x)) == 0);
}

}  // namespace
}  // namespace kansetsu
