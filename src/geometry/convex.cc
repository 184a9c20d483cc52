#include "geometry/convex.h"

#include <cmath>
#include <cstddef>

#include "geometry/bounds.h"
#include "geometry/box_features.h"

namespace kansetsu::detail {
namespace {

constexpr double kDiagonal = 0.70710678118654752440;
/// Directions of the eight points of a rim.
constexpr double kRim[8][2] = {{1, 0},  {kDiagonal, kDiagonal},   {0, 1},  {-kDiagonal, kDiagonal},
                               {-1, 0}, {-kDiagonal, -kDiagonal}, {0, -1}, {kDiagonal, -kDiagonal}};
constexpr double kSin22 = 0.38268343236508977173;

Vec3<> to_local(const Convex& shape, const Vec3<>& d) { return transpose_times(shape.X.R, d); }

/// Large hulls are climbed, small ones searched.
int hull_support(const HullData& hull, const Vec3<>& d) {
  constexpr std::size_t kSearch = 32;
  int best = 0;
  double highest = dot(d, hull.vertices[0]);
  if (hull.vertices.size() <= kSearch) {
    for (std::size_t i = 1; i < hull.vertices.size(); ++i) {
      if (const double h = dot(d, hull.vertices[i]); h > highest) {
        highest = h;
        best = int(i);
      }
    }
    return best;
  }
  for (bool climbing = true; climbing;) {
    climbing = false;
    const int from = best;
    for (int k = hull.first_neighbour[std::size_t(from)]; k < hull.first_neighbour[std::size_t(from) + 1]; ++k) {
      const int i = hull.neighbour[std::size_t(k)];
      if (const double h = dot(d, hull.vertices[std::size_t(i)]); h > highest) {
        highest = h;
        best = i;
        climbing = true;
      }
    }
  }
  return best;
}

Vec3<> cylinder_support(const Convex& shape, const Vec3<>& d, std::uint32_t& id) {
  const double r = std::sqrt(d.x * d.x + d.y * d.y);
  const double z = d.z < 0 ? -shape.half.z : shape.half.z;
  id = feature(FeatureKind::kCurved, d.z < 0 ? 0 : 1);
  if (r <= 0) return {shape.half.x, 0, z};
  return {shape.half.x * d.x / r, shape.half.x * d.y / r, z};
}

Vec3<> local_support(const Convex& shape, const Vec3<>& d, std::uint32_t& id) {
  switch (shape.kind) {
    case ShapeKind::kBox: {
      const int v = box_vertex(d);
      id = feature(FeatureKind::kVertex, v);
      return box_corner(shape.half, v);
    }
    case ShapeKind::kCapsule:
      id = feature(FeatureKind::kVertex, d.z < 0 ? 0 : 1);
      return {0, 0, d.z < 0 ? -shape.half.z : shape.half.z};
    case ShapeKind::kCylinder:
      return cylinder_support(shape, d, id);
    case ShapeKind::kConvexHull: {
      const int v = hull_support(*shape.hull, d);
      id = feature(FeatureKind::kVertex, v);
      return shape.hull->vertices[std::size_t(v)];
    }
    case ShapeKind::kTriangleMesh: {
      int v = 0;
      for (int i = 1; i < 3; ++i) {
        if (dot(d, shape.triangle[i]) > dot(d, shape.triangle[v])) v = i;
      }
      id = feature(FeatureKind::kVertex, v);
      return shape.triangle[v];
    }
    default:
      id = feature(FeatureKind::kVertex, 0);
      return {};
  }
}

void box_facet(const Convex& shape, int face, Facet& out) {
  const BoxFace& f = kBoxFaces[face];
  out.face = feature(FeatureKind::kFace, face);
  out.count = 4;
  const Vec3<> n = box_axis(shape.X.R, face / 2);
  out.normal = face % 2 == 0 ? n : -n;
  for (int i = 0; i < 4; ++i) {
    out.p[i] = shape.X * box_corner(shape.half, f.vertex[i]);
    out.vertex[i] = feature(FeatureKind::kVertex, f.vertex[i]);
    out.edge[i] = feature(FeatureKind::kEdge, f.edge[i]);
  }
}

int nearest_hull_face(const HullData& hull, const Vec3<>& d) {
  int best = -1;
  double largest = 0;
  for (std::size_t i = 0; i < hull.faces.size(); ++i) {
    if (const double c = dot(d, hull.faces[i].normal); best < 0 || c > largest) {
      largest = c;
      best = int(i);
    }
  }
  return best;
}

void hull_facet(const Convex& shape, int face, Facet& out) {
  const HullData::Face& f = shape.hull->faces[std::size_t(face)];
  out.face = feature(FeatureKind::kFace, face);
  out.normal = shape.X.R * f.normal;
  out.count = f.count < kMaxFaceVertices ? f.count : kMaxFaceVertices;
  for (int i = 0; i < out.count; ++i) {  // of too many corners, evenly spaced ones
    const auto k = std::size_t(f.first + int(std::int64_t(i) * f.count / out.count));
    out.p[i] = shape.X * shape.hull->vertices[std::size_t(shape.hull->loop[k])];
    out.vertex[i] = feature(FeatureKind::kVertex, shape.hull->loop[k]);
    out.edge[i] = feature(FeatureKind::kEdge, shape.hull->loop_edge[k]);
  }
}

Vec3<> triangle_normal(const Vec3<>* t) { return unit_normal(t[0], t[1], t[2]); }

void triangle_facet(const Convex& shape, bool front, Facet& out) {
  const Vec3<> n = shape.X.R * triangle_normal(shape.triangle);
  out.normal = front ? n : -n;
  out.face = feature(FeatureKind::kFace, front ? 0 : 1);
  out.count = 3;
  for (int i = 0; i < 3; ++i) {
    const int v = front ? i : 2 - i;
    out.p[i] = shape.X * shape.triangle[v];
    out.vertex[i] = feature(FeatureKind::kVertex, v);
    out.edge[i] = feature(FeatureKind::kEdge, front ? i : (v + 2) % 3);
  }
}

/// Eight points of a rim, of which the one nearest to the direction d is moved into it, so that the lowest point of a tilted
/// cylinder is among them.
void cap_facet(const Convex& shape, const Vec3<>& d, bool top, Facet& out) {
  const double radius = shape.half.x, z = top ? shape.half.z : -shape.half.z;
  const double r = std::sqrt(d.x * d.x + d.y * d.y), length = norm(d);
  const bool tilted = r > 1e-12 * length;  // below, the heights of the rim differ by rounding only
  out.normal = top ? shape.X.R.column_z() : -shape.X.R.column_z();
  out.face = feature(FeatureKind::kFace, top ? 1 : 0);
  out.count = 8;
  for (int i = 0; i < 8; ++i) {
    const int k = top ? i : 7 - i;
    double x = kRim[k][0], y = kRim[k][1];
    if (tilted) {
      const double along = (x * d.x + y * d.y) / r, across = (x * d.y - y * d.x) / r;
      if (along > 0 && across > -kSin22 && across <= kSin22) {
        x = d.x / r;
        y = d.y / r;
      }
    }
    out.p[i] = shape.X * Vec3<>{radius * x, radius * y, z};
    out.vertex[i] = feature(FeatureKind::kVertex, 8 * int(top) + k);
    out.edge[i] = feature(FeatureKind::kEdge, 8 * int(top) + (top ? k : (k + 7) % 8));
  }
}

void segment_facet(const Convex& shape, const Vec3<>& offset, std::uint32_t first, Facet& out) {
  out.count = 2;
  for (int i = 0; i < 2; ++i) {
    out.p[i] = shape.X * Vec3<>{offset.x, offset.y, i == 0 ? -shape.half.z : shape.half.z};
    out.vertex[i] = first + std::uint32_t(i);
    out.edge[i] = feature(FeatureKind::kCurved, 2);
  }
}

/// The line of the side of a cylinder that is furthest along d (own frame).
void side_facet(const Convex& shape, const Vec3<>& d, Facet& out) {
  const double r = std::sqrt(d.x * d.x + d.y * d.y), s = r > 0 ? shape.half.x / r : 0;
  segment_facet(shape, {s * d.x, s * d.y, 0}, feature(FeatureKind::kCurved, 0), out);
}

void point_facet(const Convex& shape, const Vec3<>& d, Facet& out) {
  out.count = 1;
  out.p[0] = support(shape, d, out.vertex[0]);
}

/// The edge of a hull at its vertex furthest along d that runs most nearly across d.
bool hull_edge(const Convex& shape, const Vec3<>& d, Facet& out) {
  const HullData& hull = *shape.hull;
  const int v = hull_support(hull, d);
  int best = -1;
  double smallest = 2;
  for (int k = hull.first_neighbour[std::size_t(v)]; k < hull.first_neighbour[std::size_t(v) + 1]; ++k) {
    const Vec3<> e = hull.vertices[std::size_t(hull.neighbour[std::size_t(k)])] - hull.vertices[std::size_t(v)];
    if (const double c = std::abs(dot(e, d)) / (norm(e) * norm(d)); c < smallest) {
      smallest = c;
      best = hull.neighbour[std::size_t(k)];
    }
  }
  if (best < 0) return false;
  const int ends[2] = {v < best ? v : best, v < best ? best : v};
  out.count = 2;
  for (int i = 0; i < 2; ++i) {
    out.p[i] = shape.X * hull.vertices[std::size_t(ends[i])];
    out.vertex[i] = feature(FeatureKind::kVertex, ends[i]);
  }
  out.edge[0] = out.edge[1] = feature(FeatureKind::kEdge, ends[0] * 127 + ends[1]);
  return true;
}

bool polygon_edge(const Convex& shape, const Vec3<>& d, const Vec3<>* corners, int count, Facet& out) {
  int best = -1;
  double highest = 0;
  for (int i = 0; i < count; ++i) {
    const double h = dot(d, corners[i] + corners[(i + 1) % count]);
    if (best < 0 || h > highest) {
      highest = h;
      best = i;
    }
  }
  out.count = 2;
  for (int i = 0; i < 2; ++i) {
    const int v = (best + i) % count;
    out.p[i] = shape.X * corners[v];
    out.vertex[i] = feature(FeatureKind::kVertex, v);
    out.edge[i] = feature(FeatureKind::kEdge, best);
  }
  return true;
}

/// The edge of a box furthest along d, parallel to the axis most nearly across d.
void box_edge(const Convex& shape, const Vec3<>& d, Facet& out) {
  const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
  const int axis = x <= y && x <= z ? 0 : (y <= z ? 1 : 2);
  const int v = box_vertex(d) & ~(1 << axis);
  out.count = 2;
  for (int i = 0; i < 2; ++i) {
    const int corner = v | (i << axis);
    out.p[i] = shape.X * box_corner(shape.half, corner);
    out.vertex[i] = feature(FeatureKind::kVertex, corner);
    out.edge[i] = feature(FeatureKind::kEdge, box_edge_number(axis, v));
  }
}

}  // namespace

Convex make_convex(const Geometry& geometry, const Transform<>& X) {
  Convex shape{.kind = geometry.kind(), .half = geometry.half(), .hull = geometry.hull_data(), .X = X};
  const double radius = geometry.radius();
  switch (shape.kind) {
    case ShapeKind::kSphere:
    case ShapeKind::kCapsule:
      shape.radius = radius;
      shape.size = shape.half.z;
      break;
    case ShapeKind::kCylinder:
      shape.half = {radius, radius, shape.half.z};
      shape.size = radius + shape.half.z;
      break;
    case ShapeKind::kConvexHull: {
      const Aabb& b = geometry.local_bounds();
      const auto far = [](double lo, double up) { return std::fmax(std::abs(lo), std::abs(up)); };
      shape.size = norm(Vec3<>{far(b.lower.x, b.upper.x), far(b.lower.y, b.upper.y), far(b.lower.z, b.upper.z)});
      break;
    }
    default:
      shape.size = norm(shape.half);
  }
  return shape;
}

Vec3<> support(const Convex& shape, const Vec3<>& d, std::uint32_t& id) {
  return shape.X * local_support(shape, to_local(shape, d), id);
}

double excess(const Convex& shape, const Vec3<>& p) {
  const Vec3<> x = transpose_times(shape.X.R, p - shape.X.p);
  switch (shape.kind) {
    case ShapeKind::kBox:
      return std::fmax(std::fmax(std::abs(x.x) - shape.half.x, std::abs(x.y) - shape.half.y),
                       std::abs(x.z) - shape.half.z);
    case ShapeKind::kCylinder:
      return std::fmax(std::sqrt(x.x * x.x + x.y * x.y) - shape.half.x, std::abs(x.z) - shape.half.z);
    case ShapeKind::kConvexHull: {
      if (shape.hull->faces.empty()) return norm(x - shape.hull->centre);
      double worst = -shape.size;
      for (const HullData::Face& f : shape.hull->faces) worst = std::fmax(worst, dot(f.normal, x) - f.offset);
      return worst;
    }
    case ShapeKind::kTriangleMesh: {
      const Vec3<> n = triangle_normal(shape.triangle);
      double worst = std::abs(dot(n, x - shape.triangle[0]));
      for (int i = 0; i < 3; ++i) {
        const Vec3<> e = shape.triangle[(i + 1) % 3] - shape.triangle[i], m = cross(e, n);
        if (const double length = norm(m); length > 0) worst = std::fmax(worst, dot(m, x - shape.triangle[i]) / length);
      }
      return worst;
    }
    default:  // a segment or a point
      return std::fmax(std::sqrt(x.x * x.x + x.y * x.y), std::abs(x.z) - shape.half.z);
  }
}

bool nearest_face_normal(const Convex& shape, const Vec3<>& d, Vec3<>& normal) {
  const Vec3<> local = to_local(shape, d);
  switch (shape.kind) {
    case ShapeKind::kBox: {
      const int face = nearest_box_face(local);
      normal = box_axis(shape.X.R, face / 2);
      if (face % 2 != 0) normal = -normal;
      return true;
    }
    case ShapeKind::kCylinder:
      normal = local.z < 0 ? -shape.X.R.column_z() : shape.X.R.column_z();
      return true;
    case ShapeKind::kConvexHull: {
      const int face = nearest_hull_face(*shape.hull, local);
      if (face >= 0) normal = shape.X.R * shape.hull->faces[std::size_t(face)].normal;
      return face >= 0;
    }
    case ShapeKind::kTriangleMesh: {
      const Vec3<> n = triangle_normal(shape.triangle);
      normal = shape.X.R * (dot(n, local) >= 0 ? n : -n);
      return dot(n, n) > 0;
    }
    default:
      return false;
  }
}

bool nearest_face(const Convex& shape, const Vec3<>& d, Facet& out) {
  const Vec3<> local = to_local(shape, d);
  switch (shape.kind) {
    case ShapeKind::kBox:
      box_facet(shape, nearest_box_face(local), out);
      return true;
    case ShapeKind::kCylinder:
      cap_facet(shape, local, local.z >= 0, out);
      return true;
    case ShapeKind::kConvexHull: {
      const int face = nearest_hull_face(*shape.hull, local);
      if (face >= 0) hull_facet(shape, face, out);
      return face >= 0;
    }
    case ShapeKind::kTriangleMesh:
      triangle_facet(shape, dot(triangle_normal(shape.triangle), local) >= 0, out);
      return true;
    default:
      return false;
  }
}

void touching_facet(const Convex& shape, const Vec3<>& d, Facet& out) {
  const Vec3<> local = to_local(shape, d);
  if (shape.kind == ShapeKind::kCapsule) {
    segment_facet(shape, {}, feature(FeatureKind::kVertex, 0), out);
  } else if (shape.kind == ShapeKind::kCylinder && std::abs(local.z) < kDiagonal * norm(local)) {
    side_facet(shape, local, out);
  } else if (shape.kind == ShapeKind::kConvexHull && shape.hull->faces.empty()) {
    if (!hull_edge(shape, local, out)) point_facet(shape, d, out);
  } else if (!nearest_face(shape, d, out)) {
    point_facet(shape, d, out);
  }
}

bool touching_edge(const Convex& shape, const Vec3<>& d, Facet& out) {
  const Vec3<> local = to_local(shape, d);
  switch (shape.kind) {
    case ShapeKind::kCapsule:
      segment_facet(shape, {}, feature(FeatureKind::kVertex, 0), out);
      return shape.half.z > 0;
    case ShapeKind::kCylinder:
      side_facet(shape, local, out);
      return shape.half.z > 0;
    case ShapeKind::kBox:
      box_edge(shape, local, out);
      return true;
    case ShapeKind::kConvexHull:
      return hull_edge(shape, local, out);
    case ShapeKind::kTriangleMesh:
      return polygon_edge(shape, local, shape.triangle, 3, out);
    default:
      return false;
  }
}

}  // namespace kansetsu::detail
