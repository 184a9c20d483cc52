#include <cmath>

#include "geometry/box_features.h"
#include "geometry/pairs.h"
#include "geometry/patch.h"

/// Shapes on a plane, boxes on boxes.
namespace kansetsu::detail {
namespace {

constexpr std::uint32_t kPlaneFeature = feature(FeatureKind::kFace, 0);

double minimum(double a, double b) { return a < b ? a : b; }

}  // namespace

bool box_plane(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Mat3<>& R = A.X_W.R;
  const Vec3<>& half = A.geometry.half();
  const Vec3<> n = B.X_W.R.column_z(), local = transpose_times(R, n);
  const Vec3<> reach{local.x * half.x, local.y * half.y, local.z * half.z};
  const double centre = dot(n, A.X_W.p - B.X_W.p);
  out.count = 0;
  out.part = 0;
  out.normal_W = n;
  if (!(centre - std::abs(reach.x) - std::abs(reach.y) - std::abs(reach.z) <= margin)) return false;
  const BoxFace& face = kBoxFaces[nearest_box_face(-local)];
  for (int i = 3; i >= 0; --i) {  // a face seen from inside
    const int v = face.vertex[i];
    const double gap = centre + ((v & 1) != 0 ? reach.x : -reach.x) + ((v & 2) != 0 ? reach.y : -reach.y) +
                       ((v & 4) != 0 ? reach.z : -reach.z);
    if (!(gap <= margin)) continue;
    const Vec3<> p = A.X_W * box_corner(half, v);
    out.points[out.count++] = {madd(-0.5 * gap, n, p), gap,
                               feature_pair(feature(FeatureKind::kVertex, v), kPlaneFeature)};
  }
  if (minimum(half.x, minimum(half.y, half.z)) == 0) {  // corners of a box without volume may coincide
    int kept = 0;
    for (int i = 0; i < out.count; ++i) {
      bool repeated = false;
      for (int k = 0; k < kept; ++k) repeated = repeated || out.points[k].p_W == out.points[i].p_W;
      if (!repeated) out.points[kept++] = out.points[i];
    }
    out.count = kept;
  }
  return true;
}

bool capsule_plane(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Vec3<> n = B.X_W.R.column_z(), half = A.geometry.half().z * A.X_W.R.column_z(), centre = A.X_W.p - B.X_W.p;
  PatchWriter writer(out, A.geometry.radius(), 0, margin);
  writer.set_normal(n);
  for (int i = 1; i >= 0; --i) {  // as of a face seen from inside
    const Vec3<> p = i == 0 ? centre - half : centre + half;
    writer.add_above(p, dot(n, p), feature_pair(feature(FeatureKind::kVertex, i), kPlaneFeature));
  }
  for (int i = 0; i < out.count; ++i) out.points[i].p_W += B.X_W.p;
  return out.count > 0;
}

bool convex_plane(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Convex shape = make_convex(A.geometry, {A.X_W.R, A.X_W.p - B.X_W.p});
  const Vec3<> n = B.X_W.R.column_z();
  PatchWriter writer(out, shape.radius, 0, margin);
  writer.set_normal(n);
  std::uint32_t id;
  const Vec3<> lowest = support(shape, -n, id);
  const double gap = dot(n, lowest);
  if (!writer.within(gap)) return false;
  Facet facet;
  touching_facet(shape, -n, facet);
  const double tolerance = 1e-12 * shape.size;
  bool has_lowest = false;
  for (int i = facet.count - 1; i >= 0; --i) has_lowest = has_lowest || dot(n, facet.p[i]) <= gap + tolerance;
  if (!has_lowest) {  // a sliver of a hull whose normal is nearest belongs to another vertex
    writer.add_above(lowest, gap, feature_pair(id, kPlaneFeature));
  } else if (facet.count <= kMaxManifoldPoints) {
    for (int i = facet.count - 1; i >= 0; --i)
      writer.add_above(facet.p[i], dot(n, facet.p[i]), feature_pair(facet.vertex[i], kPlaneFeature));
  } else {
    Facet plane;  // a square around the shape, so that clipping thins out the corners
    plane.normal = n;
    plane.face = kPlaneFeature;
    plane.count = 4;
    const Vec3<> x = B.X_W.R.column_x(), y = B.X_W.R.column_y(), centre = shape.X.p - dot(n, shape.X.p) * n;
    const double r = 2 * shape.size;
    plane.p[0] = centre + r * x + r * y;
    plane.p[1] = centre - r * x + r * y;
    plane.p[2] = centre - r * x - r * y;
    plane.p[3] = centre + r * x - r * y;
    for (int i = 0; i < 4; ++i) plane.vertex[i] = plane.edge[i] = kPlaneFeature;
    clip_to_face(plane, false, facet, tolerance, writer);
  }
  for (int i = 0; i < out.count; ++i) out.points[i].p_W += B.X_W.p;
  return out.count > 0;
}

bool convex_convex(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Convex a = make_convex(A.geometry, {A.X_W.R, {}}), b = make_convex(B.geometry, {B.X_W.R, B.X_W.p - A.X_W.p});
  if (!collide_convex(a, b, margin, out)) {
    out.count = 0;
    return false;
  }
  for (int i = 0; i < out.count; ++i) out.points[i].p_W += A.X_W.p;
  return true;
}

}  // namespace kansetsu::detail
