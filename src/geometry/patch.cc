#include "geometry/patch.h"

#include <cmath>
#include <limits>

#include "geometry/merged_patch.h"

namespace kansetsu::detail {
namespace {

constexpr int kMaxClipped = 2 * kMaxFaceVertices;

struct ClippedPoint {
  Vec3<> p;
  std::uint32_t reference, other;  ///< features
  int side;  ///< of the line to the next point: number of the reference's edge, −1: an edge of the other
  std::uint32_t other_edge;  ///< that edge
};

struct Clipped {
  int count = 0;
  Scratch<ClippedPoint, kMaxClipped> point;
};

double clamp(double x, double low, double high) { return x < low ? low : (x > high ? high : x); }

/// Corner of the reference between two of its sides.
std::uint32_t corner_between(const Facet& face, int i, int j) {
  const int later = (i + 1) % face.count == j ? j : i;
  return face.vertex[later];
}

/// Where the line from a to b crosses side s of the reference; at an end of it where both are so near the side that one of them still counts as inside.
ClippedPoint crossing(const Facet& face, int s, const ClippedPoint& a, const ClippedPoint& b, double height_a,
                      double height_b, std::uint32_t other_face) {
  ClippedPoint c;
  c.p = madd(clamp(height_a / (height_a - height_b), 0, 1), b.p - a.p, a.p);
  if (a.side >= 0) {  // along another side of the reference: a corner of it
    c.reference = corner_between(face, a.side, s);
    c.other = other_face;
  } else {
    c.reference = face.edge[s];
    c.other = a.other_edge;
  }
  c.side = a.side;
  c.other_edge = a.other_edge;
  return c;
}

/// Sutherland–Hodgman against one side, whose outward normal is m.
void clip_side(const Facet& face, int s, const Vec3<>& m, double tolerance, std::uint32_t other_face, const Clipped& in,
               Clipped& out) {
  out.count = 0;
  const double offset = dot(m, face.p[s]);
  const double allowed = tolerance * norm(m);
  ClippedPoint const* a = &in.point[in.count - 1];
  double height_a = dot(m, a->p) - offset;
  for (int i = 0; i < in.count; ++i) {
    const ClippedPoint* b = &in.point[i];
    const double height_b = dot(m, b->p) - offset;
    const bool in_a = height_a <= allowed, in_b = height_b <= allowed;
    if (in_a != in_b && out.count < kMaxClipped) {
      ClippedPoint c = crossing(face, s, *a, *b, height_a, height_b, other_face);
      if (in_a) c.side = s;  // it leaves: the side itself comes next
      out.point[out.count++] = c;
    }
    if (in_b && out.count < kMaxClipped) out.point[out.count++] = *b;
    a = b;
    height_a = height_b;
  }
}

/// Drops points until eight are left, each time the one whose triangle with its neighbours is the smallest, never the deepest.
void thin_out(Clipped& polygon, int deepest) {
  while (polygon.count > kMaxManifoldPoints) {
    int least = -1;
    double smallest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < polygon.count; ++i) {
      const Vec3<>& p = polygon.point[i].p;
      const Vec3<>& before = polygon.point[(i + polygon.count - 1) % polygon.count].p;
      const Vec3<>& after = polygon.point[(i + 1) % polygon.count].p;
      const double area = norm(cross(before - p, after - p));
      if (i != deepest && area < smallest) {
        smallest = area;
        least = i;
      }
    }
    for (int i = least; i + 1 < polygon.count; ++i) polygon.point[i] = polygon.point[i + 1];
    if (deepest > least) --deepest;
    --polygon.count;
  }
}

void drop_repeated(Clipped& polygon, double tolerance) {
  int kept = 0;
  for (int i = 0; i < polygon.count; ++i) {
    bool repeated = false;
    for (int k = 0; k < kept && !repeated; ++k) {
      const Vec3<> d = polygon.point[i].p - polygon.point[k].p;
      repeated = dot(d, d) <= tolerance * tolerance;
    }
    if (!repeated) polygon.point[kept++] = polygon.point[i];
  }
  polygon.count = kept;
}

/// Of the sizes of two shapes: a corner that is closer to the line between its neighbours is none. Where an edge of one shape all but coincides with one of
/// the other they cross anywhere, now here, now there; what rests turns by 1e-8 rad and more.
constexpr double kStraight = 1e-5;

void drop_straight(Clipped& polygon, double tolerance) {
  for (int i = 0; i < polygon.count && polygon.count > 2;) {
    const Vec3<>& p = polygon.point[i].p;
    const Vec3<> before = polygon.point[(i + polygon.count - 1) % polygon.count].p - p;
    const Vec3<> after = polygon.point[(i + 1) % polygon.count].p - p, area = cross(before, after),
                 line = after - before;
    if (dot(area, area) > tolerance * tolerance * dot(line, line) || dot(before, after) > 0) {
      ++i;
      continue;
    }
    for (int k = i; k + 1 < polygon.count; ++k) polygon.point[k] = polygon.point[k + 1];
    --polygon.count;
    i = i > 0 ? i - 1 : 0;
  }
}

void clip_polygon(const Facet& face, const Facet& other, double tolerance, Clipped& result) {
  Clipped buffer;
  Clipped *in = &result, *out = &buffer;
  in->count = other.count;
  for (int i = 0; i < other.count; ++i) in->point[i] = {other.p[i], face.face, other.vertex[i], -1, other.edge[i]};
  for (int s = 0; s < face.count && in->count > 0; ++s) {
    const Vec3<> edge = face.p[(s + 1) % face.count] - face.p[s];
    if (dot(edge, edge) <= tolerance * tolerance) continue;
    clip_side(face, s, cross(edge, face.normal), tolerance, other.face, *in, *out);
    Clipped* const swap = in;
    in = out;
    out = swap;
  }
  if (in != &result) {
    result.count = in->count;
    for (int i = 0; i < in->count; ++i) result.point[i] = in->point[i];
  }
}

/// A segment inside all sides; a point is a segment of length zero.
void clip_segment(const Facet& face, const Facet& other, double tolerance, Clipped& result) {
  const Vec3<> p = other.p[0], e = other.p[other.count - 1] - p;
  double from = 0, to = 1;
  int side_from = -1, side_to = -1;
  for (int s = 0; s < face.count; ++s) {
    const Vec3<> m = cross(face.p[(s + 1) % face.count] - face.p[s], face.normal);
    const double start = dot(m, p - face.p[s]), slope = dot(m, e), allowed = tolerance * norm(m);
    if (start <= allowed && start + slope <= allowed) continue;
    if (start > allowed && start + slope > allowed) return;
    const double t = clamp(-start / slope, 0, 1);
    if (slope > 0 && t < to) {
      to = t;
      side_to = s;
    } else if (slope < 0 && t > from) {
      from = t;
      side_from = s;
    }
  }
  if (from > to) return;
  const auto add = [&](double t, int side, int end) {
    result.point[result.count++] = {madd(t, e, p), side < 0 ? face.face : face.edge[side],
                                    side < 0 ? other.vertex[end] : other.edge[0], -1, other.edge[0]};
  };
  add(from, side_from, 0);
  if (other.count == 2 && (to - from) * norm(e) > tolerance) add(to, side_to, 1);
}

}  // namespace

