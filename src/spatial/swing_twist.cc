#include "kansetsu/spatial/swing_twist.h"

#include <cmath>

#include "kansetsu/spatial/rotations.h"

namespace kansetsu {

double SwingTwist::swing() const { return std::hypot(swing_x, swing_y); }

SwingTwist swing_twist(const Quaternion<>& q) {
  // q·conj(twist) = [x', y', 0, n] with n = |(z, w)| and (x', y') the vector (x, y) turned by half the twist
  const double n = std::hypot(q.z, q.w), h = std::hypot(q.x, q.y);
  const double sign = q.w < 0 || (q.w == 0 && q.z < 0) ? -1 : 1;  // half the twist in (−π/2, π/2]
  const double s = n == 0 ? 0 : sign * q.z / n, c = n == 0 ? 1 : sign * q.w / n;
  const double scale = h == 0 ? 0 : sign * 2 * std::atan2(h, n) / h;
  return {scale * (q.x * c - q.y * s), scale * (q.y * c + q.x * s),
          n == 0 ? 0 : 2 * std::atan2(sign * q.z, sign * q.w)};
}

SwingTwist swing_twist(const Mat3<>& R) { return swing_twist(to_quaternion(R)); }

Quaternion<> to_quaternion(const SwingTwist& angles) {
  return exp_half(Vec3<>{angles.swing_x / 2, angles.swing_y / 2, 0}) * exp_half(Vec3<>{0, 0, angles.twist / 2});
}

}  // namespace kansetsu
