#pragma once

#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/sincos.h"

/// Exponential and logarithm of rotations, their derivatives, and distances. Two vectors name a rotation:
///   φ  rotation vector, |φ| = angle                  exp_rotation, log_rotation, Jacobians
///   u  "log quaternion" of [Tmps], u = φ/2          exp_half, log_half, wrap_half, derivatives
/// Templates are branch-free and meant for kernels; functions of double use atan2 and live in rotations.cc.
/// Formulas and derivations: docs/theory/rotations.md, which corrects [Tmps].
namespace kansetsu {
namespace detail {

/// sin t / t. The quotient is accurate down to the smallest t; only 0/0 needs care.
template <class T>
KANSETSU_HD T sinc(const T& t, const T& sin_t) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  const auto tiny = t <= zero;
  return select(tiny, one, sin_t / select(tiny, one, t));
}

/// A function of t with 0/0 at 0: its Taylor series in t² below the limit, its closed form (divided by t²) above.
template <class T, class S, int N>
KANSETSU_HD T series_or_quotient(const T& t2, S limit, const S (&series)[N], const T& numerator) {
  const auto small = t2 < T(limit * limit);
  return select(small, polynomial(t2, series), numerator / select(small, T(S(1)), t2));
}

/// (cos t − sin t/t)/t²: cancellation costs eps/t², so the series reaches to 0.35.
template <class T>
KANSETSU_HD T sinc_slope(const T& t2, const T& cos_t, const T& sinc_t) {
  using S = scalar_t<T>;
  constexpr S c[] = {S(-1.0 / 3), S(1.0 / 30), S(-1.0 / 840), S(1.0 / 45360), S(-1.0 / 3991680), S(1.0 / 518918400)};
  return series_or_quotient(t2, S(0.35), c, cos_t - sinc_t);
}

/// (t − sin t)/t³ = (1 − sin t/t)/t². The series reaches to 0.5, where the quotient has lost two bits.
template <class T>
KANSETSU_HD T one_minus_sinc(const T& t2, const T& sinc_t) {
  using S = scalar_t<T>;
  constexpr S b[] = {S(1.0 / 6),        S(-1.0 / 120),          S(1.0 / 5040),           S(-1.0 / 362880),
                     S(1.0 / 39916800), S(-1.0 / 6227020800.0), S(1.0 / 1307674368000.0)};
  return series_or_quotient(t2, S(0.5), b, T(S(1)) - sinc_t);
}

/// (1 − (t/2)·cot(t/2))/t²: coefficients |B₂ₖ|/(2k)!. Regular at π, a pole at 2π.
template <class T>
KANSETSU_HD T cot_term(const T& t2, const T& half_t, const T& sin_half, const T& cos_half) {
  using S = scalar_t<T>;
  constexpr S e[] = {S(1.0 / 12),           S(1.0 / 720),      S(1.0 / 30240),
                     S(1.0 / 1209600),      S(1.0 / 47900160), S(691.0 / 1307674368000.0),
                     S(1.0 / 74724249600.0)};
  const auto zero = sin_half == T(S(0));
  return series_or_quotient(t2, S(0.5), e, T(S(1)) - half_t * cos_half / select(zero, T(S(1)), sin_half));
}

/// 1 + a·K + b·K², K = skew(φ). Changing the sign of φ transposes the result to the bit.
template <class T>
KANSETSU_HD Mat3<T> one_plus_skew(const Vec3<T>& phi, const T& a, const T& b) {
  // K² = φ·φᵀ − |φ|²·1, written out so that the diagonal has no cancellation
  const T one = T(scalar_t<T>(1));
  const Vec3<T> s = a * phi, p = b * phi;
  const T xx = p.x * phi.x, yy = p.y * phi.y, zz = p.z * phi.z;
  return {{one - (yy + zz), madd(p.x, phi.y, -s.z), madd(p.x, phi.z, s.y)},
          {madd(p.x, phi.y, s.z), one - (xx + zz), madd(p.y, phi.z, -s.x)},
          {madd(p.x, phi.z, -s.y), madd(p.y, phi.z, s.x), one - (xx + yy)}};
}

}  // namespace detail

/// Three results, one for each component of a vector.
template <class V>
struct PerAxis {
  V k[3];
  KANSETSU_HD const V& operator[](int i) const { return k[i]; }
};

/// q = exp(u) = [u·sin θ/θ, cos θ], θ = |u|. [Tmps] quat_exp (errata A6–A8).
template <class T>
KANSETSU_HD Quaternion<T> exp_half(const Vec3<T>& u) {
  const T t = norm(u);
  T s, c;
  sincos(t, s, c);
  const T k = detail::sinc(t, s);
  return {k * u.x, k * u.y, k * u.z, c};
}

/// ∂q/∂u_k for k = x, y, z at q = exp(u): [c·u_k·u + s·e_k, −s·u_k]. [Tmps] dq_ln_domain (errata A8–A10).
template <class T>
KANSETSU_HD PerAxis<Quaternion<T>> exp_half_derivative(const Vec3<T>& u) {
  const T t2 = dot(u, u), t = sqrt(t2);
  T sin_t, cos_t;
  sincos(t, sin_t, cos_t);
  const T s = detail::sinc(t, sin_t), c = detail::sinc_slope(t2, cos_t, s);
  const T x = c * u.x, y = c * u.y, z = c * u.z;
  return {{{madd(x, u.x, s), x * u.y, x * u.z, -s * u.x},
           {y * u.x, madd(y, u.y, s), y * u.z, -s * u.y},
           {z * u.x, z * u.y, madd(z, u.z, s), -s * u.z}}};
}

