#include "geometry/terrain_contact.h"

#include <algorithm>
#include <limits>

#include "geometry/bounds.h"
#include "geometry/merged_patch.h"
#include "geometry/patch.h"
#include "geometry/terrain_walk.h"

/// Convex shapes against surfaces of triangles: each triangle near the shape gives a patch, and patches of one region of
/// the surface become one. All in the frame of the surface.
namespace kansetsu::detail {
namespace {

/// Whether a contact with normal m may belong to this triangle: along its own normal, or leaning over ridges only.
bool is_admissible(const TerrainTriangle& t, const Vec3<>& m) {
  const double along = dot(m, t.normal);
  const Vec3<> tangent = madd(-along, t.normal, m);
  const double lean = norm(tangent);
  if (lean <= 1e-7) return along > 0;
  if (along < 0) return false;
  double height[3], highest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) highest = std::max(highest, height[i] = dot(tangent, t.corner[i]));
  const double size = norm(t.corner[1] - t.corner[0]) + norm(t.corner[2] - t.corner[0]);
  const double enough = highest - 1e-6 * size * lean;
  for (int i = 0; i < 3; ++i) {
    const TriangleEdge& edge = t.edges[std::size_t(i)];
    const bool whole = height[i] >= enough && height[(i + 1) % 3] >= enough;
    if (whole) return edge.ridge && along >= edge.lean - 1e-9;  // one edge carries it
  }
  for (int i = 0; i < 3; ++i) {  // a corner of a mesh, where no neighbour of it lies higher
    if (height[i] < enough || t.around[std::size_t(i)].empty()) continue;
    return std::ranges::all_of(t.around[std::size_t(i)],
                               [&](const Vec3<>& w) { return dot(m, w - t.corner[i]) <= 1e-9 * size; });
  }
  for (int i = 0; i < 3; ++i) {  // a corner: both of its edges must allow it
    const TriangleEdge& edge = t.edges[std::size_t(i)];
    const bool touches = height[i] >= enough || height[(i + 1) % 3] >= enough;
    if (touches && !(edge.ridge && along >= edge.lean - 1e-9)) return false;
  }
  return true;
}

class TriangleContact {
 public:
  TriangleContact(const Convex& shape, bool solid, double margin, MergedPatches& out)
      : shape_(shape), solid_(solid), margin_(margin), out_(out) {}

  void add(const TerrainTriangle& t) {
    if (!(dot(t.normal, t.normal) > 0)) return;
    const double offset = dot(t.normal, t.corner[0]);
    const double face = -support_height(shape_, -t.normal) - offset;
    if (!(face - shape_.radius <= margin_)) return;
    Convex triangle{.kind = ShapeKind::kTriangleMesh, .triangle = t.corner};
    for (const Vec3<>& c : t.corner) triangle.size = std::max(triangle.size, norm(c - t.corner[0]));
    Manifold patch;
    if (dot(t.normal, centre()) < offset) {  // behind the surface
      if (solid_) face_contact(t, triangle, Keep::kRidges, patch);
      return;
    }
    if (!t.edges[0].ridge && !t.edges[1].ridge && !t.edges[2].ridge) {
      face_contact(t, triangle, Keep::kFace, patch);
      return;
    }
    const Separation found = separate_outside(shape_, triangle, margin_ + shape_.radius);
    if (found.beyond) return;
    if (found.distance <= 0) {
      overlap_contact(t, triangle, face, patch);
    } else if (!is_admissible(t, found.normal)) {
      face_contact(t, triangle, Keep::kFace, patch);
    } else if (make_patch(shape_, triangle, found, margin_, patch)) {
      write(t, Keep::kRidges, patch);
    }
  }

 private:
  /// Of the points of a patch: those over the face alone, or those at its ridges as well.
  enum class Keep { kFace, kRidges };

  Vec3<> centre() const { return shape_.kind == ShapeKind::kConvexHull ? shape_.X * shape_.hull->centre : shape_.X.p; }

