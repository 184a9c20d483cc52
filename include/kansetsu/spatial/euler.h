#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "kansetsu/spatial/vec3.h"

/// Euler angles in all twelve orders. Intrinsic: kZYX means R = Rz(a)·Ry(b)·Rx(c), each turn about the axes already turned,
/// angles (a, b, c) in the order of the letters. Extrinsic (fixed-axes) angles are the same numbers read backwards.
namespace kansetsu {

enum class EulerOrder { kXYZ, kXZY, kYXZ, kYZX, kZXY, kZYX, kXYX, kXZX, kYXY, kYZY, kZXZ, kZYZ };

inline constexpr std::array kEulerOrders{EulerOrder::kXYZ, EulerOrder::kXZY, EulerOrder::kYXZ, EulerOrder::kYZX,
                                         EulerOrder::kZXY, EulerOrder::kZYX, EulerOrder::kXYX, EulerOrder::kXZX,
                                         EulerOrder::kYXY, EulerOrder::kYZY, EulerOrder::kZXZ, EulerOrder::kZYZ};

/// "XYZ"
std::string_view to_string(EulerOrder order);
/// From three letters of either case; none if they are not an Euler order ("XXY").
std::optional<EulerOrder> find_euler_order(std::string_view letters);

Mat3<> from_euler(EulerOrder order, const Vec3<>& angles);

/// First and third angle in [−π, π]; the second in [−π/2, π/2] for three different letters, else in [0, π]. from_euler of the
/// result rebuilds R to rounding everywhere. At gimbal lock (first and last axis parallel) only a sum or difference of
/// the outer angles is defined: the first is zero. ([Tmps] mat2ypr is kYXZ = yaw, pitch, roll, with errata A11–A13: atan2
/// throughout, no asin, and no added π.)
Vec3<> to_euler(EulerOrder order, const Mat3<>& R);

/// The angles of R that are nearest to the given ones: each rotation has two triples, apart from whole turns, and a line of
/// them at gimbal lock, where the first angle is kept.
Vec3<> nearest_euler(EulerOrder order, const Mat3<>& R, const Vec3<>& near);

/// E with ω = E·(ȧ, ḃ, ċ), ω the angular velocity in the turned (body) axes. Singular at gimbal lock.
Mat3<> euler_rate_matrix(EulerOrder order, const Vec3<>& angles);

/// URDF: R = Rz(yaw)·Ry(pitch)·Rx(roll), given as (roll, pitch, yaw). At gimbal lock yaw is zero.
Mat3<> from_rpy(const Vec3<>& rpy);
Vec3<> to_rpy(const Mat3<>& R);

}  // namespace kansetsu
