#pragma once

#include "kansetsu/spatial/scalar.h"

/// 3-vectors and 3×3 matrices on a scalar T. Every product is written with madd(), in a fixed order, so that all scalar
/// types of one build round alike.
namespace kansetsu {

template <class T = double>
struct Vec3 {
  T x{}, y{}, z{};

  KANSETSU_HD friend Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  KANSETSU_HD friend Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  KANSETSU_HD friend Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  KANSETSU_HD friend Vec3 operator*(const T& s, const Vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
  KANSETSU_HD Vec3& operator+=(const Vec3& b) { return *this = *this + b; }
  KANSETSU_HD Vec3& operator-=(const Vec3& b) { return *this = *this - b; }
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

/// General 3×3 matrix, row-major: m[row][column] is (m.x, m.y, m.z)[row].
template <class T = double>
struct Mat3 {
  Vec3<T> x, y, z;  ///< rows

  KANSETSU_HD static Mat3 identity() { return {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}}; }
  KANSETSU_HD Vec3<T> column_x() const { return {x.x, y.x, z.x}; }
  KANSETSU_HD Vec3<T> column_y() const { return {x.y, y.y, z.y}; }
  KANSETSU_HD Vec3<T> column_z() const { return {x.z, y.z, z.z}; }
  KANSETSU_HD friend Mat3 operator+(const Mat3& a, const Mat3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  KANSETSU_HD friend Mat3 operator-(const Mat3& a, const Mat3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  KANSETSU_HD friend Mat3 operator-(const Mat3& a) { return {-a.x, -a.y, -a.z}; }
  KANSETSU_HD friend Mat3 operator*(const T& s, const Mat3& a) { return {s * a.x, s * a.y, s * a.z}; }
  friend bool operator==(const Mat3&, const Mat3&) = default;
};

/// Symmetric 3×3 matrix by its upper triangle.
template <class T = double>
struct Sym3 {
  T xx{}, xy{}, xz{}, yy{}, yz{}, zz{};

  KANSETSU_HD static Sym3 diagonal(const T& a, const T& b, const T& c) { return {a, T(0), T(0), b, T(0), c}; }
  KANSETSU_HD friend Sym3 operator+(const Sym3& a, const Sym3& b) {
    return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
  }
  KANSETSU_HD friend Sym3 operator-(const Sym3& a, const Sym3& b) {
    return {a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
  }
  KANSETSU_HD friend Sym3 operator*(const T& s, const Sym3& a) {
    return {s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
  }
  friend bool operator==(const Sym3&, const Sym3&) = default;
};

template <class T>
KANSETSU_HD T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return madd(a.x, b.x, madd(a.y, b.y, a.z * b.z));
}
template <class T>
KANSETSU_HD Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {msub(a.z, b.y, a.y * b.z), msub(a.x, b.z, a.z * b.x), msub(a.y, b.x, a.x * b.y)};
}
template <class T>
KANSETSU_HD T norm(const Vec3<T>& a) {
  return sqrt(dot(a, a));
}
/// s·a + b
template <class T>
KANSETSU_HD Vec3<T> madd(const T& s, const Vec3<T>& a, const Vec3<T>& b) {
  return {madd(s, a.x, b.x), madd(s, a.y, b.y), madd(s, a.z, b.z)};
}
/// c + a×b
template <class T>
KANSETSU_HD Vec3<T> add_cross(const Vec3<T>& c, const Vec3<T>& a, const Vec3<T>& b) {
  return {msub(a.z, b.y, madd(a.y, b.z, c.x)), msub(a.x, b.z, madd(a.z, b.x, c.y)),
          msub(a.y, b.x, madd(a.x, b.y, c.z))};
}

template <class T>
KANSETSU_HD Vec3<T> operator*(const Mat3<T>& A, const Vec3<T>& b) {
  return {dot(A.x, b), dot(A.y, b), dot(A.z, b)};
}
/// Aᵀ·b
template <class T>
KANSETSU_HD Vec3<T> transpose_times(const Mat3<T>& A, const Vec3<T>& b) {
  return madd(b.x, A.x, madd(b.y, A.y, b.z * A.z));
}
/// The row vector aᵀ·B, as a vector.
template <class T>
KANSETSU_HD Vec3<T> row_times(const Vec3<T>& a, const Mat3<T>& B) {
  return transpose_times(B, a);
}
template <class T>
KANSETSU_HD Mat3<T> operator*(const Mat3<T>& A, const Mat3<T>& B) {
  return {row_times(A.x, B), row_times(A.y, B), row_times(A.z, B)};
}
template <class T>
KANSETSU_HD Mat3<T> transpose(const Mat3<T>& A) {
  return {A.column_x(), A.column_y(), A.column_z()};
}
/// A·Bᵀ
template <class T>
KANSETSU_HD Mat3<T> times_transpose(const Mat3<T>& A, const Mat3<T>& B) {
  return {B * A.x, B * A.y, B * A.z};
}
/// a·bᵀ
template <class T>
KANSETSU_HD Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x * b, a.y * b, a.z * b};
}
/// The matrix with skew(a)·b = a×b.
template <class T>
KANSETSU_HD Mat3<T> skew(const Vec3<T>& a) {
  return {{T(0), -a.z, a.y}, {a.z, T(0), -a.x}, {-a.y, a.x, T(0)}};
}

template <class T>
KANSETSU_HD Vec3<T> operator*(const Sym3<T>& A, const Vec3<T>& b) {
  return {madd(A.xx, b.x, madd(A.xy, b.y, A.xz * b.z)), madd(A.xy, b.x, madd(A.yy, b.y, A.yz * b.z)),
          madd(A.xz, b.x, madd(A.yz, b.y, A.zz * b.z))};
}
template <class T>
KANSETSU_HD Mat3<T> to_mat3(const Sym3<T>& A) {
  return {{A.xx, A.xy, A.xz}, {A.xy, A.yy, A.yz}, {A.xz, A.yz, A.zz}};
}
/// Upper triangle of A, which is symmetric up to rounding.
template <class T>
KANSETSU_HD Sym3<T> to_sym3(const Mat3<T>& A) {
  return {A.x.x, A.x.y, A.x.z, A.y.y, A.y.z, A.z.z};
}
/// R·A·Rᵀ
template <class T>
KANSETSU_HD Sym3<T> congruence(const Mat3<T>& R, const Sym3<T>& A) {
  const Vec3<T> x = A * R.x, y = A * R.y, z = A * R.z;  // columns of A·Rᵀ
  return {dot(R.x, x), dot(R.x, y), dot(R.x, z), dot(R.y, y), dot(R.y, z), dot(R.z, z)};
}

template <class T, class S>
KANSETSU_HD Vec3<T> lift(const Vec3<S>& a) {
  return {lift<T>(a.x), lift<T>(a.y), lift<T>(a.z)};
}
template <class T, class S>
KANSETSU_HD Mat3<T> lift(const Mat3<S>& a) {
  return {lift<T>(a.x), lift<T>(a.y), lift<T>(a.z)};
}
template <class T, class S>
KANSETSU_HD Sym3<T> lift(const Sym3<S>& a) {
  return {lift<T>(a.xx), lift<T>(a.xy), lift<T>(a.xz), lift<T>(a.yy), lift<T>(a.yz), lift<T>(a.zz)};
}

}  // namespace kansetsu
