#pragma once

#include <cstdint>
#include <numbers>
#include <string_view>

#include "kansetsu/model/joint_type.h"

namespace kansetsu::io::sdf {

/// Keywords of joints in the order of JointKind, with their types.
struct JointWord {
  std::string_view word;
  JointType type;
};
inline constexpr JointWord kJointWords[] = {
    {"revolute", JointType::kRevolute},   {"continuous", JointType::kRevolute}, {"prismatic", JointType::kPrismatic},
    {"fixed", JointType::kFixed},         {"ball", JointType::kBall},           {"universal", JointType::kUniversal},
    {"revolute2", JointType::kUniversal}, {"screw", JointType::kHelical},       {"gearbox", JointType::kFixed}};

inline constexpr double kNoLimit = 1e16;          ///< SDF's value for no limit
inline constexpr std::uint32_t kAllBits = 65535;  ///< collide_bitmask that collides with everything
/// The moment of a round patch under Hertzian pressure is 3π/16·μ·a·N; ours is two thirds of μ·radius·N.
inline constexpr double kPatchToSpin = 1.5 * 3 * std::numbers::pi / 16;

}  // namespace kansetsu::io::sdf
