#include <cmath>

#include "geometry/near_kernel.h"
#include "geometry/pairs.h"
#include "geometry/patch.h"

/// Pairs with a sphere or with two capsules: nearest points of cores.
namespace kansetsu::detail {
namespace {

constexpr std::uint32_t kRound = feature(FeatureKind::kCurved, 0);

/// Direction from q to p, or `fallback` if they are one.
Vec3<> direction(const Vec3<>& d, double length, const Vec3<>& fallback) {
  return length > 0 ? (1 / length) * d : fallback;
}

/// Two spheres: the ends of nearest cores. Tells whether d is the vector from B's to A's.
bool round_contact(const Vec3<>& d, const Vec3<>& q, double radius_a, double radius_b, const Vec3<>& fallback,
                   std::uint32_t id, double margin, Manifold& out) {
  const double length = norm(d);
  const Vec3<> n = direction(d, length, fallback);
  return single_point(n, length - radius_a - radius_b, madd(radius_b, n, q), id, margin, out);
}

/// Some unit vector across u.
Vec3<> across(const Vec3<>& u) {
  const double x = std::abs(u.x), y = std::abs(u.y), z = std::abs(u.z);
  const Vec3<> axis = z <= x && z <= y ? Vec3<>{0, 0, 1} : (y <= x ? Vec3<>{0, 1, 0} : Vec3<>{1, 0, 0});
  const Vec3<> n = axis - (dot(axis, u) / dot(u, u)) * u;
  return (1 / norm(n)) * n;
}

/// Which part of a segment: inside, or one of its ends.
std::uint32_t segment_feature(double s) {
  if (s <= 0) return feature(FeatureKind::kVertex, 0);
  return s >= 1 ? feature(FeatureKind::kVertex, 1) : kRound;
}

struct Segment {
  Vec3<> start, along;
};
Segment axis_of(const Placed& capsule) {
  const Vec3<> h = capsule.geometry.half().z * capsule.X_W.R.column_z();
  return {capsule.X_W.p - h, 2.0 * h};
}

/// Normal of capsules whose axes meet: across both, away from B's centre.
Vec3<> crossing_normal(const Segment& a, const Segment& b) {
  const Vec3<> n = cross(a.along, b.along);
  const double length = norm(n);
  if (!(length > 0)) return dot(a.along, a.along) > 0 ? across(a.along) : Vec3<>{0, 0, 1};
  const Vec3<> middle = (a.start + 0.5 * a.along) - (b.start + 0.5 * b.along);
  return ((dot(n, middle) < 0 ? -1 : 1) / length) * n;
}

void fill(const Segment& s, Facet& out) {
  out.count = 2;
  for (int i = 0; i < 2; ++i) {
    out.p[i] = madd(double(i), s.along, s.start);
    out.vertex[i] = feature(FeatureKind::kVertex, i);
    out.edge[i] = kRound;
  }
}

}  // namespace

bool single_point(const Vec3<>& normal, double gap, const Vec3<>& p_b, std::uint32_t id, double margin, Manifold& out) {
  out.part = 0;
  out.normal_W = normal;
  out.points[0] = {madd(0.5 * gap, normal, p_b), gap, id};
  out.count = gap <= margin ? 1 : 0;
  return out.count != 0;
}

bool sphere_plane(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Vec3<> n = B.X_W.R.column_z();
  const double height = dot(n, A.X_W.p - B.X_W.p), gap = height - A.geometry.radius();
  return single_point(n, gap, madd(-height, n, A.X_W.p), feature_pair(kRound, kRound), margin, out);
}

bool sphere_sphere(const Placed& A, const Placed& B, double margin, Manifold& out) {
  return round_contact(A.X_W.p - B.X_W.p, B.X_W.p, A.geometry.radius(), B.geometry.radius(), {0, 0, 1},
                       feature_pair(kRound, kRound), margin, out);
}

bool capsule_sphere(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Segment a = axis_of(A);
  const double s = nearest_on_segment(a.start, a.along, B.X_W.p);
  const bool has_length = dot(a.along, a.along) > 0;
  return round_contact(madd(s, a.along, a.start) - B.X_W.p, B.X_W.p, A.geometry.radius(), B.geometry.radius(),
                       has_length ? across(a.along) : Vec3<>{0, 0, 1}, feature_pair(segment_feature(s), kRound), margin,
                       out);
}

bool box_sphere(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Vec3<> x = transpose_times(A.X_W.R, B.X_W.p - A.X_W.p);
  const Vec3<>& half = A.geometry.half();
  const BoxPoint<double> near = point_to_box(half, x);
  const Vec3<> n = -(A.X_W.R * near.normal);
  const double gap = near.distance - B.geometry.radius();
  const auto region = [](double v, double h) { return v < -h ? 0 : (v > h ? 2 : 1); };
  const int part = near.distance > 0 ? region(x.x, half.x) + 3 * region(x.y, half.y) + 9 * region(x.z, half.z)
                                     : 27 + int(near.normal.x != 0) + 2 * int(near.normal.y != 0);
  return single_point(n, gap, madd(B.geometry.radius(), n, B.X_W.p),
                      feature_pair(feature(FeatureKind::kFace, part), kRound), margin, out);
}

CylinderPoint point_to_cylinder(double radius, double half_length, const Vec3<>& x) {
  const double r = std::sqrt(x.x * x.x + x.y * x.y), out_r = r - radius, out_z = std::abs(x.z) - half_length;
  const Vec3<> side = r > 0 ? Vec3<>{x.x / r, x.y / r, 0} : Vec3<>{1, 0, 0};
  const Vec3<> cap{0, 0, x.z < 0 ? -1.0 : 1.0};
  const int top = int(x.z >= 0);
  if (out_r > 0 && out_z > 0) {
    const double d = std::sqrt(out_r * out_r + out_z * out_z);
    return {d, (out_r / d) * side + (out_z / d) * cap, 3 + top};
  }
  if (out_r >= out_z) return {out_r, side, 0};
  return {out_z, cap, 1 + top};
}

bool cylinder_sphere(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Vec3<> x = transpose_times(A.X_W.R, B.X_W.p - A.X_W.p);
  const CylinderPoint near = point_to_cylinder(A.geometry.radius(), A.geometry.half().z, x);
  const Vec3<> n = -(A.X_W.R * near.normal);
  const double r = B.geometry.radius();
  return single_point(n, near.distance - r, madd(r, n, B.X_W.p),
                      feature_pair(feature(FeatureKind::kCurved, near.region), kRound), margin, out);
}

bool capsule_capsule(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const Segment a = axis_of(A), b = axis_of(B);
  const double radius_a = A.geometry.radius(), radius_b = B.geometry.radius(), sum = radius_a + radius_b;
  const Vec3<> w = cross(a.along, b.along);
  const double off = dot(w, a.start - b.start), far = sum + margin;
  out.count = 0;
  out.part = 0;
  if (off * off > far * far * dot(w, w)) return false;  // the lines themselves are too far apart
  const SegmentPair<double> near = nearest_of_segments(a.start, a.along, b.start, b.along);
  const Vec3<> q = madd(near.t, b.along, b.start), d = madd(near.s, a.along, a.start) - q;
  const double length = norm(d);
  if (!(length - sum <= margin)) return false;
  const Vec3<> n = length > 1e-12 * sum ? (1 / length) * d : crossing_normal(a, b);
  if (dot(w, w) <= 1e-4 * dot(a.along, a.along) * dot(b.along, b.along)) {
    Facet of_a, of_b;
    fill(a, of_a);
    fill(b, of_b);
    PatchWriter writer(out, radius_a, radius_b, margin);
    writer.set_normal(n);
    if (clip_edges(of_a, of_b, writer)) return true;
  }
  return single_point(n, length - sum, madd(radius_b, n, q),
                      feature_pair(segment_feature(near.s), segment_feature(near.t)), margin, out);
}

void flip(Manifold& m) {
  m.normal_W = -m.normal_W;
  for (int i = 0, j = m.count - 1; i < j; ++i, --j) {
    const ContactPoint first = m.points[i];
    m.points[i] = m.points[j];
    m.points[j] = first;
  }
  for (int i = 0; i < m.count; ++i) m.points[i].feature = (m.points[i].feature << 16) | (m.points[i].feature >> 16);
}

}  // namespace kansetsu::detail
