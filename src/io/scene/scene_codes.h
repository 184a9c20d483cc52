#pragma once

/// The codes of the scene reader. They are stable: docs/formats/scene.md lists them together with those of validate()
/// (src/scene/scene_codes.h), and a test compares.
namespace kansetsu::io::scene {

inline constexpr char kFile[] = "SCENE001";
inline constexpr char kSyntax[] = "SCENE002";
inline constexpr char kUnknownKey[] = "SCENE003";
inline constexpr char kMissing[] = "SCENE004";
inline constexpr char kType[] = "SCENE005";
inline constexpr char kKeyword[] = "SCENE006";
inline constexpr char kLength[] = "SCENE007";
inline constexpr char kRotation[] = "SCENE008";
inline constexpr char kShape[] = "SCENE009";
inline constexpr char kModel[] = "SCENE010";
inline constexpr char kNoSuchPart[] = "SCENE011";
inline constexpr char kTooMany[] = "SCENE012";
inline constexpr char kConflict[] = "SCENE013";
inline constexpr char kCannotWrite[] = "SCENE014";
inline constexpr char kOutside[] = "SCENE015";

}  // namespace kansetsu::io::scene
