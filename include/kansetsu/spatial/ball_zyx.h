#pragma once

#include "kansetsu/spatial/sincos.h"
#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// The Euler ball joint of [Tazz13]: R = Rz(q.z)·Ry(q.y)·Rx(q.x) turns plug axes into socket axes. Relative angular velocity
/// ω = B·q̇ in plug axes and J·q̇ in socket axes; both are singular where cos q.y = 0. [Tazz13] §2.5.3.
template <class T = double>
struct BallZyx {
  T sx, cx, sy, cy, sz, cz;

  KANSETSU_HD static BallZyx at(const Vec3<T>& q) {
    BallZyx b;
    sincos(q.x, b.sx, b.cx);
    sincos(q.y, b.sy, b.cy);
    sincos(q.z, b.sz, b.cz);
    return b;
  }

  KANSETSU_HD Mat3<T> rotation() const {
    const T sy_sx = sy * sx, sy_cx = sy * cx;
    return {{cz * cy, msub(sz, cx, cz * sy_sx), madd(cz, sy_cx, sz * sx)},
            {sz * cy, madd(sz, sy_sx, cz * cx), msub(cz, sx, sz * sy_cx)},
            {-sy, cy * sx, cy * cx}};
  }

  /// B = Rᵀ·J: plug axes.
  KANSETSU_HD Mat3<T> rate_matrix() const {
    const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
    return {{one, zero, -sy}, {zero, cx, sx * cy}, {zero, -sx, cx * cy}};
  }
  /// Ḃ·q̇: the relative angular acceleration in plug axes for q̈ = 0.
  KANSETSU_HD Vec3<T> rate_bias(const Vec3<T>& qd) const {
    const T xy = qd.x * qd.y, xz = qd.x * qd.z, yz = qd.y * qd.z;
    const T sy_yz = sy * yz, cy_xz = cy * xz;
    return {-cy * yz, msub(sx, xy + sy_yz, cx * cy_xz), msub(cx, xy + sy_yz, -sx * cy_xz)};
  }

  /// J: socket axes.
  KANSETSU_HD Mat3<T> rate_matrix_socket() const {
    const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
    return {{cy * cz, -sz, zero}, {cy * sz, cz, zero}, {-sy, zero, one}};
  }
  /// J̇·q̇: socket axes; the same vector as R·Ḃ·q̇, since ω × ω = 0.
  KANSETSU_HD Vec3<T> rate_bias_socket(const Vec3<T>& qd) const {
    const T xy = qd.x * qd.y, xz = qd.x * qd.z, yz = qd.y * qd.z;
    const T sy_xy = sy * xy, cy_xz = cy * xz;
    return {-madd(cz, sy_xy + yz, sz * cy_xz), msub(sz, sy_xy + yz, cz * cy_xz), -cy * xy};
  }
};

}  // namespace kansetsu
