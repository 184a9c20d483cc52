#pragma once

#include <cstdint>
#include <string>

#include "kansetsu/model/description.h"

namespace kansetsu {

/// Constrained directions in the axes of the first of two frames, bit i = direction i of [ω; v]: bits 0…2 turns about x, y, z,
/// bits 3…5 shifts along x, y, z.
using ConstraintMask = std::uint8_t;
inline constexpr ConstraintMask kWeldMask = 0b111111;
inline constexpr ConstraintMask kPointMask = 0b111000;         ///< ball and socket
inline constexpr ConstraintMask kHingeMask = 0b111011;         ///< free to turn about z
inline constexpr ConstraintMask kSliderMask = 0b011111;        ///< free to shift along z
inline constexpr ConstraintMask kCylindricalMask = 0b011011;   ///< free to turn about and shift along z
inline constexpr ConstraintMask kUniversalMask = 0b111001;     ///< free to turn about y and z
inline constexpr ConstraintMask kPointInPlaneMask = 0b100000;  ///< only z of the point is held
inline constexpr ConstraintMask kOrientationMask = 0b000111;

/// Two places of one figure that always coincide: what turns a tree into a closed mechanism.
struct LoopClosure {
  std::string name{};
  std::string link_a{}, link_b{};  ///< links or frames
  Pose pose_a{}, pose_b{};
  ConstraintMask mask = kWeldMask;
  int line = 0;

  friend bool operator==(const LoopClosure& a, const LoopClosure& b) {
    return a.name == b.name && a.link_a == b.link_a && a.link_b == b.link_b && a.pose_a == b.pose_a &&
           a.pose_b == b.pose_b && a.mask == b.mask;
  }
};

}  // namespace kansetsu
