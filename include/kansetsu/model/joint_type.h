#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kansetsu/spatial/vec3.h"

/// The joint table. Everything that distinguishes one joint type from another is one row of it: a joint is a chain of
/// primitives between its socket frame (on the parent link) and its plug frame (on the child link).
namespace kansetsu {

enum class JointType {
  kFixed,
  kRevolute,
  kPrismatic,
  kHelical,
  kCylindrical,  ///< (slide, turn) along and about one axis
  kUniversal,    ///< turn about the axis, then about the second axis
  kPlanar,       ///< (x, y, turn): slides in the plane normal to the axis, then turns about the axis
  kBall,         ///< quaternion x y z w; velocity = relative angular velocity in plug axes
  kBallZyx,      ///< Euler angles (qx, qy, qz), R = Rz(qz) Ry(qy) Rx(qx); singular at qy = ±90°
  kFree,         ///< [p, quaternion]; velocity [ω; v] in plug axes
};

/// What a primitive moves along, in terms of the joint's own axes.
enum class PrimitiveKind { kHinge, kSlide, kScrew, kBall, kFree };
enum class PrimitiveAxis { kAxis, kSecondAxis, kPlaneX, kPlaneY, kX, kY, kZ };

struct Primitive {
  PrimitiveKind kind;
  PrimitiveAxis axis;
  int coordinate;  ///< first velocity coordinate of the joint that it uses
};

struct JointTypeInfo {
  JointType type;
  std::string_view name;
  int nq, nv;
  std::span<const Primitive> chain;              ///< from socket to plug
  std::span<const std::string_view> dof_suffix;  ///< one per velocity coordinate; "" for 1-DOF joints
};

const JointTypeInfo& info(JointType type);
std::span<const JointTypeInfo> joint_table();
std::optional<JointType> find_joint_type(std::string_view name);

}  // namespace kansetsu
