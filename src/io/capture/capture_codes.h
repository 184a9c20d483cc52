#pragma once

/// The codes of diagnostics about captured motion. They are stable: docs/formats/capture.md lists them, and a test compares.
namespace kansetsu::io::capture {

inline constexpr char kMissingFile[] = "CAP001";
inline constexpr char kNotAFile[] = "CAP002";
inline constexpr char kUnreadable[] = "CAP003";
inline constexpr char kTooLarge[] = "CAP004";
inline constexpr char kForeign[] = "CAP005";
inline constexpr char kUnknownFormat[] = "CAP006";
inline constexpr char kNoSkeleton[] = "CAP007";
// Skeletons.
inline constexpr char kSyntax[] = "CAP010";
inline constexpr char kEnds[] = "CAP011";
inline constexpr char kNumber[] = "CAP012";
inline constexpr char kChannels[] = "CAP013";
inline constexpr char kName[] = "CAP014";
inline constexpr char kTree[] = "CAP015";
inline constexpr char kTooMany[] = "CAP016";
// Motions.
inline constexpr char kFrameCount[] = "CAP020";
inline constexpr char kFrameTime[] = "CAP021";
inline constexpr char kFrame[] = "CAP022";
inline constexpr char kTruncated[] = "CAP023";
inline constexpr char kUnknownBone[] = "CAP024";
inline constexpr char kMissingBone[] = "CAP025";
// Warnings.
inline constexpr char kSurplus[] = "CAP030";
inline constexpr char kIgnored[] = "CAP031";
inline constexpr char kGuess[] = "CAP032";
inline constexpr char kNumbering[] = "CAP033";
// Measurements.
inline constexpr char kHeader[] = "CAP050";
inline constexpr char kColumns[] = "CAP051";
inline constexpr char kTimes[] = "CAP052";
inline constexpr char kParameter[] = "CAP053";
inline constexpr char kPlate[] = "CAP054";
inline constexpr char kCount[] = "CAP055";
inline constexpr char kGap[] = "CAP056";
inline constexpr char kDoubt[] = "CAP057";
// Writing, and tables of landmarks.
inline constexpr char kCannotWrite[] = "CAP040";
inline constexpr char kLandmark[] = "CAP041";

}  // namespace kansetsu::io::capture