void clip_to_face(const Facet& face, bool of_a, const Facet& other, double tolerance, PatchWriter& out) {
  Clipped clipped;
  if (other.count > 2)
    clip_polygon(face, other, tolerance, clipped);
  else
    clip_segment(face, other, tolerance, clipped);
  if (clipped.count == 0) return;
  drop_repeated(clipped, tolerance);
  if (other.count > 2) drop_straight(clipped, kStraight / kSameDistance * tolerance);
  // Heights of the points above the face, of which those within the margin stay.
  double lowest = std::numeric_limits<double>::infinity();
  int kept = 0, deepest = 0;
  for (int i = 0; i < clipped.count; ++i) {
    const double height = dot(face.normal, clipped.point[i].p - face.p[0]);
    if (!out.within(height)) continue;
    if (height < lowest) {
      lowest = height;
      deepest = kept;
    }
    clipped.point[kept++] = clipped.point[i];
  }
  clipped.count = kept;
  if (kept > kMaxManifoldPoints) thin_out(clipped, deepest);
  for (int k = 0; k < clipped.count; ++k) {
    // The facet of B runs counterclockwise around the contact's normal, that of A clockwise.
    const ClippedPoint& c = clipped.point[of_a ? k : clipped.count - 1 - k];
    const double height = dot(face.normal, c.p - face.p[0]);
    if (of_a)
      out.add_above(madd(height, out.normal(), c.p), height, feature_pair(c.reference, c.other));
    else
      out.add_above(c.p, height, feature_pair(c.other, c.reference));
  }
}

