#include "geometry/hull.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <unordered_map>

/// Quickhull (Barber, Dobkin, Huhdanpaa 1996) on triangles, whose coplanar neighbours are then joined to polygons. Which side of a
/// triangle a point is on is decided without rounding, on a grid of whole numbers. So what a point sees is one piece with one
/// simple outline, however degenerate the points are: the faces seen strictly from x are those seen from a point a
/// little nearer to the inside, which lies in no face's plane.
namespace kansetsu {
namespace {

constexpr double kRelativeTolerance = 1e-10;  // of the size: about 1e5 roundings, far below what a mesh file resolves
constexpr double kGrid = 0x1p38;  // cells along the size: 3.6e-12 of it each. Volumes have 3·39 + 3 bits: 128 hold them
// In cells: heights above this have the right sign in double precision, whose rounding there is 1e-4 at most.
constexpr double kSureHeight = 1e-3;

__extension__ using Wide = __int128;

struct GridPoint {
  std::int64_t x, y, z;
};
struct WideVector {
  Wide x, y, z;
};
GridPoint operator-(const GridPoint& a, const GridPoint& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
WideVector cross(const GridPoint& a, const GridPoint& b) {
  return {Wide(a.y) * b.z - Wide(a.z) * b.y, Wide(a.z) * b.x - Wide(a.x) * b.z, Wide(a.x) * b.y - Wide(a.y) * b.x};
}
Wide dot(const WideVector& a, const GridPoint& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3<> to_vec3(const GridPoint& p) { return {double(p.x), double(p.y), double(p.z)}; }

struct Triangle {
  std::array<int, 3> v;
  WideVector exact;          ///< normal, not of unit length
  Vec3<> normal;             ///< unit
  double offset;             ///< normal · x, in cells
  std::vector<int> outside;  ///< points that see it
  bool alive = true;
};

class Quickhull {
 public:
  /// `tolerance` in cells
  Quickhull(std::vector<GridPoint> points, double tolerance) : points_(std::move(points)), tolerance_(tolerance) {
    rounded_.reserve(points_.size());
    for (const GridPoint& p : points_) rounded_.push_back(to_vec3(p));
  }

  /// False if the four corners are in one plane.
  bool run(const std::array<int, 4>& corners) {
    std::array<int, 4> t = corners;
    const Wide volume = dot(cross(at(t[1]) - at(t[0]), at(t[2]) - at(t[0])), at(t[3]) - at(t[0]));
    if (volume == 0) return false;
    if (volume > 0) std::swap(t[1], t[2]);
    const int first[4] = {add(t[0], t[1], t[2]), add(t[0], t[3], t[1]), add(t[1], t[3], t[2]), add(t[2], t[3], t[0])};
    for (int i = 0; i < int(points_.size()); ++i) {
      if (std::find(t.begin(), t.end(), i) == t.end()) assign(i, first);
    }
    for (std::size_t i = 0; i < triangles_.size(); ++i) {
      if (triangles_[i].alive && !triangles_[i].outside.empty()) grow(int(i));
    }
    return true;
  }

  std::vector<Triangle> result() {
    std::erase_if(triangles_, [](const Triangle& t) { return !t.alive; });
    return std::move(triangles_);
  }

 private:
  const GridPoint& at(int i) const { return points_[std::size_t(i)]; }
  double height(const Triangle& t, int point) const {
    return kansetsu::dot(t.normal, rounded_[std::size_t(point)]) - t.offset;
  }
  bool sees(int point, const Triangle& t) const {
    const double h = height(t, point);
    if (std::abs(h) > kSureHeight) return h > 0;
    return dot(t.exact, at(point) - at(t.v[0])) > 0;
  }

  int add(int a, int b, int c) {
    const WideVector n = cross(at(b) - at(a), at(c) - at(a));
    const Vec3<> rounded{double(n.x), double(n.y), double(n.z)};
    const int index = int(triangles_.size());
    const Vec3<> unit = (1 / norm(rounded)) * rounded;
    triangles_.push_back({{a, b, c}, n, unit, kansetsu::dot(unit, rounded_[std::size_t(a)]), {}, true});
    for (std::size_t k = 0; k < 3; ++k)
      edges_[edge_key(triangles_.back().v[k], triangles_.back().v[(k + 1) % 3])] = index;
    return index;
  }

  void assign(int point, std::span<const int> candidates) {
    int best = -1;
    double highest = tolerance_;
    for (int c : candidates) {
      if (const double h = height(triangles_[std::size_t(c)], point); h > highest) {
        highest = h;
        best = c;
      }
    }
    if (best >= 0) triangles_[std::size_t(best)].outside.push_back(point);
  }

  /// Takes in the point furthest from a triangle: what it sees goes, and a fan from the horizon to it comes.
  void grow(int seed) {
    const std::vector<int>& outside = triangles_[std::size_t(seed)].outside;
    const int apex = *std::max_element(outside.begin(), outside.end(), [&](int a, int b) {
      return height(triangles_[std::size_t(seed)], a) < height(triangles_[std::size_t(seed)], b);
    });
    std::vector<int> visible{seed}, orphans;
    std::vector<std::array<int, 2>> horizon;
    triangles_[std::size_t(seed)].alive = false;
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const std::array<int, 3> v = triangles_[std::size_t(visible[i])].v;
      for (std::size_t k = 0; k < 3; ++k) {
        const int a = v[k], b = v[(k + 1) % 3];
        const int other = edges_.at(edge_key(b, a));
        Triangle& t = triangles_[std::size_t(other)];
        if (!t.alive) continue;
        if (sees(apex, t)) {
          t.alive = false;
          visible.push_back(other);
        } else {
          horizon.push_back({a, b});
        }
      }
    }
    for (int t : visible) {
      auto& points = triangles_[std::size_t(t)].outside;
      orphans.insert(orphans.end(), points.begin(), points.end());
      points.clear();
    }
    std::vector<int> fan;
    for (const auto& [a, b] : horizon) fan.push_back(add(a, b, apex));
    for (int p : orphans) {
      if (p != apex) assign(p, fan);
    }
  }

  std::vector<GridPoint> points_;
  std::vector<Vec3<>> rounded_;  ///< the same numbers: 39 bits fit
  double tolerance_;
  std::vector<Triangle> triangles_;
  std::unordered_map<std::uint64_t, int> edges_;  ///< triangle on the left of a directed edge
};

int furthest(std::span<const Vec3<>> points, auto&& measure) {
  int best = 0;
  double largest = -1;
  for (int i = 0; i < int(points.size()); ++i) {
    if (const double m = measure(points[std::size_t(i)]); m > largest) {
      largest = m;
      best = i;
    }
  }
  return best;
}

/// The outline of points in the plane z = 0 of the grid (monotone chain), counterclockwise around z. Corners within the
/// tolerance of the line between their neighbours are left out.
std::vector<int> flat_hull(const std::vector<GridPoint>& points, double tolerance) {
  std::vector<int> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = int(i);
  const auto at = [&](int i) { return points[std::size_t(i)]; };
  const auto area = [&](int a, int b, int c) { return cross(at(b) - at(a), at(c) - at(a)).z; };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return at(a).x != at(b).x ? at(a).x < at(b).x : at(a).y < at(b).y; });
  std::vector<int> outline;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t start = outline.size();
    for (int i : order) {
      while (outline.size() >= start + 2 && area(outline[outline.size() - 2], outline.back(), i) <= 0)
        outline.pop_back();
      outline.push_back(i);
    }
    outline.pop_back();
    std::reverse(order.begin(), order.end());
  }
  std::vector<int> loop;
  for (std::size_t k = 0; k < outline.size(); ++k) {
    const int before = loop.empty() ? outline.back() : loop.back(), after = outline[(k + 1) % outline.size()];
    const double height = double(area(before, outline[k], after)) / norm(to_vec3(at(after) - at(before)));
    if (height > tolerance) loop.push_back(outline[k]);
  }
  return loop;
}

