#pragma once

/// The codes of URDF diagnostics. They are stable: docs/formats/urdf.md lists them, and a test compares the two.
namespace kansetsu::io::urdf {

// The file as a whole: errors.
inline constexpr char kMissingFile[] = "URDF001";
inline constexpr char kNotAFile[] = "URDF002";
inline constexpr char kUnreadable[] = "URDF003";
inline constexpr char kTooLarge[] = "URDF004";
inline constexpr char kEmpty[] = "URDF005";
inline constexpr char kBinary[] = "URDF006";
inline constexpr char kSyntax[] = "URDF007";
inline constexpr char kOtherFormat[] = "URDF008";
inline constexpr char kXacro[] = "URDF009";
// Elements: errors.
inline constexpr char kMissing[] = "URDF010";
inline constexpr char kNumber[] = "URDF011";
inline constexpr char kZeroAxis[] = "URDF012";
inline constexpr char kJointType[] = "URDF013";
inline constexpr char kRange[] = "URDF014";
inline constexpr char kTooDeep[] = "URDF015";
inline constexpr char kEntities[] = "URDF016";
inline constexpr char kCharacters[] = "URDF017";
inline constexpr char kMimic[] = "URDF018";
inline constexpr char kTooMany[] = "URDF019";
// Warnings.
inline constexpr char kUnknownElement[] = "URDF020";
inline constexpr char kUnknownAttribute[] = "URDF021";
inline constexpr char kUnused[] = "URDF022";
inline constexpr char kRepeated[] = "URDF023";
inline constexpr char kMeshNotFound[] = "URDF024";
inline constexpr char kPackageNotFound[] = "URDF025";
inline constexpr char kMeshRemote[] = "URDF026";
inline constexpr char kMaterial[] = "URDF027";
inline constexpr char kNoLimit[] = "URDF028";
inline constexpr char kNoInertia[] = "URDF029";
inline constexpr char kWorldAdded[] = "URDF030";
inline constexpr char kVersion[] = "URDF031";
inline constexpr char kEncoding[] = "URDF032";
inline constexpr char kNoMass[] = "URDF033";
inline constexpr char kMasslessMoved[] = "URDF034";
inline constexpr char kMeshOutside[] = "URDF035";
inline constexpr char kEmptyName[] = "URDF036";
// Writing.
inline constexpr char kPlug[] = "URDF040";
inline constexpr char kForeignJoint[] = "URDF041";
inline constexpr char kForeignCoupling[] = "URDF042";
inline constexpr char kNotFinite[] = "URDF043";
inline constexpr char kCannotWrite[] = "URDF044";
inline constexpr char kForeignShape[] = "URDF045";
inline constexpr char kContactData[] = "URDF046";

}  // namespace kansetsu::io::urdf