  /// Points that exist only because the surface is cut into triangles are left out.
  void write(const TerrainTriangle& t, Keep keep, Manifold& patch) {
    int kept = 0;
    for (int i = 0; i < patch.count; ++i) {
      const std::uint32_t id = patch.points[i].feature & 0xffff;
      const auto k = std::size_t(id & 0x3fff) % 3;
      const auto kind = FeatureKind(id >> 14);
      const bool ridge = kind == FeatureKind::kEdge ? t.edges[k].ridge : t.edges[k].ridge || t.edges[(k + 2) % 3].ridge;
      if (kind == FeatureKind::kFace || (keep == Keep::kRidges && ridge)) patch.points[kept++] = patch.points[i];
    }
    patch.count = kept;
    if (kept > 0) out_.add(patch, t.region);
  }

  void face_contact(const TerrainTriangle& t, const Convex& triangle, Keep keep, Manifold& patch) {
    PatchWriter writer(patch, shape_.radius, 0, margin_);
    writer.set_normal(t.normal);
    Facet face, other;
    nearest_face(triangle, t.normal, face);
    touching_facet(shape_, -t.normal, other);
    clip_to_face(face, false, other, same_distance(shape_, triangle), writer);
    write(t, keep, patch);
  }

  /// Cores overlap: along the triangle's normal, along a face or edge of the shape, or whatever needs least depth, if it leans over
  /// a ridge. A direction of less depth that leans elsewhere belongs to another triangle.
  void overlap_contact(const TerrainTriangle& t, const Convex& triangle, double face, Manifold& patch) {
    Separation best;
    best.distance = face;
    best.normal = t.normal;
    bool elsewhere = false, leans = false;
    const auto consider = [&](const Vec3<>& n) {
      const double s = separation_along(shape_, triangle, n);
      if (!(s > best.distance + 1e-9 * shape_.size)) return;
      if (!is_admissible(t, n)) {
        elsewhere = true;
        return;
      }
      best.distance = s;
      best.normal = n;
      leans = true;
    };
    Vec3<> n;
    if (nearest_face_normal(shape_, -t.normal, n)) consider(-n);
    Facet edge;
    for (int i = 0; i < 3; ++i) {
      if (!t.edges[std::size_t(i)].ridge || !touching_edge(shape_, -t.normal, edge)) continue;
      const Vec3<> c = cross(edge.p[1] - edge.p[0], t.corner[(i + 1) % 3] - t.corner[i]);
      const double length = norm(c);
      if (length > 0) consider((dot(c, t.normal) < 0 ? -1 / length : 1 / length) * c);
    }
    if (-best.distance > margin_) {
      // Still deep: the triangle may only just reach into the shape; then its normal and these faces and edges do not bound the depth.
      constexpr double kFarLess = 0.2;
      const Separation least = separate(shape_, triangle, margin_);
      consider(least.normal);
      if (-least.distance < kFarLess * -best.distance) return;
    }
    if (!leans) return face_contact(t, triangle, elsewhere ? Keep::kFace : Keep::kRidges, patch);
    std::uint32_t unused;
    best.a = support(shape_, -best.normal, unused);
    best.b = support(triangle, best.normal, unused);
    if (make_patch(shape_, triangle, best, margin_, patch)) write(t, Keep::kRidges, patch);
  }