/// Of a plane through the triangle as it was before it was put on the grid, if it does hold the triangle's corners and none of its
/// neighbours' is above it. Of a sliver the grid decides.
Vec3<> plane_normal(const Triangle& t, std::span<const int> around, double tolerance, std::span<const Vec3<>> points) {
  const Vec3<>& a = points[std::size_t(t.v[0])];
  const Vec3<> n = cross(points[std::size_t(t.v[1])] - a, points[std::size_t(t.v[2])] - a);
  const double length = norm(n);
  if (!(length > 0)) return t.normal;
  const Vec3<> unit = (1 / length) * n;
  const auto height = [&](int p) { return dot(unit, points[std::size_t(p)] - a); };
  const bool holds = std::all_of(t.v.begin(), t.v.end(), [&](int p) { return std::abs(height(p)) <= tolerance; });
  const bool below = std::all_of(around.begin(), around.end(), [&](int p) { return height(p) <= tolerance; });
  return holds && below ? unit : t.normal;
}

/// The outline of a region of triangles as one simple loop; empty if it is none.
std::vector<int> loop_of(const std::vector<std::array<int, 2>>& edges) {
  std::map<int, int> next;
  for (const auto& [a, b] : edges) {
    if (!next.emplace(a, b).second) return {};
  }
  std::vector<int> loop;
  for (int v = next.begin()->first; loop.size() < edges.size(); v = next.at(v)) {
    if (!loop.empty() && v == loop.front()) return {};
    loop.push_back(v);
  }
  return loop;
}

