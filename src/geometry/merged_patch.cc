#include "geometry/merged_patch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/pairs.h"

namespace kansetsu::detail {
namespace {

struct Plane2 {
  Vec3<> x, y;
};
Plane2 axes_across(const Vec3<>& n) {
  const Vec3<> axis = std::abs(n.x) < 0.6 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0};
  const Vec3<> y = cross(n, axis), unit = (1 / norm(y)) * y;
  return {cross(unit, n), unit};
}

double area(const Plane2& plane, const Vec3<>& a, const Vec3<>& b, const Vec3<>& c) {
  const Vec3<> u = b - a, v = c - a;
  return dot(plane.x, u) * dot(plane.y, v) - dot(plane.y, u) * dot(plane.x, v);
}

int drop_repeated(ContactPoint* p, int count, double tolerance) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    bool repeated = false;
    for (int k = 0; k < kept && !repeated; ++k) {
      const Vec3<> d = p[i].p_W - p[k].p_W;
      repeated = dot(d, d) <= tolerance * tolerance;
    }
    if (!repeated) p[kept++] = p[i];
  }
  return kept;
}

/// Monotone chain over points sorted along x, then y; collinear points go.
int convex_chain(const Plane2& plane, ContactPoint* p, int count, double tolerance) {
  std::sort(p, p + count, [&](const ContactPoint& a, const ContactPoint& b) {
    const double ax = dot(plane.x, a.p_W), bx = dot(plane.x, b.p_W);
    return ax != bx ? ax < bx : dot(plane.y, a.p_W) < dot(plane.y, b.p_W);
  });
  ContactPoint chain[2 * 64];
  int size = 0;
  const auto push = [&](const ContactPoint& next, int start) {
    while (size >= start + 2 && area(plane, chain[size - 2].p_W, chain[size - 1].p_W, next.p_W) <=
                                    tolerance * norm(next.p_W - chain[size - 2].p_W))
      --size;
    chain[size++] = next;
  };
  for (int i = 0; i < count; ++i) push(p[i], 0);
  --size;
  const int start = size;
  for (int i = count - 1; i >= 0; --i) push(p[i], start);
  --size;
  std::copy(chain, chain + size, p);
  return size;
}

void thin_out(const Plane2& plane, ContactPoint* p, int& count, int limit) {
  while (count > limit) {
    int least = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < count; ++i) {
      const double a = area(plane, p[(i + count - 1) % count].p_W, p[i].p_W, p[(i + 1) % count].p_W);
      if (a < smallest) {
        smallest = a;
        least = i;
      }
    }
    std::copy(p + least + 1, p + count, p + least);
    --count;
  }
}

}  // namespace

int outline(const Vec3<>& normal, ContactPoint* points, int count, int limit) {
  ContactPoint deepest = points[0];
  double size = 0;
  for (int i = 1; i < count; ++i) {
    if (points[i].gap < deepest.gap) deepest = points[i];
    size = std::max(size, norm(points[i].p_W - points[0].p_W));
  }
  const double tolerance = 1e-9 * size;
  count = drop_repeated(points, count, tolerance);
  const Plane2 plane = axes_across(normal);
  if (count > 2) count = convex_chain(plane, points, count, tolerance);
  thin_out(plane, points, count, limit);
  int nearest = 0;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; ++i) {
    if (points[i].gap <= deepest.gap + tolerance) return count;
    if (const double d = norm(points[i].p_W - deepest.p_W); d < best) {
      best = d;
      nearest = i;
    }
  }
  points[nearest] = deepest;  // it lay inside: the corner next to it makes room
  return count;
}

void MergedPatches::append(Group& group, const Manifold& patch) {
  if (group.count + patch.count > kMaxPoints) group.count = outline(group.normal, group.points.data(), group.count, 16);
  for (const ContactPoint& p : patch.used()) group.points[group.count++] = p;
}

void MergedPatches::add(const Manifold& patch, std::uint32_t region) {
  const double height = dot(patch.normal_W, patch.points[0].p_W);
  for (int i = 0; i < count_; ++i) {
    Group& group = groups_[i];
    const bool one_plane = dot(group.normal, patch.normal_W) > 1 - 1e-10 &&
                           (group.region == region || std::abs(group.height - height) < 1e-6);
    if (!one_plane) continue;
    group.region = std::min(group.region, region);
    append(group, patch);
    return;
  }
  if (count_ == kMaxGroups) return;
  Group& group = groups_[count_++];
  group.normal = patch.normal_W;
  group.height = height;
  group.region = region;
  group.count = 0;
  append(group, patch);
}

void MergedPatches::write(const Transform<>& X_WS, bool flipped, ManifoldList& out) {
  int order[kMaxGroups] = {};
  for (int i = 0; i < count_; ++i) order[i] = i;
  std::sort(order, order + count_, [&](int a, int b) {
    return groups_[a].region != groups_[b].region ? groups_[a].region < groups_[b].region : a < b;
  });
  const int first = out.size();
  std::uint32_t same = 0;
  for (int i = 0; i < count_; ++i) {
    Group& group = groups_[order[i]];
    same = i > 0 && groups_[order[i - 1]].region == group.region ? same + 1 : 0;
    Manifold m;
    m.part = kMaxGroups * group.region + same;  // patches that lean over the edges of one region
    m.count = outline(group.normal, group.points.data(), group.count, kMaxManifoldPoints);
    m.normal_W = X_WS.R * group.normal;
    for (int k = 0; k < m.count; ++k) {
      m.points[k] = group.points[k];
      m.points[k].p_W = X_WS * group.points[k].p_W;
      for (int other = 0; other < k;) {  // two triangles may call their edges alike
        const bool taken = m.points[other].feature == m.points[k].feature;
        if (taken) ++m.points[k].feature;
        other = taken ? 0 : other + 1;
      }
    }
    if (flipped) flip(m);
    out.push(m, first);
  }
}

}  // namespace kansetsu::detail
