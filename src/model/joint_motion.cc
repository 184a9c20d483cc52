#include "model/joint_motion.h"

#include <cmath>

#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
namespace {

Transform<> primitive_pose(const JointDescription& joint, const Primitive& primitive, std::span<const double> q) {
  const auto quaternion_at = [&](std::size_t i) { return Quaternion<>{q[i], q[i + 1], q[i + 2], q[i + 3]}; };
  if (primitive.kind == PrimitiveKind::kBall) return {to_mat3(quaternion_at(0)), {}};
  if (primitive.kind == PrimitiveKind::kFree) return {to_mat3(quaternion_at(3)), {q[0], q[1], q[2]}};
  const double x = q[std::size_t(primitive.coordinate)];
  const Vec3<> displacement = x * primitive_axis(joint, primitive.axis);
  switch (primitive.kind) {
    case PrimitiveKind::kSlide:
      return {Mat3<>::identity(), displacement};
    case PrimitiveKind::kScrew:
      return {exp_rotation(displacement), joint.pitch * displacement};
    default:
      return {exp_rotation(displacement), {}};
  }
}

}  // namespace

Vec3<> normal_to(const Vec3<>& z) {
  constexpr double kAlongX = 0.9;  // cosine of 26°: nearer to x, the cross product with x loses digits
  return normalised(cross(z, std::abs(z.x) < kAlongX ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0}));
}

Vec3<> primitive_axis(const JointDescription& joint, PrimitiveAxis axis) {
  switch (axis) {
    case PrimitiveAxis::kAxis:
      return normalised(joint.axis);
    case PrimitiveAxis::kSecondAxis:
      return normalised(joint.second_axis);
    case PrimitiveAxis::kPlaneX: {
      const Vec3<> z = normalised(joint.axis);
      return cross(normal_to(z), z);
    }
    case PrimitiveAxis::kPlaneY:
      return normal_to(normalised(joint.axis));
    case PrimitiveAxis::kX:
      return {1, 0, 0};
    case PrimitiveAxis::kY:
      return {0, 1, 0};
    case PrimitiveAxis::kZ:
      return {0, 0, 1};
  }
  return {0, 0, 1};
}

Transform<> joint_pose(const JointDescription& joint, std::span<const double> q) {
  Transform<> X;
  for (const Primitive& primitive : info(joint.type).chain) X = X * primitive_pose(joint, primitive, q);
  return X;
}

bool is_linear(JointType type, int coordinate) {
  if (type == JointType::kFree) return coordinate >= 3;
  for (const Primitive& primitive : info(type).chain) {
    if (primitive.coordinate == coordinate) return primitive.kind == PrimitiveKind::kSlide;
  }
  return false;
}

}  // namespace kansetsu