/// Change of R(q) when the unit quaternion q changes by dq (tangent to the unit sphere). [Tmps] dr_dq, transposed.
template <class T>
KANSETSU_HD Mat3<T> to_mat3_derivative(const Quaternion<T>& q, const Quaternion<T>& dq) {
  const T two = T(scalar_t<T>(2)), minus_four = T(scalar_t<T>(-4));
  const T xy = madd(q.x, dq.y, q.y * dq.x), wz = madd(q.w, dq.z, q.z * dq.w);
  const T xz = madd(q.x, dq.z, q.z * dq.x), wy = madd(q.w, dq.y, q.y * dq.w);
  const T yz = madd(q.y, dq.z, q.z * dq.y), wx = madd(q.w, dq.x, q.x * dq.w);
  return {{minus_four * madd(q.y, dq.y, q.z * dq.z), two * (xy - wz), two * (xz + wy)},
          {two * (xy + wz), minus_four * madd(q.x, dq.x, q.z * dq.z), two * (yz - wx)},
          {two * (xz - wy), two * (yz + wx), minus_four * madd(q.x, dq.x, q.y * dq.y)}};
}

/// ∂R/∂u_k for k = x, y, z at R = R(exp(u)).
template <class T>
KANSETSU_HD PerAxis<Mat3<T>> exp_half_rotation_derivative(const Vec3<T>& u) {
  const Quaternion<T> q = exp_half(u);
  const PerAxis<Quaternion<T>> dq = exp_half_derivative(u);
  return {{to_mat3_derivative(q, dq[0]), to_mat3_derivative(q, dq[1]), to_mat3_derivative(q, dq[2])}};
}

/// exp(φ) as a quaternion: turns by |φ| about φ.
template <class T>
KANSETSU_HD Quaternion<T> exp_quaternion(const Vec3<T>& phi) {
  return exp_half(T(scalar_t<T>(0.5)) * phi);
}

/// exp(φ) = 1 + sin t/t·K + (1 − cos t)/t²·K² (Rodrigues).
template <class T>
KANSETSU_HD Mat3<T> exp_rotation(const Vec3<T>& phi) {
  const T half = T(scalar_t<T>(0.5)), half_t = half * norm(phi);
  T s, c;
  sincos(half_t, s, c);
  const T k = detail::sinc(half_t, s);
  return detail::one_plus_skew(phi, k * c, half * k * k);  // sin t/t = (sin ½t/½t)·cos ½t, 1 − cos t = 2·sin² ½t
}

/// Jr with exp(φ + δ) = exp(φ)·exp(Jr·δ): Jr = 1 − a·K + b·K².
template <class T>
KANSETSU_HD Mat3<T> right_jacobian(const Vec3<T>& phi) {
  const T half = T(scalar_t<T>(0.5)), t2 = dot(phi, phi), half_t = half * sqrt(t2);
  T s, c;
  sincos(half_t, s, c);
  const T k = detail::sinc(half_t, s);
  return detail::one_plus_skew(phi, -half * k * k, detail::one_minus_sinc(t2, k * c));
}

/// Jr⁻¹ = 1 + K/2 + e·K²: log(exp(φ)·exp(δ)) = φ + Jr⁻¹·δ. Regular at |φ| = π; singular at 2π only.
template <class T>
KANSETSU_HD Mat3<T> right_jacobian_inverse(const Vec3<T>& phi) {
  const T half = T(scalar_t<T>(0.5)), t2 = dot(phi, phi), half_t = half * sqrt(t2);
  T s, c;
  sincos(half_t, s, c);
  return detail::one_plus_skew(phi, half, detail::cot_term(t2, half_t, s, c));
}

/// Jl with exp(φ + δ) = exp(Jl·δ)·exp(φ): Jl(φ) = Jr(−φ) = Jr(φ)ᵀ.
template <class T>
KANSETSU_HD Mat3<T> left_jacobian(const Vec3<T>& phi) {
  return right_jacobian(-phi);
}
template <class T>
KANSETSU_HD Mat3<T> left_jacobian_inverse(const Vec3<T>& phi) {
  return right_jacobian_inverse(-phi);
}

/// log quaternion u with |u| ≤ π/2 of the rotation of q, whatever the sign and length of q. θ = atan2(|xyz|, |w|) is exact
/// near 0 and near π, where acos fails (erratum A8). q = 0 gives 0.
Vec3<> log_half(const Quaternion<>& q);

/// The same rotation with |u| ≤ π/2: steps of π along u. Erratum A21: half the radius of wrap_rotation.
Vec3<> wrap_half(const Vec3<>& u);

/// Rotation vector with |φ| ≤ π; at π either sign is right.
Vec3<> log_rotation(const Quaternion<>& q);
Vec3<> log_rotation(const Mat3<>& R);

/// The same rotation with |φ| ≤ π: steps of 2π along φ.
Vec3<> wrap_rotation(const Vec3<>& phi);

/// A turn by angle about a unit axis.
struct AxisAngle {
  Vec3<> axis{1, 0, 0};
  double angle = 0;
};
/// angle in [0, π]; axis x where there is no rotation. ([Tmps] quat2axis with erratum A5.)
AxisAngle to_axis_angle(const Quaternion<>& q);
/// The axis need not have unit length; a zero axis gives the identity.
Quaternion<> to_quaternion(const AxisAngle& turn);

/// On the shortest arc from a (t = 0) to b (t = 1, up to sign), at constant speed; t may lie outside [0, 1].
Quaternion<> slerp(const Quaternion<>& a, const Quaternion<>& b, double t);

/// Angle in [0, π] of the rotation from a to b.
double angular_distance(const Quaternion<>& a, const Quaternion<>& b);
double angular_distance(const Mat3<>& a, const Mat3<>& b);

/// x wrapped to (−π, π].
double wrap_angle(double x);

}  // namespace kansetsu
