#pragma once

#include <span>

#include "kansetsu/model/description.h"

/// Geometry of single joints, read from the joint table. For building and editing; kernels have their own form.
namespace kansetsu {

inline Vec3<> normalised(const Vec3<>& a) { return (1.0 / norm(a)) * a; }

/// A unit vector normal to the unit vector z. Any would do, but the choice is part of the file format: it is y of a planar joint.
Vec3<> normal_to(const Vec3<>& z);

/// Unit direction of a primitive in the socket frame of its joint.
Vec3<> primitive_axis(const JointDescription& joint, PrimitiveAxis axis);

/// Pose of the plug in the socket frame at the joint's own coordinates q (size info(joint.type).nq).
Transform<> joint_pose(const JointDescription& joint, std::span<const double> q);

/// Whether a velocity coordinate is a length rate [m/s] rather than an angular one.
bool is_linear(JointType type, int coordinate);

/// Whether the joint stores a quaternion, so that its positions are no vector.
inline bool has_quaternion(JointType type) { return info(type).nq != info(type).nv; }

}  // namespace kansetsu