/// Joins triangles of one plane to polygons, the largest first: it has the best normal.
void join_triangles(const std::vector<Triangle>& triangles, double tolerance, std::span<const Vec3<>> points,
                    HullData& hull) {
  std::unordered_map<std::uint64_t, int> left;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) left[edge_key(triangles[t].v[k], triangles[t].v[(k + 1) % 3])] = int(t);
  }
  const auto corners = [&](int t) -> const std::array<int, 3>& { return triangles[std::size_t(t)].v; };
  const auto neighbour = [&](int t, std::size_t k) {
    return left.at(edge_key(corners(t)[(k + 1) % 3], corners(t)[k]));
  };
  std::vector<int> order(triangles.size()), region(triangles.size(), -1);
  std::vector<double> area(triangles.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const WideVector& n = triangles[i].exact;
    order[i] = int(i);
    area[i] = norm(Vec3<>{double(n.x), double(n.y), double(n.z)});
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return area[std::size_t(a)] > area[std::size_t(b)]; });
  for (int seed : order) {
    if (region[std::size_t(seed)] >= 0) continue;
    const Triangle& plane = triangles[std::size_t(seed)];
    const int number = int(hull.faces.size());
    std::vector<int> around;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& v = corners(neighbour(seed, k));
      around.insert(around.end(), v.begin(), v.end());
    }
    const Vec3<> normal = plane_normal(plane, around, tolerance, points);
    const double offset = dot(normal, points[std::size_t(plane.v[0])]);
    std::vector<int> members{seed};
    region[std::size_t(seed)] = number;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const int other = neighbour(members[i], k);
        if (region[std::size_t(other)] >= 0) continue;
        const auto& w = corners(other);
        const bool flat = std::all_of(w.begin(), w.end(), [&](int p) {
          return std::abs(dot(normal, points[std::size_t(p)]) - offset) <= tolerance;
        });
        if (!flat) continue;
        region[std::size_t(other)] = number;
        members.push_back(other);
      }
    }
    std::vector<std::array<int, 2>> edges;
    for (int m : members) {
      for (std::size_t k = 0; k < 3; ++k) {
        if (region[std::size_t(neighbour(m, k))] != number) edges.push_back({corners(m)[k], corners(m)[(k + 1) % 3]});
      }
    }
    std::vector<int> loop = loop_of(edges);
    if (loop.empty()) {  // the triangle stays by itself
      for (int m : members) region[std::size_t(m)] = -1;
      region[std::size_t(seed)] = number;
      loop.assign(plane.v.begin(), plane.v.end());
    }
    hull.faces.push_back({normal, offset, int(hull.loop.size()), int(loop.size())});
    hull.loop.insert(hull.loop.end(), loop.begin(), loop.end());
  }
}

