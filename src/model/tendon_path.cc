#include "model/tendon_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kansetsu {
namespace {

constexpr int kArcPoints = 6;  // for drawing an arc

double squared(const double* x) { return x[0] * x[0] + x[1] * x[1]; }
double dot_of(const double* x, const double* y) { return x[0] * y[0] + x[1] * y[1]; }
double cross_of(const double* x, const double* y) { return x[0] * y[1] - x[1] * y[0]; }

const Transform<>& pose_of(std::span<const Transform<>> X_WB, int body) {
  static const Transform<> kWorld{};
  return body < 0 ? kWorld : X_WB[std::size_t(body)];
}

bool cross_each_other(const double* p1, const double* p2, const double* p3, const double* p4) {
  const double x12 = p2[0] - p1[0], y12 = p2[1] - p1[1], x34 = p4[0] - p3[0], y34 = p4[1] - p3[1];
  const double det = y34 * x12 - x34 * y12;
  if (std::abs(det) < kNoDirection) return false;
  const double x31 = p1[0] - p3[0], y31 = p1[1] - p3[1];
  const double a = (x34 * y31 - y34 * x31) / det, b = (x12 * y31 - y12 * x31) / det;
  return a >= 0 && a <= 1 && b >= 0 && b <= 1;
}

enum class Sense { kClockwise = -1, kCounterclockwise = 1 };

/// The tangent points of a thread from p to q that wraps around the circle in a given sense.
void touch(const double* p, const double* q, double r, Sense sense, CircleWrap& out) {
  const double pp = squared(p), qq = squared(q), rr = r * r, sign = r * int(sense);
  const double root_p = std::sqrt(std::max(pp - rr, 0.0)), root_q = std::sqrt(std::max(qq - rr, 0.0));
  out.a[0] = (p[0] * rr - sign * p[1] * root_p) / pp, out.a[1] = (p[1] * rr + sign * p[0] * root_p) / pp;
  out.b[0] = (q[0] * rr + sign * q[1] * root_q) / qq, out.b[1] = (q[1] * rr - sign * q[0] * root_q) / qq;
}

/// The component towards the side of a thread that wraps in a given sense.
double towards(const CircleSide& side, const double* p, const double* q, double r, Sense sense) {
  CircleWrap way;
  touch(p, q, r, sense, way);
  const double middle[2] = {way.a[0] + way.b[0], way.a[1] + way.b[1]}, length = std::sqrt(squared(middle));
  return length > kNoDirection ? dot_of(middle, side.p) / length : 0;
}

/// The sense in which a thread with a side wraps. @param near  the nearest point of the straight line, if it misses the circle
Sense sense_by(const CircleSide& side, const double* p, const double* q, double r, const double* near, Sense shorter) {
  const Sense longer = shorter == Sense::kClockwise ? Sense::kCounterclockwise : Sense::kClockwise;
  if (side.is == TendonSide::kHalf) {
    const bool away =
        near ? dot_of(side.p, near) < 0 : towards(side, p, q, r, longer) > towards(side, p, q, r, shorter);
    return away ? longer : shorter;
  }
  const double to = cross_of(p, side.p), from = cross_of(side.p, q);
  if (to * from > 0) return to < 0 ? Sense::kClockwise : Sense::kCounterclockwise;
  return shorter;
}

/// The contact of a tendon with a sphere or cylinder, in the world.
struct Wrap {
  Vec3<> a, b;
  double length = 0;
  // The arc in axes of the part: its plane, its ends, and what it climbs along a cylinder.
  Transform<> X_WP;
  Vec3<> e0, e1;
  CircleWrap circle;
  double z = 0, climb = 0, radius = 0;
};

/// The plane of the circle; for a sphere the plane through its centre and the two points.
void plane_of(bool sphere, const Vec3<>& p, const Vec3<>& q, Vec3<>& e0, Vec3<>& e1) {
  e0 = {1, 0, 0}, e1 = {0, 1, 0};
  if (!sphere) return;
  e0 = (1 / norm(p)) * p;
  Vec3<> normal = cross(p, q);
  if (const double length = norm(normal); length >= kNoDirection) {
    normal = (1 / length) * normal;
  } else {  // in one line with the centre: any plane
    const double x = std::abs(e0.x), y = std::abs(e0.y), z = std::abs(e0.z);
    const bool is_x = x >= y && x >= z, is_y = !is_x && y >= z;
    normal = cross(e0, Vec3<>{is_x ? 0.0 : 1.0, is_y ? 0.0 : 1.0, is_x || is_y ? 1.0 : 0.0});
    normal = (1 / norm(normal)) * normal;
  }
  e1 = cross(normal, e0);
}

/// Whether the straight line from a to b misses a sphere.
bool passes(const Vec3<>& centre, double radius, const Vec3<>& a, const Vec3<>& b) {
  const Vec3<> line = b - a;
  const double s = std::clamp(dot(centre - a, line) / std::max(dot(line, line), kNoDirection), 0.0, 1.0);
  const Vec3<> near = a + s * line - centre;
  return dot(near, near) > radius * radius;
}

bool wrap(const PathPart& part, std::span<const Transform<>> X_WB, const Vec3<>& from, const Vec3<>& to, Wrap& out) {
  const bool sphere = part.kind == TendonPartKind::kSphere;
  if (sphere && !part.has_side && passes(pose_of(X_WB, part.body) * part.X_BP.p, part.radius, from, to)) return false;
  const Transform<> X_WP = pose_of(X_WB, part.body) * part.X_BP;
  const auto local = [&](const Vec3<>& x) { return transpose_times(X_WP.R, x - X_WP.p); };
  const Vec3<> p = local(from), q = local(to);
  if (part.radius < kNoDirection || norm(p) < kNoDirection || norm(q) < kNoDirection) return false;
  Vec3<> e0, e1;
  plane_of(sphere, p, q, e0, e1);
  const double P[2] = {dot(p, e0), dot(p, e1)}, Q[2] = {dot(q, e0), dot(q, e1)};
  CircleWrap& c = out.circle;
  std::optional<CircleSide> side;
  bool inside = false;
  if (part.has_side) {
    const Vec3<> x = local(pose_of(X_WB, part.side_body) * part.side);
    side = CircleSide{{dot(x, e0), dot(x, e1)}, part.side_is};
    inside = norm(x) < part.radius;
  }
  const bool lies = inside ? wrap_inside(P, Q, part.radius, c) : wrap_circle(P, Q, part.radius, side, c);
  if (!lies) return false;
  Vec3<> a = c.a[0] * e0 + c.a[1] * e1, b = c.b[0] * e0 + c.b[1] * e1;
  out.length = c.arc;
  if (!sphere) {  // a helix of constant slope
    const double on[2] = {P[0] - c.a[0], P[1] - c.a[1]}, off[2] = {Q[0] - c.b[0], Q[1] - c.b[1]};
    const double before = std::sqrt(squared(on)), after = std::sqrt(squared(off));
    const double way = before + c.arc + after, climb = way > 0 ? (q.z - p.z) / way : 0;
    a.z = p.z + climb * before, b.z = p.z + climb * (before + c.arc);
    if (std::min(std::abs(a.z), std::abs(b.z)) > 0.5 * part.length) return false;  // past its ends
    const double climbed[2] = {c.arc, b.z - a.z};
    out.length = std::sqrt(squared(climbed));
  }
  out.a = X_WP * a, out.b = X_WP * b;
  out.X_WP = X_WP, out.e0 = e0, out.e1 = e1, out.radius = part.radius;
  out.z = sphere ? 0 : a.z, out.climb = sphere ? 0 : b.z - a.z;
  return true;
}

void add_arc(const Wrap& w, std::vector<Vec3<>>& out) {
  const CircleWrap& c = w.circle;
  const double begin = std::atan2(c.a[1], c.a[0]), left = cross_of(c.a, c.b);
  double turn = c.arc / w.radius;
  if ((left >= 0) != (turn <= std::numbers::pi)) turn = -turn;
  for (int k = 0; k <= kArcPoints; ++k) {
    const double s = double(k) / kArcPoints, angle = begin + s * turn;
    const Vec3<> round = w.radius * (std::cos(angle) * w.e0 + std::sin(angle) * w.e1);
    out.push_back(w.X_WP * (round + Vec3<>{0, 0, w.z + s * w.climb}));
  }
}

}  // namespace