bool clip_edges(const Facet& a, const Facet& b, PatchWriter& out) {
  constexpr double kParallel2 = 1e-4;  // sin² of the angle up to which lines lie along each other: 0.6°
  const Vec3<> u = a.p[1] - a.p[0], v = b.p[1] - b.p[0];
  const double u2 = dot(u, u), v2 = dot(v, v);
  const Vec3<> w = cross(u, v);
  if (!(u2 > 0) || !(v2 > 0) || dot(w, w) > kParallel2 * u2 * v2) return false;
  // Ends of b along a, in units of a's length.
  double t[2] = {dot(b.p[0] - a.p[0], u) / u2, dot(b.p[1] - a.p[0], u) / u2};
  const int low = t[0] <= t[1] ? 0 : 1;
  const double from = t[low] > 0 ? t[low] : 0, to = t[1 - low] < 1 ? t[1 - low] : 1;
  if (!(to - from > 1e-9)) return false;
  for (int end = 0; end < 2; ++end) {
    const double s = end == 0 ? from : to;
    const bool corner_of_a = end == 0 ? t[low] <= 0 : t[1 - low] >= 1;
    const Vec3<> p = madd(s, u, a.p[0]);
    const double r = clamp(dot(p - b.p[0], v) / v2, 0, 1);
    const Vec3<> q = madd(r, v, b.p[0]);
    const int end_of_b = end == 0 ? low : 1 - low;
    const std::uint32_t id =
        corner_of_a ? feature_pair(a.vertex[end], b.edge[0]) : feature_pair(a.edge[0], b.vertex[end_of_b]);
    // Midway between the lines, so that either order of the shapes gives the same point.
    const double gap = dot(out.normal(), p - q);
    const Vec3<> middle = 0.5 * (p + q);
    out.add_above(madd(0.5 * gap, out.normal(), middle), gap, id);
  }
  return out.count() > 0;
}

namespace {

/// The best direction of contact: a face of A or of B if it is as good as the one found.
enum class Carrier { kNone, kFaceA, kFaceB };

struct BestAxis {
  Vec3<> normal;
  double distance;
  Carrier carrier = Carrier::kNone;
};

BestAxis best_axis(const Convex& A, const Convex& B, const Separation& found, double tolerance) {
  BestAxis best{found.normal, separation_along(A, B, found.normal)};
  const double enough = best.distance - tolerance;
  Vec3<> n;
  double best_face = -std::numeric_limits<double>::infinity();
  if (nearest_face_normal(A, -found.normal, n)) {
    if (const double s = separation_along(A, B, -n); s >= enough) {
      best = {-n, s, Carrier::kFaceA};
      best_face = A.kind == ShapeKind::kCylinder ? s - 2 * tolerance : s + tolerance;  // better a polygon than a disc
    }
  }
  if (nearest_face_normal(B, found.normal, n)) {
    if (const double s = separation_along(A, B, n); s >= enough && s > best_face) best = {n, s, Carrier::kFaceB};
  }
  return best;
}

/// Where two edges cross, their common normal is exact, and so are the nearest points of their lines. It replaces an
/// approximate direction.
void sharpen_edges(const Facet& a, const Facet& b, const Convex& A, const Convex& B, double tolerance, BestAxis& best,
                   Separation& found) {
  const Vec3<> u = a.p[1] - a.p[0], v = b.p[1] - b.p[0], d = a.p[0] - b.p[0], w = cross(u, v);
  const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), du = dot(d, u), dv = dot(d, v), det = uu * vv - uv * uv;
  const double length = norm(w);
  if (!(det > 1e-10 * uu * vv)) return;
  const double s = (uv * dv - vv * du) / det, t = (uu * dv - uv * du) / det;
  constexpr double kEnd = 1e-9;
  if (!(s >= -kEnd && s <= 1 + kEnd && t >= -kEnd && t <= 1 + kEnd)) return;
  const Vec3<> n = (dot(w, best.normal) < 0 ? -1 / length : 1 / length) * w;
  const double distance = separation_along(A, B, n);
  if (distance < best.distance - tolerance) return;
  best.normal = n;
  best.distance = distance;
  found.a = madd(s, u, a.p[0]);
  found.b = madd(t, v, b.p[0]);
}

