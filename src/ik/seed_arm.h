#pragma once

#include <cmath>

/// The arm of seed 001 in its own conventions: row vectors, five links of length 1 along z, p = 0; for i = 4…0: p = (p + offset)·R_i.
/// Templates on the precision; operations in the seed's order, so that a replica in single precision rounds as it did.
namespace kansetsu::ik::seed {

inline constexpr int kLinks = 5, kUnknowns = 3 * kLinks;

template <class T>
struct Row {
  T x[3];
};
template <class T>
struct Rotation {
  T a[3][3];
};
template <class T>
struct Quat {
  T x, y, z, w;
};

template <class T>
Rotation<T> operator*(const Rotation<T>& A, const Rotation<T>& B) {
  Rotation<T> C;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) C.a[i][j] = A.a[i][0] * B.a[0][j] + A.a[i][1] * B.a[1][j] + A.a[i][2] * B.a[2][j];
  }
  return C;
}
template <class T>
Row<T> operator*(const Row<T>& v, const Rotation<T>& A) {
  Row<T> r;
  for (int j = 0; j < 3; ++j) r.x[j] = v.x[0] * A.a[0][j] + v.x[1] * A.a[1][j] + v.x[2] * A.a[2][j];
  return r;
}

template <class T>
Rotation<T> turn_x(T t) {
  const T c = std::cos(t), s = std::sin(t);
  return {{{1, 0, 0}, {0, c, s}, {0, -s, c}}};
}
template <class T>
Rotation<T> turn_y(T t) {
  const T c = std::cos(t), s = std::sin(t);
  return {{{c, 0, -s}, {0, 1, 0}, {s, 0, c}}};
}
template <class T>
Rotation<T> turn_z(T t) {
  const T c = std::cos(t), s = std::sin(t);
  return {{{c, s, 0}, {-s, c, 0}, {0, 0, 1}}};
}
/// Derivatives of the three by their angle.
template <class T>
Rotation<T> turn_x_rate(T t) {
  const T c = std::cos(t), s = std::sin(t);
  return {{{0, 0, 0}, {0, -s, c}, {0, -c, -s}}};
}
template <class T>
Rotation<T> turn_y_rate(T t) {
  const T c = std::cos(t), s = std::sin(t);
  return {{{-s, 0, -c}, {0, 0, 0}, {c, 0, -s}}};
}
template <class T>
Rotation<T> turn_z_rate(T t) {
  const T c = std::cos(t), s = std::sin(t);
  return {{{-s, c, 0}, {-c, -s, 0}, {0, 0, 0}}};
}

/// Roll, pitch, yaw: R = Rz(roll)·Rx(pitch)·Ry(yaw).
template <class T>
struct Angles {
  T roll, pitch, yaw;
};
template <class T>
Rotation<T> to_rotation(const Angles<T>& a) {
  return turn_z(a.roll) * turn_x(a.pitch) * turn_y(a.yaw);
}