double add_pulls(const PathPart& from, const Vec3<>& a, const PathPart& to, const Vec3<>& b, double share,
                 PathTrace& out) {
  const Vec3<> line = b - a;
  const double length = norm(line);
  if (length < kNoDirection) return length;
  const Vec3<> f = (share / length) * line;
  out.pulls.push_back({from.body, a, -f, {}, from.link, from.index});
  out.pulls.push_back({to.body, b, f, {}, to.link, to.index});
  return length;
}

bool wrap_circle(const double p[2], const double q[2], double r, const std::optional<CircleSide>& side,
                 CircleWrap& out) {
  const double rr = r * r;
  if (squared(p) < rr || squared(q) < rr || r < kNoDirection) return false;
  const double d[2] = {q[0] - p[0], q[1] - p[1]}, dd = squared(d);
  if (dd < kNoDirection) return false;
  const double s = std::clamp(-dot_of(d, p) / dd, 0.0, 1.0);
  const double near[2] = {p[0] + s * d[0], p[1] + s * d[1]};  // of the straight line, to the centre
  const bool misses = squared(near) > rr;
  const Sense shorter = cross_of(p, q) < 0 ? Sense::kClockwise : Sense::kCounterclockwise;
  const Sense sense = side ? sense_by(*side, p, q, r, misses ? near : nullptr, shorter) : shorter;
  if (misses && sense == shorter) return false;
  touch(p, q, r, sense, out);
  if (cross_each_other(p, out.a, q, out.b)) return false;
  double angle = std::acos(std::clamp(dot_of(out.a, out.b) / rr, -1.0, 1.0));
  if (cross_of(out.a, out.b) * int(sense) < 0) angle = 2 * std::numbers::pi - angle;
  out.arc = r * angle;
  return true;
}

