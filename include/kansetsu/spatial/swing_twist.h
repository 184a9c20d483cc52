#pragma once

#include "kansetsu/spatial/quaternion.h"

namespace kansetsu {

/// Rotation of a ball joint as a swing, about an axis in the socket's xy plane, after a twist about the plug's z axis:
/// q = exp(swing)·exp(twist·z). [Tazz13] (27)–(29) with errata: signed twist, no acos.
struct SwingTwist {
  double swing_x = 0, swing_y = 0;  ///< rotation vector of the swing, length in [0, π]
  double twist = 0;                 ///< in (−π, π]

  /// Angle in [0, π] between the z axes of socket and plug.
  double swing() const;
};

/// At swing π the twist is undefined and given as zero.
SwingTwist swing_twist(const Quaternion<>& q);
SwingTwist swing_twist(const Mat3<>& R);

Quaternion<> to_quaternion(const SwingTwist& angles);

/// d swing/dt = row·ω, ω the relative angular velocity in socket axes: (e×u)/|e×u| with e = z of the socket, u = z of the plug.
/// Zero at swing 0 and π, where the rate does not exist. In plug axes the row is Rᵀ times this one.
template <class T>
KANSETSU_HD Vec3<T> swing_rate_row(const Mat3<T>& R) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  const T x = R.x.z, y = R.y.z, length = sqrt(madd(x, x, y * y));
  const auto undefined = length <= zero;
  const T scale = select(undefined, zero, one / select(undefined, one, length));
  return {-scale * y, scale * x, zero};
}

/// d twist/dt = row·ω, ω in socket axes: (e + u)/(1 + e·u). Zero at swing π, where the rate does not exist.
template <class T>
KANSETSU_HD Vec3<T> twist_rate_row(const Mat3<T>& R) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  const T denominator = one + R.z.z;
  const auto undefined = denominator <= zero;
  const T scale = select(undefined, zero, one / select(undefined, one, denominator));
  return {scale * R.x.z, scale * R.y.z, select(undefined, zero, one)};
}

}  // namespace kansetsu
