#pragma once

/// The codes of MJCF diagnostics. They are stable: docs/formats/mjcf.md lists them, and a test compares the two.
namespace kansetsu::io::mjcf {

// The file as a whole: errors.
inline constexpr char kMissingFile[] = "MJCF001";
inline constexpr char kNotAFile[] = "MJCF002";
inline constexpr char kUnreadable[] = "MJCF003";
inline constexpr char kTooLarge[] = "MJCF004";
inline constexpr char kEmpty[] = "MJCF005";
inline constexpr char kBinary[] = "MJCF006";
inline constexpr char kSyntax[] = "MJCF007";
inline constexpr char kOtherFormat[] = "MJCF008";
inline constexpr char kEntities[] = "MJCF009";
// Elements: errors.
inline constexpr char kMissing[] = "MJCF010";
inline constexpr char kNumber[] = "MJCF011";
inline constexpr char kTooMuchData[] = "MJCF012";
inline constexpr char kZeroVector[] = "MJCF013";
inline constexpr char kKeyword[] = "MJCF014";
inline constexpr char kRange[] = "MJCF015";
inline constexpr char kTooDeep[] = "MJCF016";
inline constexpr char kCharacters[] = "MJCF017";
inline constexpr char kRepeatedName[] = "MJCF018";
inline constexpr char kUnknownName[] = "MJCF019";
inline constexpr char kTooMany[] = "MJCF020";
inline constexpr char kUnknownClass[] = "MJCF021";
inline constexpr char kRepeatedClass[] = "MJCF022";
inline constexpr char kUnique[] = "MJCF023";
inline constexpr char kInclude[] = "MJCF024";
inline constexpr char kGlobalCoordinates[] = "MJCF025";
inline constexpr char kFreeJoint[] = "MJCF026";
inline constexpr char kOrientations[] = "MJCF027";
inline constexpr char kKeySize[] = "MJCF028";
inline constexpr char kTooLargeModel[] = "MJCF029";
// Warnings: unknown or unsupported content.
inline constexpr char kUnknownElement[] = "MJCF040";
inline constexpr char kUnknownAttribute[] = "MJCF041";
inline constexpr char kUnsupportedElement[] = "MJCF042";
inline constexpr char kUnsupportedAttribute[] = "MJCF043";
inline constexpr char kSoftness[] = "MJCF044";
inline constexpr char kEllipsoidHull[] = "MJCF045";
inline constexpr char kMeshNotFound[] = "MJCF046";
inline constexpr char kMeshMass[] = "MJCF047";
inline constexpr char kActuator[] = "MJCF048";
inline constexpr char kEquality[] = "MJCF049";
inline constexpr char kFreeJointData[] = "MJCF050";
inline constexpr char kIntegrator[] = "MJCF051";
inline constexpr char kNegative[] = "MJCF052";
inline constexpr char kMocap[] = "MJCF053";
inline constexpr char kDampRatio[] = "MJCF054";
inline constexpr char kForceRange[] = "MJCF055";
inline constexpr char kBallLimit[] = "MJCF056";
inline constexpr char kGeomShape[] = "MJCF058";
inline constexpr char kEncoding[] = "MJCF059";
inline constexpr char kSensor[] = "MJCF060";
inline constexpr char kTendon[] = "MJCF061";
inline constexpr char kMeshOutside[] = "MJCF070";
// Writing.
inline constexpr char kCannotHold[] = "MJCF080";
inline constexpr char kNotWritable[] = "MJCF081";
inline constexpr char kCannotWrite[] = "MJCF082";

}  // namespace kansetsu::io::mjcf
