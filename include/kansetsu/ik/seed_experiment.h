#pragma once

#include <array>
#include <string_view>
#include <vector>

/// The experiment of seed 001, as it was made: an arm of five ball joints whose tip goes to the opposite of where it begins, in
/// steps of a millimetre, with log-quaternion and with Euler coordinates, in single precision. What it shows: docs/theory/ik.md §6.
namespace kansetsu::ik {

enum class SeedMethod {
  kLogQuaternion,  ///< the seed's: log of the quaternion of each matrix, step in the log, back to a matrix
  kEuler,          ///< the seed's: yaw, pitch, roll of each matrix, pitch by asin
  kEulerAtan2,     ///< the same, pitch by atan2
  kEulerState,     ///< angles kept from step to step, never read from a matrix
  kEulerLock,      ///< pitch by atan2, and yaw 0 at gimbal lock
  kTangent,        ///< a step in the tangent space of each rotation
};

/// One row of the table. Counts are of steps; the seed's ideal is floor(2|p₀|/step) + 1, its counters begin at 0 for
/// quaternions and at 1 for Euler angles; fair: counters from 0, ideal floor(2|p₀|/step).
struct SeedRow {
  std::string_view name;
  SeedMethod method;
  bool single;                       ///< precision
  std::array<double, 3> seed_rms{};  ///< √mean (count − ideal)² of 100 trials, runs A, B, C, as the seed counts
  std::array<double, 3> fair_rms{};
  double us_per_update = 0;  ///< best of several [µs]
};
std::vector<SeedRow> seed_experiment();

/// What the seed printed, runs A, B, C.
inline constexpr std::array<double, 3> kSeedLogQuaternion{0.678, 0.854, 0.656}, kSeedEuler{52.341, 99.646, 98.148};

struct SeedTrial {
  double distance;  ///< |p₀|
  int count;        ///< steps taken, from 0
};
/// The 300 trials of one method.
std::vector<SeedTrial> seed_trials(SeedMethod method, bool single);

}  // namespace kansetsu::ik
