#include <cmath>

#include "geometry/bounds.h"
#include "geometry/gjk.h"
#include "geometry/pairs.h"
#include "geometry/terrain.h"
#include "kansetsu/geometry/query.h"

namespace kansetsu {
namespace {

using detail::Convex;

Distance at_point(const Vec3<>& normal, const Vec3<>& p, double gap) {
  return {gap, madd(0.5 * gap, normal, p), madd(-0.5 * gap, normal, p), normal};
}

Distance deepest_point(const Manifold& m) {
  int best = 0;
  for (int i = 1; i < m.count; ++i) {
    if (m.points[i].gap < m.points[best].gap) best = i;
  }
  return at_point(m.normal_W, m.points[best].p_W, m.points[best].gap);
}

/// Half spaces overlap without bound unless they face each other exactly.
Distance between_planes(const Transform<>& X_WA, const Transform<>& X_WB) {
  const Vec3<> a = X_WA.R.column_z(), b = X_WB.R.column_z(), d = X_WA.p - X_WB.p;
  if (norm(a + b) > 1e-12) return {-kInfinity, X_WA.p, X_WB.p, b};
  const double gap = dot(b, d);
  return {gap, X_WA.p, madd(-gap, b, X_WA.p), b};
}

double box_gap(const Aabb& a, const Aabb& b) {
  const auto gap = [](double low_a, double up_a, double low_b, double up_b) {
    return std::fmax(0, std::fmax(low_a - up_b, low_b - up_a));
  };
  return norm(Vec3<>{gap(a.lower.x, a.upper.x, b.lower.x, b.upper.x), gap(a.lower.y, a.upper.y, b.lower.y, b.upper.y),
                     gap(a.lower.z, a.upper.z, b.lower.z, b.upper.z)});
}

/// The nearest triangle to a convex shape outside of the surface, in the surface's frame.
class NearestTriangle {
 public:
  NearestTriangle(const Convex& shape, const Aabb& box) : shape_(shape), box_(box) {}

  void visit(const Vec3<>* corner) {
    Convex triangle{.kind = ShapeKind::kTriangleMesh, .triangle = corner};
    for (int i = 1; i < 3; ++i) triangle.size = std::fmax(triangle.size, norm(corner[i] - corner[0]));
    const detail::Separation found = detail::separate(shape_, triangle, best_.distance + shape_.radius);
    if (found.beyond || !(found.distance - shape_.radius < best_.distance)) return;
    const double gap = found.distance - shape_.radius;
    best_ = {gap, madd(-shape_.radius, found.normal, found.a), found.b, found.normal};
  }
  void visit(const MeshData& mesh) {
    int stack[64], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const int index = stack[--depth];
      const MeshData::Node& node = mesh.nodes[std::size_t(index)];
      if (box_gap(node.box, box_) >= best_.distance) continue;
      if (node.count == 0) {
        const bool left_first = box_gap(mesh.nodes[std::size_t(index + 1)].box, box_) <=
                                box_gap(mesh.nodes[std::size_t(node.first)].box, box_);
        stack[depth++] = left_first ? node.first : index + 1;
        stack[depth++] = left_first ? index + 1 : node.first;
        continue;
      }
      for (int i = 0; i < node.count; ++i) visit(mesh_triangle(mesh, mesh.order[std::size_t(node.first + i)]).corner);
    }
  }
  void visit(const HeightFieldData& field) {
    const int count = int(field.region.size());
    for (int i = 0; i < count; ++i) {
      const TerrainTriangle t = height_field_triangle(field, i);
      Aabb box = detail::kNoBox;
      for (const Vec3<>& c : t.corner) detail::include(box, c);
      if (box_gap(box, box_) < best_.distance) visit(t.corner);
    }
  }
  void visit(const Geometry& surface) {
    surface.kind() == ShapeKind::kTriangleMesh ? visit(*surface.mesh_data()) : visit(*surface.height_field_data());
  }
  const Distance& best() const { return best_; }