/// The disc at an end of a cylinder against a facet of the other shape: corners of the facet in the disc, where its edges
/// cross the rim, and what of eight points of the rim is over it.
void clip_to_disc(const Convex& cylinder, bool of_a, const Facet& other, double tolerance, PatchWriter& out) {
  Facet disc;
  nearest_face(cylinder, of_a ? -out.normal() : out.normal(), disc);
  const double radius = cylinder.half.x;
  const Vec3<> z = disc.normal, centre = madd(cylinder.half.z, z, cylinder.X.p);
  Scratch<ContactPoint, kMaxClipped> found;
  int count = 0;
  const auto add = [&](const Vec3<>& p, std::uint32_t on_disc, std::uint32_t on_other) {
    const double height = dot(z, p - centre);
    if (count == kMaxClipped || !out.within(height)) return;
    found[count++] = {p, height, of_a ? feature_pair(on_disc, on_other) : feature_pair(on_other, on_disc)};
  };
  const auto flat = [&](const Vec3<>& p) { return madd(-dot(z, p - centre), z, p) - centre; };
  for (int i = 0; i < other.count; ++i) {
    const Vec3<> u = flat(other.p[i]);
    if (norm(u) <= radius + tolerance) add(other.p[i], disc.face, other.vertex[i]);
    if (other.count == 1 || (other.count == 2 && i == 1)) break;
    const Vec3<>& q = other.p[(i + 1) % other.count];
    const Vec3<> e = flat(q) - u;  // |u + t·e| = radius
    const double a = dot(e, e), b = dot(u, e), c = dot(u, u) - radius * radius, root = b * b - a * c;
    if (!(a > 0) || !(root > 0)) continue;
    for (int side = 0; side < 2; ++side) {
      const double t = (-b + (side == 0 ? -1 : 1) * std::sqrt(root)) / a;
      if (t > 0 && t < 1)
        add(madd(t, q - other.p[i], other.p[i]), feature(FeatureKind::kCurved, 8 + side), other.edge[i]);
    }
  }
  const double slope = dot(z, other.normal);
  if (other.count > 2 && slope < -1e-6) {
    for (int k = 0; k < disc.count; ++k) {
      bool inside = true;
      for (int i = 0; i < other.count && inside; ++i) {
        const Vec3<> m = cross(other.p[(i + 1) % other.count] - other.p[i], z);  // outward is −m: seen from behind
        inside = dot(m, disc.p[k] - other.p[i]) >= -tolerance * norm(m);
      }
      // Up along the disc's normal to the facet.
      if (inside)
        add(madd(dot(other.normal, other.p[0] - disc.p[k]) / slope, z, disc.p[k]), disc.vertex[k], other.face);
    }
  }
  if (count == 0) return;
  for (int i = 0; i < count; ++i) {  // outline() compares gaps; heights are gaps of cores
    found[i].p_W = of_a ? madd(found[i].gap, out.normal(), found[i].p_W) : found[i].p_W;
  }
  count = outline(out.normal(), found.data(), count, kMaxManifoldPoints);
  for (int i = 0; i < count; ++i) out.add_above(found[i].p_W, found[i].gap, found[i].feature);
}

/// Which vertex, edge or face of a shape a point of its core is on, where it is furthest along d.
std::uint32_t feature_at(const Convex& shape, const Vec3<>& d, const Vec3<>& p) {
  if (shape.kind == ShapeKind::kCylinder) {
    const Vec3<> x = transpose_times(shape.X.R, p - shape.X.p);
    const double near = 1e-4 * shape.size;  // points of curved surfaces are found less exactly
    if (std::abs(x.z) < shape.half.z - near) return feature(FeatureKind::kCurved, 2);
    const bool rim = x.x * x.x + x.y * x.y >= (shape.half.x - near) * (shape.half.x - near);
    return feature(rim ? FeatureKind::kCurved : FeatureKind::kFace, int(x.z >= 0));
  }
  const double near = 1e-6 * shape.size;
  std::uint32_t id;
  if (norm(support(shape, d, id) - p) <= near) return id;
  Facet facet;
  if (touching_edge(shape, d, facet)) {
    const Vec3<> e = facet.p[1] - facet.p[0], x = p - facet.p[0];
    const double length = norm(e);
    if (norm(facet.p[0] - p) <= near) return facet.vertex[0];
    if (norm(facet.p[1] - p) <= near) return facet.vertex[1];
    if (length > 0 && norm(cross(e, x)) <= near * length) return facet.edge[0];
  }
  return nearest_face(shape, d, facet) ? facet.face : id;
}

