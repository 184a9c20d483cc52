#pragma once

/// The codes of diagnostics about retargeting. They are stable: docs/formats/capture.md lists them, and a test compares.
namespace kansetsu::mapping {

inline constexpr char kTooShort[] = "MAP001";
inline constexpr char kFixedBase[] = "MAP002";
inline constexpr char kNoBone[] = "MAP003";
inline constexpr char kNoLink[] = "MAP004";
inline constexpr char kStance[] = "MAP005";
inline constexpr char kNoLegs[] = "MAP006";
// Warnings.
inline constexpr char kUnusedBone[] = "MAP010";
inline constexpr char kJump[] = "MAP011";
inline constexpr char kUp[] = "MAP012";
inline constexpr char kJointJump[] = "MAP013";
inline constexpr char kBoneJump[] = "MAP014";
inline constexpr char kSides[] = "MAP015";
inline constexpr char kSize[] = "MAP016";

}  // namespace kansetsu::mapping
