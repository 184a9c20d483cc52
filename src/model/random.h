#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/sincos.h"

/// Random numbers that are the same on every platform: the standard fixes its engines, but neither its
/// distributions nor the last bit of its sin and cos.
namespace kansetsu {

inline double uniform(std::mt19937_64& rng, double lower, double upper) {
  return lower + (upper - lower) * (double(rng() >> 11) * 0x1p-53);
}

/// In 0…n−1. The bias for n far below 2⁶⁴ is nothing to a test.
inline int uniform_index(std::mt19937_64& rng, int n) { return int(rng() % std::uint64_t(n)); }

inline Vec3<> uniform_vec3(std::mt19937_64& rng, double size) {
  const double x = uniform(rng, -size, size), y = uniform(rng, -size, size), z = uniform(rng, -size, size);
  return {x, y, z};
}

/// Uniform on the sphere of directions (Archimedes: z is uniform).
inline Vec3<> uniform_direction(std::mt19937_64& rng) {
  const double z = uniform(rng, -1, 1), azimuth = uniform(rng, -std::numbers::pi, std::numbers::pi);
  const double r = std::sqrt(1 - z * z);
  double sin_azimuth, cos_azimuth;
  sincos(azimuth, sin_azimuth, cos_azimuth);
  return {r * cos_azimuth, r * sin_azimuth, z};
}

/// Uniform on SO(3) (Shoemake 1992).
inline Quaternion<> uniform_rotation(std::mt19937_64& rng) {
  const double s = uniform(rng, 0, 1), a = uniform(rng, -std::numbers::pi, std::numbers::pi),
               b = uniform(rng, -std::numbers::pi, std::numbers::pi);
  const double p = std::sqrt(1 - s), r = std::sqrt(s);
  double sin_a, cos_a, sin_b, cos_b;
  sincos(a, sin_a, cos_a);
  sincos(b, sin_b, cos_b);
  return {p * sin_a, p * cos_a, r * sin_b, r * cos_b};
}

}  // namespace kansetsu
