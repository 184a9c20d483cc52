#include "geometry/hull.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <unordered_map>

/// Quickhull (Barber, Dobkin, Huhdanpaa 1996) on triangles, whose coplanar neighbours are then joined to polygons.
namespace kansetsu {
namespace {

constexpr double kRelativeTolerance = 1e-10;  // of the size: about 1e5 roundings, far below what a mesh file resolves

struct Triangle {
  std::array<int, 3> v;
  Vec3<> normal;
  double offset;
  std::vector<int> outside;  ///< points that see it
  bool alive = true;
};

class Quickhull {
 public:
  Quickhull(std::span<const Vec3<>> points, double tolerance) : points_(points), tolerance_(tolerance) {}

  void run(const std::array<int, 4>& corners) {
    std::array<int, 4> t = corners;
    const Vec3<> n = cross(at(t[1]) - at(t[0]), at(t[2]) - at(t[0]));
    if (dot(n, at(t[3]) - at(t[0])) > 0) std::swap(t[1], t[2]);
    const int first[4] = {add(t[0], t[1], t[2]), add(t[0], t[3], t[1]), add(t[1], t[3], t[2]), add(t[2], t[3], t[0])};
    for (int i = 0; i < int(points_.size()); ++i) {
      if (std::find(t.begin(), t.end(), i) == t.end()) assign(i, first);
    }
    for (std::size_t i = 0; i < triangles_.size(); ++i) {
      if (triangles_[i].alive && !triangles_[i].outside.empty()) grow(int(i));
    }
  }

  std::vector<Triangle> result() {
    std::erase_if(triangles_, [](const Triangle& t) { return !t.alive; });
    return std::move(triangles_);
  }

 private:
  const Vec3<>& at(int i) const { return points_[std::size_t(i)]; }
  double height(const Triangle& t, int point) const { return dot(t.normal, at(point)) - t.offset; }

  int add(int a, int b, int c) {
    const Vec3<> n = cross(at(b) - at(a), at(c) - at(a));
    const double length = norm(n);
    Triangle t{{a, b, c}, length > 0 ? (1 / length) * n : Vec3<>{}, 0, {}, true};
    t.offset = dot(t.normal, at(a));
    const int index = int(triangles_.size());
    triangles_.push_back(std::move(t));
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
        if (height(t, apex) > tolerance_) {
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

  std::span<const Vec3<>> points_;
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

/// The outline of points in the plane of x and y (monotone chain), counterclockwise around x × y.
std::vector<int> flat_hull(std::span<const Vec3<>> points, const Vec3<>& x, const Vec3<>& y, double tolerance) {
  std::vector<int> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = int(i);
  const auto u = [&](int i) { return dot(x, points[std::size_t(i)]); };
  const auto v = [&](int i) { return dot(y, points[std::size_t(i)]); };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return u(a) != u(b) ? u(a) < u(b) : v(a) < v(b); });
  std::vector<int> loop;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t start = loop.size();
    for (int i : order) {
      while (loop.size() >= start + 2) {
        const int a = loop[loop.size() - 2], b = loop.back();
        const double du = u(b) - u(a), dv = v(b) - v(a);
        const double area = du * (v(i) - v(a)) - dv * (u(i) - u(a));
        if (area > tolerance * (std::abs(du) + std::abs(dv))) break;
        loop.pop_back();
      }
      loop.push_back(i);
    }
    loop.pop_back();
    std::reverse(order.begin(), order.end());
  }
  return loop;
}

/// Joins triangles of one plane; returns the outline of each region.
void join_triangles(const std::vector<Triangle>& triangles, double tolerance, std::span<const Vec3<>> points,
                    HullData& hull) {
  std::unordered_map<std::uint64_t, int> left;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) left[edge_key(triangles[t].v[k], triangles[t].v[(k + 1) % 3])] = int(t);
  }
  const auto doubled_area = [&](const Triangle& t) {
    return norm(cross(points[std::size_t(t.v[1])] - points[std::size_t(t.v[0])],
                      points[std::size_t(t.v[2])] - points[std::size_t(t.v[0])]));
  };
  std::vector<int> order(triangles.size()), region(triangles.size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = int(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {  // the largest has the best normal
    return doubled_area(triangles[std::size_t(a)]) > doubled_area(triangles[std::size_t(b)]);
  });
  for (int seed : order) {
    if (region[std::size_t(seed)] >= 0) continue;
    const Triangle& plane = triangles[std::size_t(seed)];
    const int number = int(hull.faces.size());
    std::vector<int> members{seed};
    region[std::size_t(seed)] = number;
    std::map<int, int> next;  // outline: vertex → the one after it
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto& v = triangles[std::size_t(members[i])].v;
      for (std::size_t k = 0; k < 3; ++k) {
        const int other = left.at(edge_key(v[(k + 1) % 3], v[k]));
        if (region[std::size_t(other)] >= 0) continue;
        const auto& w = triangles[std::size_t(other)].v;
        const bool flat = std::all_of(w.begin(), w.end(), [&](int p) {
          return std::abs(dot(plane.normal, points[std::size_t(p)]) - plane.offset) <= tolerance;
        });
        if (!flat) continue;
        region[std::size_t(other)] = number;
        members.push_back(other);
      }
    }
    for (int m : members) {
      const auto& v = triangles[std::size_t(m)].v;
      for (std::size_t k = 0; k < 3; ++k) {
        if (region[std::size_t(left.at(edge_key(v[(k + 1) % 3], v[k])))] != number) next[v[k]] = v[(k + 1) % 3];
      }
    }
    HullData::Face face{plane.normal, plane.offset, int(hull.loop.size()), 0};
    for (int v = next.begin()->first; face.count < int(next.size());) {
      hull.loop.push_back(v);
      ++face.count;
      const auto found = next.find(v);
      if (found == next.end() || found->second == next.begin()->first) break;
      v = found->second;
    }
    hull.faces.push_back(face);
  }
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
  if (std::abs(dot(z, points[std::size_t(d)] - p_a)) <= tolerance) {
    hull.loop = flat_hull(points, x, y, tolerance);
    const int count = int(hull.loop.size());
    const double offset = dot(z, p_a);
    hull.faces = {{z, offset, 0, count}, {-z, -offset, count, count}};
    const std::vector<int> outline = hull.loop;
    hull.loop.insert(hull.loop.end(), outline.rbegin(), outline.rend());
    finish(points, hull.loop, hull);
    return hull;
  }
  Quickhull quickhull(points, tolerance);
  quickhull.run({a, b, c, d});
  join_triangles(quickhull.result(), tolerance, points, hull);
  finish(points, hull.loop, hull);
  return hull;
}

}  // namespace kansetsu
