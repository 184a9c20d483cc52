#pragma once

#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// Rotation as a quaternion in the order x y z w; q and −q are the same rotation. q_AB turns components: v_A = q_AB · v_B, and
/// letters cancel as for transforms: q_AC = q_AB * q_BC (Hamilton's product). Functions that apply a rotation divide by q·q, so
/// that a length a little off 1 does not stretch anything.
template <class T = double>
struct Quaternion {
  T x{}, y{}, z{}, w = T(scalar_t<T>(1));

  KANSETSU_HD friend Quaternion operator*(const Quaternion& a, const Quaternion& b) {
    return {madd(a.w, b.x, madd(a.x, b.w, msub(a.z, b.y, a.y * b.z))),
            madd(a.w, b.y, madd(a.y, b.w, msub(a.x, b.z, a.z * b.x))),
            madd(a.w, b.z, madd(a.z, b.w, msub(a.y, b.x, a.x * b.y))),
            msub(a.z, b.z, msub(a.y, b.y, msub(a.x, b.x, a.w * b.w)))};
  }
  KANSETSU_HD friend Quaternion operator+(const Quaternion& a, const Quaternion& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
  }
  KANSETSU_HD friend Quaternion operator-(const Quaternion& a) { return {-a.x, -a.y, -a.z, -a.w}; }
  KANSETSU_HD friend Quaternion operator*(const T& s, const Quaternion& a) {
    return {s * a.x, s * a.y, s * a.z, s * a.w};
  }
  friend bool operator==(const Quaternion&, const Quaternion&) = default;

  KANSETSU_HD Vec3<T> vector() const { return {x, y, z}; }
};

template <class T>
KANSETSU_HD Quaternion<T> conjugate(const Quaternion<T>& q) {
  return {-q.x, -q.y, -q.z, q.w};
}
template <class T>
KANSETSU_HD T dot(const Quaternion<T>& a, const Quaternion<T>& b) {
  return madd(a.x, b.x, madd(a.y, b.y, madd(a.z, b.z, a.w * b.w)));
}
/// q/|q|; not a number for the zero quaternion, which is no rotation.
template <class T>
KANSETSU_HD Quaternion<T> normalised(const Quaternion<T>& q) {
  return (T(scalar_t<T>(1)) / sqrt(dot(q, q))) * q;
}

/// R(q) with columns = axes of B in A for q_AB. The transpose of the row matrix of [Tmps], with erratum A1.
template <class T>
KANSETSU_HD Mat3<T> to_mat3(const Quaternion<T>& q) {
  const T one = T(scalar_t<T>(1));
  const T s = T(scalar_t<T>(2)) / dot(q, q);
  const T x = s * q.x, y = s * q.y, z = s * q.z;
  const T wx = x * q.w, wy = y * q.w, wz = z * q.w;
  const T xx = x * q.x, yy = y * q.y, zz = z * q.z;
  // ± of the same rounded product: R(conjugate) is the transpose to the bit
  return {{one - (yy + zz), madd(x, q.y, -wz), madd(x, q.z, wy)},
          {madd(x, q.y, wz), one - (xx + zz), madd(y, q.z, -wx)},
          {madd(x, q.z, -wy), madd(y, q.z, wx), one - (xx + yy)}};
}

/// R(q)·v
template <class T>
KANSETSU_HD Vec3<T> rotate(const Quaternion<T>& q, const Vec3<T>& v) {
  const Vec3<T> u = q.vector();
  const Vec3<T> t = (T(scalar_t<T>(2)) / dot(q, q)) * cross(u, v);
  return add_cross(madd(q.w, t, v), u, t);
}
/// R(q)ᵀ·v
template <class T>
KANSETSU_HD Vec3<T> inverse_rotate(const Quaternion<T>& q, const Vec3<T>& v) {
  return rotate(conjugate(q), v);
}

template <class M, class T>
KANSETSU_HD Quaternion<T> select(const M& mask, const Quaternion<T>& a, const Quaternion<T>& b) {
  return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z), select(mask, a.w, b.w)};
}

/// Unit quaternion with w ≥ 0 of a rotation matrix. The largest of the trace and the diagonal elements decides which row of
/// 4·q·qᵀ is read, so that nothing small is divided by ([Tmps] mat2quat; Shepperd 1978).
template <class T>
KANSETSU_HD Quaternion<T> to_quaternion(const Mat3<T>& R) {
  const T one = T(scalar_t<T>(1)), a = R.x.x, b = R.y.y, c = R.z.z, trace = a + b + c;
  const T yz = R.z.y - R.y.z, zx = R.x.z - R.z.x, xy = R.y.x - R.x.y;              // 4w·(x, y, z)
  const T sum_yz = R.z.y + R.y.z, sum_zx = R.x.z + R.z.x, sum_xy = R.y.x + R.x.y;  // 4·(yz, zx, xy)
  Quaternion<T> q{yz, zx, xy, one + trace};
  T largest = trace;
  q = select(a > largest, Quaternion<T>{one + (a - b - c), sum_xy, sum_zx, yz}, q);
  largest = select(a > largest, a, largest);
  q = select(b > largest, Quaternion<T>{sum_xy, one + (b - c - a), sum_yz, zx}, q);
  largest = select(b > largest, b, largest);
  q = select(c > largest, Quaternion<T>{sum_zx, sum_yz, one + (c - a - b), xy}, q);
  const T scale = one / sqrt(dot(q, q));
  return select(q.w < T(scalar_t<T>(0)), -scale, scale) * q;
}

/// Rotations about the coordinate axes by an angle whose sine s and cosine c are known.
template <class T>
KANSETSU_HD Mat3<T> rotation_x(const T& s, const T& c) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  return {{one, zero, zero}, {zero, c, -s}, {zero, s, c}};
}
template <class T>
KANSETSU_HD Mat3<T> rotation_y(const T& s, const T& c) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  return {{c, zero, s}, {zero, one, zero}, {-s, zero, c}};
}
template <class T>
KANSETSU_HD Mat3<T> rotation_z(const T& s, const T& c) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  return {{c, -s, zero}, {s, c, zero}, {zero, zero, one}};
}

template <class T, class S>
KANSETSU_HD Quaternion<T> lift(const Quaternion<S>& q) {
  return {lift<T>(q.x), lift<T>(q.y), lift<T>(q.z), lift<T>(q.w)};
}

}  // namespace kansetsu