bool wrap_inside(const double p[2], const double q[2], double r, CircleWrap& out) {
  const double lp = std::sqrt(squared(p)), lq = std::sqrt(squared(q));
  if (lp <= r || lq <= r || r < kNoDirection) return false;
  const double d[2] = {q[0] - p[0], q[1] - p[1]}, dd = squared(d);
  if (dd > kNoDirection) {  // a straight line through the circle touches it on neither side
    const double s = -(d[0] * p[0] + d[1] * p[1]) / dd;
    const double near[2] = {p[0] + s * d[0], p[1] + s * d[1]};
    if (s > 0 && s < 1 && squared(near) <= r * r) return false;
  }
  out.arc = 0;
  const auto put = [&](double x, double y) { out.a[0] = out.b[0] = x, out.a[1] = out.b[1] = y; };
  const double middle[2] = {p[0] + q[0], p[1] + q[1]}, length = std::sqrt(squared(middle));
  put(length > kNoDirection ? r * middle[0] / length : r, length > kNoDirection ? r * middle[1] / length : 0.0);
  // The angles of both lines to the circle are equal: asin(A·z) + asin(B·z) − 2·asin(z) + G = 0, from z = 1 down.
  const double A = r / lp, B = r / lq, cosine = (lp * lp + lq * lq - dd) / (2 * lp * lq);
  if (cosine < -1 + kNoDirection) return false;
  if (cosine > 1 - kNoDirection) return true;
  const double G = std::acos(cosine);
  const auto f = [&](double z) { return std::asin(A * z) + std::asin(B * z) - 2 * std::asin(z) + G; };
  const auto slope = [&](double x, double z) { return x / std::sqrt(std::max(1 - x * x * z * z, kNoDirection)); };
  constexpr double kFromOne = 1e-7;     // the slope of asin is infinite at 1
  constexpr double kConverged = 1e-15;  // [rad] rounding of the angles that f adds up
  constexpr int kMostSteps = 50;        // Newton's method takes five
  double z = 1 - kFromOne, value = f(z);
  if (value > 0) return true;
  for (int i = 0; i < kMostSteps && std::abs(value) > kConverged; ++i) {
    const double df = slope(A, z) + slope(B, z) - 2 * slope(1, z);
    if (!(df < 0)) break;
    const double next = z - value / df;
    if (!(next < z)) break;  // as far as numbers go
    z = next, value = f(z);
  }
  const bool left = cross_of(p, q) > 0;
  const double* from = left ? p : q;
  const double angle = std::asin(z) - std::asin((left ? A : B) * z), l = left ? lp : lq;
  const double c = std::cos(angle), s = std::sin(angle);
  put(r * (c * from[0] - s * from[1]) / l, r * (s * from[0] + c * from[1]) / l);
  return true;
}