/// Points in a frame, in cells of the grid.
std::vector<GridPoint> to_grid(std::span<const Vec3<>> points, const Vec3<>& origin, const Mat3<>& R, double size) {
  std::vector<GridPoint> out;
  out.reserve(points.size());
  for (const Vec3<>& p : points) {
    const Vec3<> x = kGrid * ((1 / size) * (R * (p - origin)));
    out.push_back({std::llround(x.x), std::llround(x.y), std::llround(x.z)});
  }
  return out;
}

/// Keeps the vertices in use, in their order, and numbers edges and neighbours.
void finish(std::span<const Vec3<>> points, std::vector<int> used, HullData& hull) {
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<int> number(points.size(), -1);
  for (std::size_t i = 0; i < used.size(); ++i) {
    number[std::size_t(used[i])] = int(i);
    hull.vertices.push_back(points[std::size_t(used[i])]);
    hull.centre += points[std::size_t(used[i])];
  }
  hull.centre = (1 / double(used.size())) * hull.centre;
  for (int& v : hull.loop) v = number[std::size_t(v)];

  std::map<std::uint64_t, int> edges;
  std::vector<std::vector<int>> neighbours(used.size());
  const auto connect = [&](int a, int b) {
    const auto [place, is_new] = edges.try_emplace(edge_key(std::min(a, b), std::max(a, b)), int(edges.size()));
    if (is_new) {
      neighbours[std::size_t(a)].push_back(b);
      neighbours[std::size_t(b)].push_back(a);
    }
    return place->second;
  };
  for (const HullData::Face& face : hull.faces) {
    for (int k = 0; k < face.count; ++k) {
      hull.loop_edge.push_back(
          connect(hull.loop[std::size_t(face.first + k)], hull.loop[std::size_t(face.first + (k + 1) % face.count)]));
    }
  }
  if (hull.faces.empty() && used.size() == 2) connect(0, 1);
  for (auto& list : neighbours) {
    hull.first_neighbour.push_back(int(hull.neighbour.size()));
    hull.neighbour.insert(hull.neighbour.end(), list.begin(), list.end());
  }
  hull.first_neighbour.push_back(int(hull.neighbour.size()));
}

}  // namespace

HullData make_hull(std::span<const Vec3<>> points) {
  HullData hull;
  const int a = furthest(points, [&](const Vec3<>& p) { return norm(p - points[0]); });
  const Vec3<> p_a = points[std::size_t(a)];
  const int b = furthest(points, [&](const Vec3<>& p) { return norm(p - p_a); });
  const Vec3<> ab = points[std::size_t(b)] - p_a;
  const double size = norm(ab), tolerance = kRelativeTolerance * size;
  if (size == 0) {
    finish(points, {0}, hull);
    return hull;
  }
  const Vec3<> x = (1 / size) * ab;
  const int c = furthest(points, [&](const Vec3<>& p) { return norm(cross(x, p - p_a)); });
  const Vec3<> n = cross(x, points[std::size_t(c)] - p_a);
  if (norm(n) <= tolerance) {
    finish(points, {a, b}, hull);
    return hull;
  }
  const Vec3<> z = (1 / norm(n)) * n, y = cross(z, x);
  const int d = furthest(points, [&](const Vec3<>& p) { return std::abs(dot(z, p - p_a)); });
  constexpr double kCells = kRelativeTolerance * kGrid;
  Quickhull quickhull(to_grid(points, p_a, Mat3<>::identity(), size), kCells);
  const bool thick = std::abs(dot(z, points[std::size_t(d)] - p_a)) > tolerance;
  if (thick && quickhull.run({a, b, c, d})) {
    join_triangles(quickhull.result(), tolerance, points, hull);
    finish(points, hull.loop, hull);
    return hull;
  }
  const Mat3<> in_plane{{x.x, x.y, x.z}, {y.x, y.y, y.z}, {z.x, z.y, z.z}};
  hull.loop = flat_hull(to_grid(points, p_a, in_plane, size), kCells);
  const int count = int(hull.loop.size());
  const double offset = dot(z, p_a);
  hull.faces = {{z, offset, 0, count}, {-z, -offset, count, count}};
  const std::vector<int> outline = hull.loop;
  hull.loop.insert(hull.loop.end(), outline.rbegin(), outline.rend());
  finish(points, hull.loop, hull);
  return hull;
}

}  // namespace kansetsu
