#pragma once

#include "kansetsu/spatial/vec3.h"

/// Nearest points between points, segments and boxes, on any scalar: no branch on values.
///
/// Symbols   p, q  ends of a segment, or its start and direction u, v    s, t  positions along it in 0…1
namespace kansetsu::detail {

template <class T>
KANSETSU_HD T abs_value(const T& x) {
  return select(x < T(0), -x, x);
}
template <class T>
KANSETSU_HD T clamped(const T& x, const T& low, const T& high) {
  return select(x < low, low, select(x > high, high, x));
}

/// Where on the segment p + s·u (s in 0…1) the point x is nearest; 0 where u is zero.
template <class T>
KANSETSU_HD T nearest_on_segment(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& x) {
  const T u2 = dot(u, u);
  const auto is_point = u2 <= T(0);
  return select(is_point, T(0), clamped(dot(x - p, u) / select(is_point, T(1), u2), T(0), T(1)));
}

template <class T>
struct SegmentPair {
  T s, t;
};

/// Where the segments p + s·u and q + t·v are nearest ([Eri05] 5.1.9). Of parallel ones, some nearest pair.
template <class T>
KANSETSU_HD SegmentPair<T> nearest_of_segments(const Vec3<T>& p, const Vec3<T>& u, const Vec3<T>& q, const Vec3<T>& v) {
  const Vec3<T> r = p - q;
  const T uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r);
  const T det = uu * vv - uv * uv;
  const auto crossing = det > T(0);
  const T s_line = select(crossing, (uv * vr - ur * vv) / select(crossing, det, T(1)), T(0));
  const T t = nearest_on_segment(q, v, madd(clamped(s_line, T(0), T(1)), u, p));
  // Once more to and fro: near parallel lines the division above loses digits, projection does not.
  const T s = nearest_on_segment(p, u, madd(t, v, q));
  const T t_end = nearest_on_segment(q, v, madd(s, u, p));
  return {s, t_end};
}

template <class T>
struct BoxPoint {
  T distance;  ///< of the point from the surface, negative inside
  Vec3<T>
      normal;  ///< outward, in the box's axes; along z for a point inside that is equally far from several faces, then y
  Vec3<T> nearest;  ///< on the surface
};

/// A point against the box |x| ≤ half, all in the box's frame.
template <class T>
KANSETSU_HD BoxPoint<T> point_to_box(const Vec3<T>& half, const Vec3<T>& x) {
  const Vec3<T> inner{clamped(x.x, -half.x, half.x), clamped(x.y, -half.y, half.y), clamped(x.z, -half.z, half.z)};
  const Vec3<T> d = x - inner;
  const T distance = norm(d);
  const auto outside = distance > T(0);
  const T scale = T(1) / select(outside, distance, T(1));
  // Inside: the nearest face.
  const T depth_x = half.x - abs_value(x.x), depth_y = half.y - abs_value(x.y), depth_z = half.z - abs_value(x.z);
  const auto is_z = (depth_z <= depth_x) & (depth_z <= depth_y);
  const auto is_y = depth_y <= depth_x;
  const T sx = select(x.x < T(0), T(-1), T(1)), sy = select(x.y < T(0), T(-1), T(1)),
          sz = select(x.z < T(0), T(-1), T(1));
  const T nz = select(is_z, sz, T(0)), ny = select(is_z, T(0), select(is_y, sy, T(0)));
  const T nx = select(is_z, T(0), select(is_y, T(0), sx));
  const T depth = select(is_z, depth_z, select(is_y, depth_y, depth_x));
  BoxPoint<T> out;
  out.distance = select(outside, distance, -depth);
  out.normal = {select(outside, scale * d.x, nx), select(outside, scale * d.y, ny), select(outside, scale * d.z, nz)};
  out.nearest = {select(outside, inner.x, madd(nx, depth, x.x)), select(outside, inner.y, madd(ny, depth, x.y)),
                 select(outside, inner.z, madd(nz, depth, x.z))};
  return out;
}

}  // namespace kansetsu::detail
