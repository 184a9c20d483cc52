#include <cmath>

#include "geometry/box_features.h"
#include "geometry/pairs.h"
#include "geometry/patch.h"

/// Boxes by the 15 separating axes ([Got96]): the axis of largest separation is exact while the boxes overlap, and outside
/// if the patch it gives holds a point at that distance.
namespace kansetsu::detail {
namespace {

double component(const Vec3<>& a, int k) { return k == 0 ? a.x : (k == 1 ? a.y : a.z); }
const Vec3<>& row(const Mat3<>& A, int k) { return k == 0 ? A.x : (k == 1 ? A.y : A.z); }
Vec3<> absolute(const Vec3<>& a) { return {std::abs(a.x), std::abs(a.y), std::abs(a.z)}; }

struct Axes {
  double face_distance, edge_distance;
  int face;            ///< 0…2 axes of A, 3…5 of B
  int edge_a, edge_b;  ///< −1: no edge pair is worth it
  Vec3<> edge_normal;  ///< in A, from B to A
};

/// All in the frame of A. False as soon as one axis separates by more than the margin.
bool test_axes(const Vec3<>& a, const Vec3<>& b, const Mat3<>& R, const Vec3<>& t, double margin, Axes& out) {
  const Mat3<> abs_R{absolute(R.x), absolute(R.y), absolute(R.z)};
  const double tolerance = kSameDistance * (a.x + a.y + a.z + b.x + b.y + b.z);
  out.face_distance = -1e300;
  for (int i = 0; i < 3; ++i) {
    const double d = std::abs(component(t, i)) - component(a, i) - dot(row(abs_R, i), b);
    if (d > out.face_distance) {
      out.face_distance = d;
      out.face = i;
    }
  }
  if (out.face_distance > margin) return false;
  const Vec3<> t_B = transpose_times(R, t), reach_a = transpose_times(abs_R, a);
  double best_b = -1e300;
  int face_b = 3;
  for (int i = 0; i < 3; ++i) {
    const double d = std::abs(component(t_B, i)) - component(b, i) - component(reach_a, i);
    if (d > best_b) {
      best_b = d;
      face_b = 3 + i;
    }
  }
  if (best_b > margin) return false;
  if (best_b > out.face_distance + tolerance) {  // A's face where both are as good
    out.face_distance = best_b;
    out.face = face_b;
  }
  out.edge_distance = out.face_distance + tolerance;  // and a face where an edge is
  out.edge_a = out.edge_b = -1;
  const Vec3<> column[3] = {R.column_x(), R.column_y(), R.column_z()};
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const Vec3<>& e = column[j];  // n = e_i × e: components −e[i2], e[i1] along i1, i2
      const double n2 = component(e, i1) * component(e, i1) + component(e, i2) * component(e, i2);
      if (n2 < 1e-8) continue;  // parallel: a face axis covers this case
      const double along = component(e, i1) * component(t, i2) - component(e, i2) * component(t, i1);
      const double reach =
          component(a, i1) * component(row(abs_R, i2), j) + component(a, i2) * component(row(abs_R, i1), j) +
          component(b, j1) * component(row(abs_R, i), j2) + component(b, j2) * component(row(abs_R, i), j1);
      const double length = std::sqrt(n2), d = (std::abs(along) - reach) / length;
      if (d <= out.edge_distance) continue;
      if (d > margin) return false;
      out.edge_distance = d;
      out.edge_a = i;
      out.edge_b = j;
      const double s = (along > 0 ? -1 : 1) / length;  // from B to A: against t
      double n[3] = {0, 0, 0};
      n[i1] = -s * component(e, i2);
      n[i2] = s * component(e, i1);
      out.edge_normal = {n[0], n[1], n[2]};
    }
  }
  return true;
}

struct BoxEdge {
  Vec3<> middle, half;  ///< of the edge, and half of its length along it
  std::uint32_t id;
};

/// The edge along axis k of a box that is furthest along d.
BoxEdge edge_towards(const Convex& box, int k, const Vec3<>& d) {
  const int v = box_vertex(transpose_times(box.X.R, d));
  Vec3<> corner = box_corner(box.half, v);
  (k == 0 ? corner.x : (k == 1 ? corner.y : corner.z)) = 0;
  return {box.X * corner, component(box.half, k) * box_axis(box.X.R, k),
          feature(FeatureKind::kEdge, box_edge_number(k, v))};
}