 private:
  const Convex& shape_;
  Aabb box_;
  Distance best_{kInfinity, {}, {}, {0, 0, 1}};
};

Distance to_world(const Distance& d, const Transform<>& X_WS) {
  return {d.distance, X_WS * d.p_WA, X_WS * d.p_WB, X_WS.R * d.normal_W};
}
Distance exchanged(const Distance& d) { return {d.distance, d.p_WB, d.p_WA, -d.normal_W}; }

/// Of a mesh above a surface: all of its triangles.
Distance mesh_distance(const MeshData& mesh, const Transform<>& X_SM, const Geometry& surface) {
  Distance best{kInfinity, {}, {}, {0, 0, 1}};
  for (const auto& t : mesh.data->triangles) {
    Vec3<> corner[3];
    for (std::size_t k = 0; k < 3; ++k) corner[k] = X_SM * mesh.data->vertices[std::size_t(t[k])];
    Convex shape{.kind = ShapeKind::kTriangleMesh, .triangle = corner};
    Aabb box = detail::kNoBox;
    for (const Vec3<>& c : corner) {
      shape.size = std::fmax(shape.size, norm(c - corner[0]));
      detail::include(box, c);
    }
    NearestTriangle nearest(shape, box);
    nearest.visit(surface);
    if (nearest.best().distance < best.distance) best = nearest.best();
  }
  return best;
}

/// The lowest corner of a mesh over a plane; the mesh is A.
Distance mesh_over_plane(const MeshData& mesh, const Transform<>& X_WM, const Transform<>& X_WP) {
  const Vec3<> n = X_WP.R.column_z();
  Distance best{kInfinity, {}, {}, n};
  for (const Vec3<>& v : mesh.data->vertices) {
    const Vec3<> p = X_WM * v;
    if (const double gap = dot(n, p - X_WP.p); gap < best.distance) best = {gap, p, madd(-gap, n, p), n};
  }
  return best;
}

/// Outside of each other; B is the later kind.
Distance surface_distance(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB) {
  if (A.kind() == ShapeKind::kPlane) {
    if (B.kind() == ShapeKind::kTriangleMesh) return exchanged(mesh_over_plane(*B.mesh_data(), X_WB, X_WA));
    return {-kInfinity, X_WA.p, X_WB.p, X_WB.R.column_z()};  // the ground has no end below
  }
  const Transform<> X_BA = inverse(X_WB) * X_WA;
  if (A.is_convex()) {
    const Convex shape = detail::make_convex(A, X_BA);
    NearestTriangle nearest(shape, bounds(A, X_BA));
    nearest.visit(B);
    return to_world(nearest.best(), X_WB);
  }
  if (A.kind() == ShapeKind::kTriangleMesh) return to_world(mesh_distance(*A.mesh_data(), X_BA, B), X_WB);
  if (B.kind() == ShapeKind::kTriangleMesh)
    return exchanged(to_world(mesh_distance(*B.mesh_data(), inverse(X_BA), A), X_WA));
  return {-kInfinity, X_WA.p, X_WB.p, X_WB.R.column_z()};
}

}  // namespace

Distance signed_distance(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB) {
  if (A.kind() == ShapeKind::kPlane && B.kind() == ShapeKind::kPlane) return between_planes(X_WA, X_WB);
  Manifold m;
  const bool convex = A.is_convex() && B.is_convex();
  if (collide(A, X_WA, B, X_WB, convex ? kInfinity : 0, m)) return deepest_point(m);
  if (convex) return {kInfinity, X_WA.p, X_WB.p, {0, 0, 1}};  // a pose is not finite
  if (A.kind() <= B.kind()) return surface_distance(A, X_WA, B, X_WB);
  return exchanged(surface_distance(B, X_WB, A, X_WA));
}

}  // namespace kansetsu
