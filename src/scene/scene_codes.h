#pragma once

/// The codes of what validate() says about scenes. They are stable: docs/formats/scene.md lists them, a test compares.
namespace kansetsu::scene {

inline constexpr char kNoName[] = "SCENE100";
inline constexpr char kDuplicateName[] = "SCENE101";
inline constexpr char kUnknownFigure[] = "SCENE102";
inline constexpr char kUnknownLink[] = "SCENE103";
inline constexpr char kUnknownJoint[] = "SCENE104";
inline constexpr char kUnknownSurface[] = "SCENE105";
inline constexpr char kUnknownConnection[] = "SCENE106";
inline constexpr char kUnknownController[] = "SCENE107";
inline constexpr char kUnknownShape[] = "SCENE108";
inline constexpr char kNumber[] = "SCENE110";
inline constexpr char kRange[] = "SCENE111";
inline constexpr char kCoordinates[] = "SCENE112";
inline constexpr char kQuaternion[] = "SCENE113";
inline constexpr char kBaseMotion[] = "SCENE114";
inline constexpr char kPlaneOnLink[] = "SCENE115";
inline constexpr char kNowhere[] = "SCENE116";
inline constexpr char kEmptyMask[] = "SCENE117";
inline constexpr char kDrivenTwice[] = "SCENE118";
inline constexpr char kNoSuchDrive[] = "SCENE119";
inline constexpr char kUnknownActuator[] = "SCENE120";
inline constexpr char kUnknownTendon[] = "SCENE121";
inline constexpr char kOutsideLimits[] = "SCENE126";

}  // namespace kansetsu::scene
