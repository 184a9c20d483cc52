#include "kansetsu/spatial/rotations.h"

#include <cmath>
#include <numbers>

namespace kansetsu {
namespace {

constexpr double kPi = std::numbers::pi;

/// v scaled from length t to the length that is left after whole periods, in (−period/2, period/2].
Vec3<> wrap_length(const Vec3<>& v, double period) {
  const double t = std::hypot(v.x, v.y, v.z);
  if (t <= period / 2) return v;
  return (std::remainder(t, period) / t) * v;
}

}  // namespace

Vec3<> log_half(const Quaternion<>& q) {
  const double n = std::hypot(q.x, q.y, q.z);
  if (n == 0) return {};
  return (std::copysign(1.0, q.w) * std::atan2(n, std::abs(q.w)) / n) * q.vector();
}

Vec3<> wrap_half(const Vec3<>& u) { return wrap_length(u, kPi); }

Vec3<> log_rotation(const Quaternion<>& q) { return 2.0 * log_half(q); }

Vec3<> log_rotation(const Mat3<>& R) { return log_rotation(to_quaternion(R)); }

Vec3<> wrap_rotation(const Vec3<>& phi) { return wrap_length(phi, 2 * kPi); }

AxisAngle to_axis_angle(const Quaternion<>& q) {
  const double n = std::hypot(q.x, q.y, q.z);
  if (n == 0) return {};
  return {(std::copysign(1.0, q.w) / n) * q.vector(), 2 * std::atan2(n, std::abs(q.w))};
}

Quaternion<> to_quaternion(const AxisAngle& turn) {
  const double n = std::hypot(turn.axis.x, turn.axis.y, turn.axis.z);
  if (n == 0) return {};
  double s, c;
  sincos(turn.angle / 2, s, c);
  const Vec3<> v = (s / n) * turn.axis;
  return {v.x, v.y, v.z, c};
}

Quaternion<> slerp(const Quaternion<>& a, const Quaternion<>& b, double t) {
  return normalised(a * exp_half(t * log_half(conjugate(a) * b)));
}

double angular_distance(const Quaternion<>& a, const Quaternion<>& b) {
  const Quaternion<> d = conjugate(a) * b;
  return 2 * std::atan2(std::hypot(d.x, d.y, d.z), std::abs(d.w));
}

double angular_distance(const Mat3<>& a, const Mat3<>& b) {
  return angular_distance(to_quaternion(a), to_quaternion(b));
}

double wrap_angle(double x) {
  const double r = std::remainder(x, 2 * kPi);
  return r <= -kPi ? kPi : r;
}

}  // namespace kansetsu