void reserve_trace(std::span<const PathPart> path, PathTrace& out) {
  out.pulls.reserve(4 * path.size() + 4);
  out.points.reserve((kArcPoints + 3) * path.size() + 4);
}

namespace {

/// straight(from, a, to, b, share), arc(wrap, share), point(b) and gap() for what a path is made of, in its order.
template <class Straight, class Arc, class Point, class Gap>
void follow_path(std::span<const PathPart> path, std::span<const Transform<>> X_WB, Straight&& straight, Arc&& arc,
                 Point&& point, Gap&& gap) {
  double share = 1;
  const PathPart *last = nullptr, *round = nullptr;
  Vec3<> a{};
  for (const PathPart& part : path) {
    if (part.absent) continue;
    if (part.kind == TendonPartKind::kPulley) {
      share = 1 / part.divisor;
      last = round = nullptr;
      gap();
      continue;
    }
    if (part.kind != TendonPartKind::kPoint) {
      round = &part;
      continue;
    }
    const Vec3<> b = pose_of(X_WB, part.body) * part.X_BP.p;
    if (last) {
      Wrap w;
      if (round && wrap(*round, X_WB, a, b, w)) {
        straight(*last, a, *round, w.a, share);
        arc(w, share);
        straight(*round, w.b, part, b, share);
      } else {
        straight(*last, a, part, b, share);
      }
    }
    point(b);
    last = &part, round = nullptr, a = b;
  }
}

}  // namespace

bool has_ends(std::span<const TendonPart> path) {
  int points = 0;
  bool round = false;
  for (const TendonPart& part : path) {
    const bool wrap = part.kind == TendonPartKind::kSphere || part.kind == TendonPartKind::kCylinder;
    const bool pulley = part.kind == TendonPartKind::kPulley;
    if ((wrap && (points == 0 || round)) || (pulley && (round || points == 1))) return false;
    round = wrap;
    points = pulley ? 0 : points + (wrap ? 0 : 1);
  }
  return !round && points >= 2;
}

void trace_path(std::span<const PathPart> path, std::span<const Transform<>> X_WB, PathTrace& out) {
  out.length = 0;
  out.pulls.clear();
  follow_path(
      path, X_WB,
      [&](const PathPart& from, const Vec3<>& a, const PathPart& to, const Vec3<>& b, double share) {
        out.length += share * add_pulls(from, a, to, b, share, out);
      },
      [&](const Wrap& w, double share) { out.length += share * w.length; }, [](const Vec3<>&) {}, [] {});
}

void trace_points(std::span<const PathPart> path, std::span<const Transform<>> X_WB, PathTrace& out) {
  out.points.clear();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  follow_path(
      path, X_WB, [](const PathPart&, const Vec3<>&, const PathPart&, const Vec3<>&, double) {},
      [&](const Wrap& w, double) { add_arc(w, out.points); }, [&](const Vec3<>& b) { out.points.push_back(b); },
      [&] {
        if (!out.points.empty()) out.points.push_back({kNone, kNone, kNone});
      });
}

double trace_slider_crank(const Transform<>& X_WS, int slider_body, const Vec3<>& crank, int crank_body, double rod,
                          std::vector<Pull>& out) {
  const Vec3<> axis = X_WS.R.column_z(), v = crank - X_WS.p;
  const double along = dot(axis, v), det = along * along + rod * rod - dot(v, v);
  const bool reaches = det > 0;
  const double root = reaches ? std::sqrt(det) : 0, share = reaches ? 1 - along / root : 1;
  const Vec3<> by_v = share * axis + (reaches ? 1 / root : 0.0) * v, by_axis = share * v;
  out.push_back({.body = crank_body, .p = crank, .f = by_v});
  out.push_back({.body = slider_body, .p = X_WS.p, .f = -by_v, .t = cross(axis, by_axis)});
  return along - root;
}

}  // namespace kansetsu
