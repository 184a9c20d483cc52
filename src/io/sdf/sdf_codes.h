#pragma once

/// The codes of SDF diagnostics. They are stable: docs/formats/sdf.md lists them, and a test compares the two.
namespace kansetsu::io::sdf {

// The file as a whole: errors.
inline constexpr char kFile[] = "SDF001";
inline constexpr char kText[] = "SDF002";
inline constexpr char kSyntax[] = "SDF003";
inline constexpr char kOtherFormat[] = "SDF004";
inline constexpr char kVersion[] = "SDF005";
inline constexpr char kInclude[] = "SDF006";
inline constexpr char kTooMany[] = "SDF007";
inline constexpr char kTooLarge[] = "SDF008";
// Elements: errors.
inline constexpr char kMissing[] = "SDF010";
inline constexpr char kNumber[] = "SDF011";
inline constexpr char kCharacters[] = "SDF012";
inline constexpr char kRepeatedName[] = "SDF013";
inline constexpr char kUnknownName[] = "SDF014";
inline constexpr char kKeyword[] = "SDF015";
inline constexpr char kRange[] = "SDF016";
inline constexpr char kCycle[] = "SDF017";
inline constexpr char kBadJoint[] = "SDF018";
inline constexpr char kReservedName[] = "SDF019";
// Warnings: what is not known, left out or read in another way.
inline constexpr char kUnknownElement[] = "SDF040";
inline constexpr char kUnknownAttribute[] = "SDF041";
inline constexpr char kUnsupportedElement[] = "SDF042";
inline constexpr char kUnsupportedAttribute[] = "SDF043";
inline constexpr char kGeometry[] = "SDF045";
inline constexpr char kMesh[] = "SDF046";
inline constexpr char kLoop[] = "SDF047";
inline constexpr char kGear[] = "SDF048";
inline constexpr char kRepeated[] = "SDF049";
inline constexpr char kEncoding[] = "SDF050";
inline constexpr char kNoInertial[] = "SDF051";
// Writing: what SDF cannot hold is a warning, the others are errors.
inline constexpr char kCannotHold[] = "SDF080";
inline constexpr char kNotWritable[] = "SDF081";
inline constexpr char kCannotWrite[] = "SDF082";

}  // namespace kansetsu::io::sdf
