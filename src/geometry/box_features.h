#pragma once

#include <cmath>

#include "kansetsu/spatial/vec3.h"

/// How the corners, edges and faces of a box are numbered. Corner v is at +half along x, y, z where bit 0, 1, 2 of v is
/// set. Face 2k is the one at +half along axis k, 2k + 1 the one opposite. Edges along axis k are 4k … 4k + 3.
namespace kansetsu::detail {

struct BoxFace {
  int vertex[4];  ///< counterclockwise from outside
  int edge[4];    ///< from vertex[i] to vertex[i + 1]
};

/// Number of the edge along an axis at a corner.
constexpr int box_edge_number(int axis, int vertex) {
  const int low = axis == 0 ? (vertex >> 1) & 1 : vertex & 1;
  const int high = axis == 2 ? (vertex >> 1) & 1 : (vertex >> 2) & 1;
  return 4 * axis + low + 2 * high;
}

constexpr BoxFace make_box_face(int face) {
  const int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
  const bool positive = face % 2 == 0;
  const int base = positive ? 1 << axis : 0;
  const int round[4] = {base, base | (1 << u), base | (1 << u) | (1 << v), base | (1 << v)};
  BoxFace f{};
  for (int i = 0; i < 4; ++i) f.vertex[i] = round[positive ? i : 3 - i];
  for (int i = 0; i < 4; ++i) {
    const int along = f.vertex[i] ^ f.vertex[(i + 1) % 4];  // one bit: the axis of the edge
    f.edge[i] = box_edge_number(along == 1 ? 0 : (along == 2 ? 1 : 2), f.vertex[i]);
  }
  return f;
}
inline constexpr BoxFace kBoxFaces[6] = {make_box_face(0), make_box_face(1), make_box_face(2),
                                         make_box_face(3), make_box_face(4), make_box_face(5)};

inline int box_vertex(const Vec3<>& d) { return int(d.x >= 0) | (int(d.y >= 0) << 1) | (int(d.z >= 0) << 2); }
inline Vec3<> box_corner(const Vec3<>& half, int v) {
  return {(v & 1) != 0 ? half.x : -half.x, (v & 2) != 0 ? half.y : -half.y, (v & 4) != 0 ? half.z : -half.z};
}
inline int nearest_box_face(const Vec3<>& d) {
  const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
  if (z >= x && z >= y) return d.z < 0 ? 5 : 4;
  if (y >= x) return d.y < 0 ? 3 : 2;
  return d.x < 0 ? 1 : 0;
}
/// Axis k of a frame: column k of its rotation.
inline Vec3<> box_axis(const Mat3<>& R, int k) {
  return k == 0 ? R.column_x() : (k == 1 ? R.column_y() : R.column_z());
}

}  // namespace kansetsu::detail
