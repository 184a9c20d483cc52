#pragma once

#include <cstdint>
#include <numbers>

namespace kansetsu::io::sdf {

inline constexpr double kNoLimit = 1e16;          ///< SDF's number for a limit that is none
inline constexpr std::uint32_t kAllBits = 65535;  ///< collide_bitmask of what touches all
/// The moment of a round patch under Hertz's pressure is 3π/16·μ·a·N; ours is two thirds of μ·radius·N.
inline constexpr double kPatchToSpin = 1.5 * 3 * std::numbers::pi / 16;

}  // namespace kansetsu::io::sdf