/// The point of a contact of one point: the one found, or one shape's furthest point, whichever is nearest to both shapes.
void add_single_point(const Convex& A, const Convex& B, const BestAxis& best, const Separation& found,
                      PatchWriter& out) {
  const Vec3<>& n = best.normal;
  std::uint32_t unused;
  const double rest = best.distance - dot(n, found.a - found.b);
  const Vec3<> candidates[3] = {madd(0.5 * rest, n, found.a), support(A, -n, unused),
                                madd(best.distance, n, support(B, n, unused))};
  int chosen = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double worst = std::fmax(excess(A, candidates[i]), excess(B, madd(-best.distance, n, candidates[i])));
    if (worst < least - 1e-9 * (A.size + B.size)) {
      least = worst;
      chosen = i;
    }
  }
  const Vec3<>& p = candidates[chosen];
  out.add_above(p, best.distance, feature_pair(feature_at(A, -n, p), feature_at(B, n, madd(-best.distance, n, p))));
}

/// A face carries the contact: what of the other shape lies over it.
void face_patch(const Convex& A, const Convex& B, const BestAxis& best, double tolerance, PatchWriter& out) {
  const bool is_a = best.carrier == Carrier::kFaceA;
  const Convex &carrier = is_a ? A : B, &other = is_a ? B : A;
  const Vec3<> n = is_a ? -best.normal : best.normal;  // outward of the carrier
  Facet touching;
  touching_facet(other, -n, touching);
  if (carrier.kind == ShapeKind::kCylinder) {
    clip_to_disc(carrier, is_a, touching, tolerance, out);
  } else {
    Facet face;
    nearest_face(carrier, n, face);
    clip_to_face(face, is_a, touching, tolerance, out);
  }
}

bool holds_point(const Manifold& manifold, double gap) {
  for (int i = 0; i < manifold.count; ++i) {
    if (manifold.points[i].gap <= gap) return true;
  }
  return false;
}

/// The face, of either shape, that is all but square to the direction found (kLies), in its place: one shape lies on it. The distance is
/// that of the points found, measured along its normal.
bool find_lying(const Convex& A, const Convex& B, BestAxis& best) {
  double most = kLies;
  const BestAxis before = best;
  const auto consider = [&](const Vec3<>& n, Carrier carrier) {
    const double along = dot(n, before.normal);
    if (along > most) most = along, best = {n, before.distance / along, carrier};
  };
  Vec3<> n;
  if (nearest_face_normal(A, -before.normal, n)) consider(-n, Carrier::kFaceA);
  if (nearest_face_normal(B, before.normal, n)) consider(n, Carrier::kFaceB);
  return best.carrier != Carrier::kNone;
}

}  // namespace

bool make_patch(const Convex& A, const Convex& B, const Separation& separation, double margin, Manifold& out) {
  Separation found = separation;
  const double tolerance = same_distance(A, B);
  PatchWriter writer(out, A.radius, B.radius, margin);
  BestAxis best = best_axis(A, B, found, tolerance);
  if (!writer.within(best.distance)) return false;
  if (BestAxis lying = best; writer.bounded() && best.carrier == Carrier::kNone && find_lying(A, B, lying)) {
    writer.set_normal(lying.normal);
    face_patch(A, B, lying, tolerance, writer);
    if (out.count > 1 && holds_point(out, lying.distance - A.radius - B.radius + 2 * tolerance)) return true;
    out.count = 0;
  }
  writer.set_normal(best.normal);
  if (best.carrier != Carrier::kNone) {
    face_patch(A, B, best, tolerance, writer);
  } else {
    Facet of_a, of_b;
    if (touching_edge(A, -best.normal, of_a) && touching_edge(B, best.normal, of_b) &&
        !clip_edges(of_a, of_b, writer)) {
      sharpen_edges(of_a, of_b, A, B, tolerance, best, found);
      writer.set_normal(best.normal);
    }
  }
  if (holds_point(out, best.distance - A.radius - B.radius + 2 * tolerance)) return true;
  out.count = 0;
  add_single_point(A, B, best, found, writer);
  return out.count > 0;
}

bool collide_convex(const Convex& A, const Convex& B, double margin, Manifold& out) {
  out.count = 0;
  out.part = 0;
  const Separation found = separate(A, B, margin + A.radius + B.radius);
  return !found.beyond && make_patch(A, B, found, margin, out);
}

}  // namespace kansetsu::detail
