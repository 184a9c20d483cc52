#pragma once

/// The codes of what validate() says about tendons and actuators; those of the rest of a scene are in scene/scene_codes.h.
namespace kansetsu::scene {

inline constexpr char kBadTendon[] = "SCENE122";
inline constexpr char kBadActuator[] = "SCENE123";
inline constexpr char kUnknownTarget[] = "SCENE124";
inline constexpr char kRepeatedActuator[] = "SCENE125";

}  // namespace kansetsu::scene