/// The point where two edges cross. False if they do so beyond an end: then the distance is not that of the lines.
bool edge_contact(const Convex& A, const Convex& B, const Axes& axes, PatchWriter& out) {
  const BoxEdge a = edge_towards(A, axes.edge_a, -out.normal()), b = edge_towards(B, axes.edge_b, out.normal());
  const Vec3<>&u = a.half, &v = b.half, d = a.middle - b.middle;
  const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), du = dot(d, u), dv = dot(d, v), det = uu * vv - uv * uv;
  if (!(det > 0)) return false;
  const double s = (uv * dv - vv * du) / det, t = (uu * dv - uv * du) / det;
  constexpr double kEnd = 1 + 1e-9;
  if (!(std::abs(s) <= kEnd) || !(std::abs(t) <= kEnd)) return false;
  out.add_above(madd(s, u, a.middle), axes.edge_distance, feature_pair(a.id, b.id));
  return true;
}

/// The face of one box that lies on the other. False if no point of it is as near as `distance`.
bool face_contact(const Convex& A, const Convex& B, const Axes& axes, double distance, const Manifold& manifold,
                  PatchWriter& out) {
  const bool of_a = axes.face < 3;
  Facet face, other;
  nearest_face(of_a ? A : B, of_a ? -out.normal() : out.normal(), face);
  nearest_face(of_a ? B : A, of_a ? out.normal() : -out.normal(), other);
  const double tolerance = same_distance(A, B);
  clip_to_face(face, of_a, other, tolerance, out);
  for (int i = 0; i < manifold.count; ++i) {
    if (manifold.points[i].gap <= distance + 2 * tolerance) return true;
  }
  return false;
}

}  // namespace

bool box_box(const Placed& A, const Placed& B, double margin, Manifold& out) {
  out.count = 0;
  out.part = 0;
  const Vec3<> p_AB_W = B.X_W.p - A.X_W.p;
  Mat3<> R;
  {
    const Mat3<>&P = A.X_W.R, &Q = B.X_W.R;  // R_AB = Pᵀ Q
    R = {transpose_times(Q, P.column_x()), transpose_times(Q, P.column_y()), transpose_times(Q, P.column_z())};
  }
  const Vec3<> t = transpose_times(A.X_W.R, p_AB_W);
  Axes axes{};
  if (!test_axes(A.geometry.half(), B.geometry.half(), R, t, margin, axes)) return false;
  const Convex a = make_convex(A.geometry, {A.X_W.R, {}}), b = make_convex(B.geometry, {B.X_W.R, p_AB_W});
  PatchWriter writer(out, 0, 0, margin);
  const auto face_axis = [&](int k) { return k < 3 ? box_axis(A.X_W.R, k) : box_axis(B.X_W.R, k - 3); };
  const Vec3<> edge_normal = A.X_W.R * axes.edge_normal;
  double along = 1, distance = axes.face_distance;
  if (axes.edge_a >= 0) {  // by edges, unless a face is all but square to their normal
    along = 0;
    for (int k = 0; k < 6; ++k) {
      if (const double d = std::abs(dot(edge_normal, face_axis(k))); d > along) along = d, axes.face = k;
    }
    distance = axes.edge_distance / along;  // of the point where they cross, along the face's normal
  }
  bool exact = false;
  if (along > kLies && (axes.edge_a < 0 || writer.bounded())) {
    const Vec3<> axis = face_axis(axes.face);
    writer.set_normal(dot(axis, p_AB_W) > 0 ? -axis : axis);
    exact = face_contact(a, b, axes, distance, out, writer);
  }
  if (!exact && axes.edge_a >= 0) {
    out.count = 0;
    writer.set_normal(edge_normal);
    exact = edge_contact(a, b, axes, writer);
  }
  if (!exact && !collide_convex(a, b, margin, out)) {
    out.count = 0;
    return false;
  }
  for (int i = 0; i < out.count; ++i) out.points[i].p_W += A.X_W.p;
  return out.count > 0;
}

}  // namespace kansetsu::detail