template <class T>
Rotation<T> to_rotation(const Quat<T>& q) {
  return {{{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y)},
           {2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x)},
           {2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}}};
}
/// The seed's mat2quat: by the trace while w ≥ 1/2… of its largest diagonal element otherwise.
template <class T>
Quat<T> to_quat(const Rotation<T>& m) {
  const auto& a = m.a;
  const T trace = a[0][0] + a[1][1] + a[2][2] + 1;
  if (trace >= 1) {
    const T s = T(0.5) / std::sqrt(trace);
    return {(a[1][2] - a[2][1]) * s, (a[2][0] - a[0][2]) * s, (a[0][1] - a[1][0]) * s, T(0.25) / s};
  }
  const T largest = (a[1][1] > a[2][2]) ? a[1][1] : a[2][2];
  if (a[0][0] > largest) {
    const T r = std::sqrt(a[0][0] - (a[1][1] + a[2][2]) + 1), s = T(0.5) / r;
    return {r * T(0.5), (a[0][1] + a[1][0]) * s, (a[2][0] + a[0][2]) * s, (a[1][2] - a[2][1]) * s};
  }
  if (largest == a[1][1]) {
    const T r = std::sqrt(a[1][1] - (a[2][2] + a[0][0]) + 1), s = T(0.5) / r;
    return {(a[0][1] + a[1][0]) * s, r * T(0.5), (a[1][2] + a[2][1]) * s, (a[2][0] - a[0][2]) * s};
  }
  const T r = std::sqrt(a[2][2] - (a[0][0] + a[1][1]) + 1), s = T(0.5) / r;
  return {(a[2][0] + a[0][2]) * s, (a[1][2] + a[2][1]) * s, r * T(0.5), (a[0][1] - a[1][0]) * s};
}
/// The seed's log by acos, kept as it was.
template <class T>
Row<T> log(const Quat<T>& q) {
  if (q.w >= 1 || q.w <= -1) return {{q.x, q.y, q.z}};
  const T angle = std::acos(q.w), s = angle / std::sin(angle);
  return {{q.x * s, q.y * s, q.z * s}};
}
template <class T>
Quat<T> exp(const Row<T>& u) {
  const T angle = std::sqrt(u.x[0] * u.x[0] + u.x[1] * u.x[1] + u.x[2] * u.x[2]);
  const T s = angle > 0 ? std::sin(angle) / angle : T(1);
  return {u.x[0] * s, u.x[1] * s, u.x[2] * s, std::cos(angle)};
}

/// Where the tip is.
template <class T>
Row<T> tip(const Rotation<T>* P) {
  Row<T> p{{0, 0, 0}};
  for (int i = kLinks - 1; i >= 0; --i) {
    p.x[2] += 1;
    p = p * P[i];
  }
  return p;
}
/// Its derivative where rotation j changes by D: offsets below j drop out.
template <class T>
Row<T> tip_rate(const Rotation<T>* P, int j, const Rotation<T>& D) {
  Row<T> p{{0, 0, 0}};
  for (int i = kLinks - 1; i >= 0; --i) {
    if (i >= j) p.x[2] += 1;
    p = p * (i == j ? D : P[i]);
  }
  return p;
}

/// ∂R/∂u_i of the log quaternion u, with derivatives of the quaternion rounded to T as the seed did.
template <class T>
Rotation<T> log_quaternion_rate(const Quat<T>& q, const Row<T>& u, int i) {
  const double a = u.x[0], b = u.x[1], c = u.x[2], angle = std::sqrt(a * a + b * b + c * c);
  double s = 1 - angle * angle / 6, k = -1.0 / 3 + angle * angle / 30;
  if (!(angle < 1e-4)) {
    s = std::sin(angle) / angle;
    k = std::cos(angle) / (angle * angle) - std::sin(angle) / (angle * angle * angle);
  }
  const double ui = u.x[i];
  const T dx = T(ui * a * k + (i == 0 ? s : 0)), dy = T(ui * b * k + (i == 1 ? s : 0));
  const T dz = T(ui * c * k + (i == 2 ? s : 0)), dw = T(-ui * s);
  return {{{-4 * (q.y * dy + q.z * dz), 2 * (q.x * dy + q.y * dx + q.w * dz + q.z * dw),
            2 * (q.x * dz + q.z * dx - q.w * dy - q.y * dw)},
           {2 * (q.x * dy + q.y * dx - q.w * dz - q.z * dw), -4 * (q.x * dx + q.z * dz),
            2 * (q.y * dz + q.z * dy + q.w * dx + q.x * dw)},
           {2 * (q.x * dz + q.z * dx + q.w * dy + q.y * dw), 2 * (q.y * dz + q.z * dy - q.w * dx - q.x * dw),
            -4 * (q.x * dx + q.y * dy)}}};
}

}  // namespace kansetsu::ik::seed
