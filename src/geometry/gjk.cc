#include "geometry/gjk.h"

#include <cmath>

#include "geometry/simplex.h"

namespace kansetsu::detail {
namespace {

/// Nearest point to the origin of a segment or triangle, as weights of its corners.
double nearest_on_segment(const Vec3<>& p, const Vec3<>& q, double* weight) {
  const Vec3<> e = q - p;
  const double length2 = dot(e, e), t = length2 > 0 ? -dot(p, e) / length2 : 0;
  const double s = t < 0 ? 0 : (t > 1 ? 1 : t);
  weight[0] = 1 - s;
  weight[1] = s;
  const Vec3<> v = madd(s, e, p);
  return dot(v, v);
}

/// By the regions of its corners, edges and inside ([Eri05] 5.1.5).
double nearest_on_triangle(const Vec3<>& p, const Vec3<>& q, const Vec3<>& r, double* weight) {
  const Vec3<> n = cross(q - p, r - p);
  const double n2 = dot(n, n);
  if (n2 > 0) {
    const double u = dot(n, cross(q, r)), v = dot(n, cross(r, p)), w = dot(n, cross(p, q));
    if (u >= 0 && v >= 0 && w >= 0) {
      weight[0] = u / n2;
      weight[1] = v / n2;
      weight[2] = w / n2;
      const double h = dot(n, p);
      return h * h / n2;
    }
  }
  double best = -1, t[2];
  const Vec3<>* corner[3] = {&p, &q, &r};
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const double d2 = nearest_on_segment(*corner[i], *corner[j], t);
    if (best < 0 || d2 < best) {
      best = d2;
      weight[0] = weight[1] = weight[2] = 0;
      weight[i] = t[0];
      weight[j] = t[1];
    }
  }
  return best;
}

/// Of the faces that have the origin on their outer side, the nearest point of the nearest; inside: weights of the volume. Nothing is inside of
/// a tetrahedron that is flat to rounding, as with round shapes: the side of a face on which its fourth corner lies is then random.
void nearest_on_tetrahedron(const DifferencePoint* p, double* weight) {
  constexpr double kFlat = 1e-12;  // height over length: rounding leaves 1e-15 of a length
  static constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
  double best = -1, t[3] = {};
  for (const auto& f : kFaces) {
    const Vec3<>& a = p[f[0]].w;
    const Vec3<> n = cross(p[f[1]].w - a, p[f[2]].w - a);
    const Vec3<> up = p[f[3]].w - a;
    const double inside = dot(n, up), origin = -dot(n, a);
    const bool flat = inside * inside <= kFlat * kFlat * dot(n, n) * dot(up, up);
    if (inside * origin > 0 && !flat) continue;  // same side as the fourth corner
    const double d2 = nearest_on_triangle(a, p[f[1]].w, p[f[2]].w, t);
    if (best < 0 || d2 < best) {
      best = d2;
      weight[0] = weight[1] = weight[2] = weight[3] = 0;
      for (int k = 0; k < 3; ++k) weight[f[k]] = t[k];
    }
  }
  if (best < 0) weight[0] = weight[1] = weight[2] = weight[3] = 0.25;
}

Separation at_simplex(const Simplex& s, const Vec3<>& v) {
  Separation out;
  out.distance = norm(v);
  out.normal = (1 / out.distance) * v;
  for (int i = 0; i < s.count; ++i) {
    out.a = madd(s.weight[i], s.p[i].a, out.a);
    out.b = madd(s.weight[i], s.p[i].b, out.b);
  }
  return out;
}

bool contains(const Simplex& s, const Vec3<>& w) {
  for (int i = 0; i < s.count; ++i) {
    if (s.p[i].w == w) return true;
  }
  return false;
}

enum class Inside { kDepth, kNothing };

Separation run(const Convex& A, const Convex& B, double reach, Inside inside);

}  // namespace

Vec3<> reduce(Simplex& s) {
  switch (s.count) {
    case 1:
      s.weight[0] = 1;
      break;
    case 2:
      nearest_on_segment(s.p[0].w, s.p[1].w, s.weight);
      break;
    case 3:
      nearest_on_triangle(s.p[0].w, s.p[1].w, s.p[2].w, s.weight);
      break;
    default:
      nearest_on_tetrahedron(s.p, s.weight);
  }
  Vec3<> v;
  int kept = 0;
  for (int i = 0; i < s.count; ++i) {
    if (s.weight[i] <= 0) continue;
    v = madd(s.weight[i], s.p[i].w, v);
    s.p[kept] = s.p[i];
    s.weight[kept] = s.weight[i];
    ++kept;
  }
  s.count = kept;
  return kept == 4 ? Vec3<>{} : v;
}

Separation separate(const Convex& A, const Convex& B, double reach) { return run(A, B, reach, Inside::kDepth); }
Separation separate_outside(const Convex& A, const Convex& B, double reach) {
  return run(A, B, reach, Inside::kNothing);
}

namespace {

Separation run(const Convex& A, const Convex& B, double reach, Inside inside) {
  const double scale = A.size + B.size + norm(A.X.p - B.X.p);
  const double touching = 1e-13 * scale;  // cores closer than this are one to rounding
  Simplex s;
  Vec3<> v = A.X.p - B.X.p;
  if (dot(v, v) == 0) v = {0, 0, 1};
  s.p[0] = difference_support(A, B, -v);
  s.count = 1;
  v = reduce(s);
  for (int iteration = 0; iteration < 128; ++iteration) {
    const double v2 = dot(v, v);
    if (v2 <= touching * touching || s.count == 4)
      return inside == Inside::kDepth ? expand_polytope(A, B, s, scale) : Separation{};
    const DifferencePoint p = difference_support(A, B, -v);
    const double height = dot(v, p.w), length = std::sqrt(v2);
    if (height > reach * length) return {.beyond = true};
    if (v2 - height <= 1e-15 * v2 || contains(s, p.w)) break;
    Simplex next = s;
    next.p[next.count++] = p;
    const Vec3<> closer = reduce(next);
    if (!(dot(closer, closer) < v2)) break;  // rounding: no progress is left
    s = next;
    v = closer;
  }
  return at_simplex(s, v);
}

}  // namespace
}  // namespace kansetsu::detail