  const Convex& shape_;
  bool solid_;
  double margin_;
  MergedPatches& out_;
};

Aabb grown(const Aabb& box, double margin) {
  const Vec3<> m{margin, margin, margin};
  return {box.lower - m, box.upper + m};
}

/// A convex shape placed in the frame of the surface.
void shape_on_surface(const Convex& shape, const Aabb& box, const Geometry& surface, double margin,
                      MergedPatches& out) {
  TriangleContact contact(shape, surface.kind() == ShapeKind::kHeightField, margin, out);
  if (surface.kind() == ShapeKind::kHeightField) {
    const HeightFieldData& d = *surface.height_field_data();
    visit_field(d, grown(box, margin), [&](int t) { contact.add(height_field_triangle(d, t)); });
  } else {
    const MeshData& d = *surface.mesh_data();
    visit_mesh(d, grown(box, margin), [&](int t) { contact.add(mesh_triangle(d, t)); });
  }
}

/// The corners of a mesh below a plane, which is given in the mesh's frame.
void mesh_on_plane(const MeshData& mesh, const Transform<>& X_MP, double margin, MergedPatches& out) {
  const Vec3<> n = X_MP.R.column_z();
  const auto below = [&](const Aabb& b) {
    const Vec3<> low{n.x > 0 ? b.lower.x : b.upper.x, n.y > 0 ? b.lower.y : b.upper.y, n.z > 0 ? b.lower.z : b.upper.z};
    return dot(n, low - X_MP.p) <= margin;
  };
  Manifold patch;
  patch.normal_W = n;
  walk_mesh(mesh, below, [&](int triangle) {
    patch.count = 0;
    for (int v : mesh.data->triangles[std::size_t(triangle)]) {
      const Vec3<>& p = mesh.data->vertices[std::size_t(v)];
      const double gap = dot(n, p - X_MP.p);
      if (!(gap <= margin)) continue;
      patch.points[patch.count++] = {madd(-0.5 * gap, n, p), gap, feature_pair(feature(FeatureKind::kVertex, v), 0)};
    }
    if (patch.count > 0) out.add(patch, 0);
  });
}

/// A mesh on a mesh or height field: its triangles as convex shapes.
void mesh_on_surface(const Geometry& upper, const Transform<>& X_SU, const Geometry& surface, double margin,
                     MergedPatches& out) {
  const MeshData& mesh = *upper.mesh_data();
  // The surface's box in the mesh's frame picks the triangles that may touch.
  const Aabb near = turned_bounds(grown(surface.local_bounds(), margin), inverse(X_SU));
  visit_mesh(mesh, near, [&](int index) {
    Vec3<> corner[3];
    Aabb box = kNoBox;
    for (std::size_t k = 0; k < 3; ++k) {
      corner[k] = X_SU * mesh.data->vertices[std::size_t(mesh.data->triangles[std::size_t(index)][k])];
      include(box, corner[k]);
    }
    const Vec3<> centre = (1.0 / 3) * (corner[0] + corner[1] + corner[2]);
    Convex shape{.kind = ShapeKind::kTriangleMesh, .triangle = corner};
    for (Vec3<>& c : corner) {
      c -= centre;
      shape.size = std::max(shape.size, norm(c));
    }
    shape.X.p = centre;
    shape_on_surface(shape, box, surface, margin, out);
  });
}

}  // namespace

void collide_terrain(const Placed& A, const Placed& B, double margin, ManifoldList& out) {
  const bool swapped = A.geometry.kind() > B.geometry.kind();
  const Placed &upper = swapped ? B : A, &lower = swapped ? A : B;  // the surface below is the later kind
  const Transform<> X_SU = inverse(lower.X_W) * upper.X_W;
  MergedPatches merged;
  bool flipped = swapped;
  if (upper.geometry.kind() == ShapeKind::kPlane) {
    if (lower.geometry.kind() == ShapeKind::kHeightField) return;
    mesh_on_plane(*lower.geometry.mesh_data(), X_SU, margin, merged);
    flipped = !flipped;  // here the mesh is above
  } else if (upper.geometry.is_convex()) {
    shape_on_surface(make_convex(upper.geometry, X_SU), bounds(upper.geometry, X_SU), lower.geometry, margin, merged);
  } else if (upper.geometry.kind() == ShapeKind::kTriangleMesh) {
    mesh_on_surface(upper.geometry, X_SU, lower.geometry, margin, merged);
  } else if (lower.geometry.kind() == ShapeKind::kTriangleMesh) {  // mesh above a height field
    mesh_on_surface(lower.geometry, inverse(X_SU), upper.geometry, margin, merged);
    merged.write(upper.X_W, !flipped, out);
    return;
  }
  merged.write(lower.X_W, flipped, out);
}

}  // namespace kansetsu::detail
