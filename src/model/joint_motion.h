#pragma once

#include <algorithm>
#include <span>
#include <vector>

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

/// Whether the joint moves along or about this axis of its description.
inline bool uses_axis(const JointDescription& joint, PrimitiveAxis axis) {
  return std::ranges::any_of(info(joint.type).chain, [&](const Primitive& p) { return p.axis == axis; });
}

/// Whether a velocity coordinate is a length rate [m/s] rather than an angular one.
bool is_linear(JointType type, int coordinate);

/// Whether the joint stores a quaternion, so that its positions are no vector.
inline bool has_quaternion(JointType type) { return info(type).nq != info(type).nv; }

class Model;
/// Where a column of v has its position in q; of quaternions the first number, of a free base −1.
std::vector<int> position_columns(const Model& model);

}  // namespace kansetsu
