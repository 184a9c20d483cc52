#include "geometry/terrain.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "geometry/bounds.h"
#include "geometry/hull.h"

namespace kansetsu {
namespace {

constexpr double kFlat = 1 - 1e-10;  // cosine between normals of one plane: 1.4e-5 rad, 14 µm per metre

using detail::unit_normal;

/// Numbers the connected sets of triangles whose normals agree with that of the first of the set.
template <class Normal, class Neighbours>
std::vector<std::uint32_t> number_regions(int count, Normal&& normal, Neighbours&& neighbours) {
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> region(std::size_t(count), kNone);
  std::vector<int> queue;
  std::uint32_t next = 0;
  for (int seed = 0; seed < count; ++seed) {
    if (region[std::size_t(seed)] != kNone) continue;
    const Vec3<> n = normal(seed);
    queue.assign(1, seed);
    region[std::size_t(seed)] = next;
    while (!queue.empty()) {
      const int t = queue.back();
      queue.pop_back();
      neighbours(t, [&](int other) {
        if (region[std::size_t(other)] != kNone || dot(n, normal(other)) < kFlat) return;
        region[std::size_t(other)] = next;
        queue.push_back(other);
      });
    }
    ++next;
  }
  return region;
}

struct Cell {
  int column, row, upper;
};
Cell cell_of(const HeightFieldData& data, int index) {
  const int cells = data.field.columns - 1;
  return {(index / 2) % cells, index / 2 / cells, index % 2};
}
Vec3<> grid_point(const HeightFieldData& d, int column, int row) {
  const double height = d.field.heights[std::size_t(row) * std::size_t(d.field.columns) + std::size_t(column)];
  return {-0.5 * d.field.size_x + column * d.step_x, -0.5 * d.field.size_y + row * d.step_y, height};
}
void corners_of(const HeightFieldData& d, int index, Vec3<>* corner) {
  const Cell c = cell_of(d, index);
  corner[0] = grid_point(d, c.column, c.row);
  corner[1] = c.upper != 0 ? grid_point(d, c.column + 1, c.row + 1) : grid_point(d, c.column + 1, c.row);
  corner[2] = c.upper != 0 ? grid_point(d, c.column, c.row + 1) : grid_point(d, c.column + 1, c.row + 1);
}

/// The triangle beyond edge k, or −1.
int field_neighbour(const HeightFieldData& d, int index, int k) {
  const Cell c = cell_of(d, index);
  const int cells_x = d.field.columns - 1, cells_y = d.field.rows - 1;
  const auto number = [&](int column, int row, int upper) {
    if (column < 0 || row < 0 || column >= cells_x || row >= cells_y) return -1;
    return 2 * (row * cells_x + column) + upper;
  };
  if (c.upper == 0)
    return k == 0 ? number(c.column, c.row - 1, 1)
                  : (k == 1 ? number(c.column + 1, c.row, 1) : number(c.column, c.row, 1));
  return k == 0 ? number(c.column, c.row, 0)
                : (k == 1 ? number(c.column, c.row + 1, 0) : number(c.column - 1, c.row, 0));
}

/// Splits triangles order[first … first + count) by the middle of their longest extent; nodes in depth-first order.
void build_tree(MeshData& mesh, const std::vector<Aabb>& boxes, int first, int count) {
  constexpr int kLeaf = 4;
  const auto index = mesh.nodes.size();
  mesh.nodes.push_back({boxes[std::size_t(mesh.order[std::size_t(first)])], first, count});
  Aabb box = mesh.nodes[index].box;
  for (int i = first; i < first + count; ++i) {
    const Aabb& b = boxes[std::size_t(mesh.order[std::size_t(i)])];
    detail::include(box, b.lower), detail::include(box, b.upper);
  }
  mesh.nodes[index].box = box;
  if (count <= kLeaf) return;
  const Vec3<> e = box.upper - box.lower;
  const auto centre = [&](int t) {
    const Aabb& b = boxes[std::size_t(t)];
    const Vec3<> c = b.lower + b.upper;
    return e.x >= e.y && e.x >= e.z ? c.x : (e.y >= e.z ? c.y : c.z);
  };
  const int half = count / 2;
  std::nth_element(mesh.order.begin() + first, mesh.order.begin() + first + half, mesh.order.begin() + first + count,
                   [&](int a, int b) { return centre(a) != centre(b) ? centre(a) < centre(b) : a < b; });
  build_tree(mesh, boxes, first, half);
  const int right = int(mesh.nodes.size());
  build_tree(mesh, boxes, first + half, count - half);
  mesh.nodes[index].first = right;
  mesh.nodes[index].count = 0;
}

/// The neighbours of each vertex; copies of a vertex at one place count as one.
void list_neighbours(const TriangleMeshData& m, const std::vector<int>& same, MeshData& mesh) {
  std::vector<std::vector<int>> next(m.vertices.size());
  for (const auto& v : m.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<int>& list = next[std::size_t(same[std::size_t(v[k])])];
      for (const std::size_t other : {(k + 1) % 3, (k + 2) % 3}) list.push_back(same[std::size_t(v[other])]);
    }
  }
  for (std::vector<int>& list : next) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  mesh.around_range.resize(m.vertices.size());
  for (std::size_t v = 0; v < same.size(); ++v) {
    const auto first = std::size_t(same[v]);
    if (first == v) {
      mesh.around_range[v] = {mesh.around.size(), next[v].size()};
      for (const int w : next[v]) mesh.around.push_back(m.vertices[std::size_t(w)]);
    } else {
      mesh.around_range[v] = mesh.around_range[first];  // it came before
    }
  }
}

/// Vertices at the same place are one: files of triangles (STL) repeat them.
std::vector<int> weld(const std::vector<Vec3<>>& vertices) {
  struct Hash {
    std::size_t operator()(const Vec3<>& p) const {
      const std::hash<double> h;
      return h(p.x + 0.0) * 73856093u ^ h(p.y + 0.0) * 19349663u ^ h(p.z + 0.0) * 83492791u;  // −0 is 0
    }
  };
  std::unordered_map<Vec3<>, int, Hash> first;
  std::vector<int> same(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) same[i] = first.try_emplace(vertices[i], int(i)).first->second;
  return same;
}

}  // namespace

TriangleEdge edge_between(const Vec3<>& p, const Vec3<>& n, const Vec3<>& m, const Vec3<>& beyond) {
  const double cosine = dot(n, m), height = dot(n, beyond - p);
  if (cosine > kFlat || height >= 0) return {};
  return {true, cosine};
}

HeightFieldData make_height_field(const HeightField& field) {
  HeightFieldData data{field, field.size_x / (field.columns - 1), field.size_y / (field.rows - 1), {}};
  const int count = 2 * (field.columns - 1) * (field.rows - 1);
  data.region = number_regions(
      count, [&](int t) { return height_field_normal(data, t); },
      [&](int t, auto&& visit) {
        for (int k = 0; k < 3; ++k) {
          if (const int other = field_neighbour(data, t, k); other >= 0) visit(other);
        }
      });
  return data;
}

Vec3<> height_field_normal(const HeightFieldData& data, int index) {
  Vec3<> c[3];
  corners_of(data, index, c);
  return unit_normal(c[0], c[1], c[2]);
}

TerrainTriangle height_field_triangle(const HeightFieldData& data, int index) {
  TerrainTriangle t;
  corners_of(data, index, t.corner);
  t.normal = unit_normal(t.corner[0], t.corner[1], t.corner[2]);
  t.region = data.region[std::size_t(index)];
  for (int k = 0; k < 3; ++k) {
    const int other = field_neighbour(data, index, k);
    if (other < 0) {  // the field ends like a wall
      t.edges[std::size_t(k)] = {true, 0};
      continue;
    }
    Vec3<> c[3];
    corners_of(data, other, c);
    const Vec3<>&p = t.corner[k], &q = t.corner[(k + 1) % 3];
    Vec3<> beyond = c[0];
    for (const Vec3<>& v : c) {
      if (!(v == p) && !(v == q)) beyond = v;
    }
    t.edges[std::size_t(k)] = edge_between(p, t.normal, unit_normal(c[0], c[1], c[2]), beyond);
  }
  return t;
}

MeshData make_mesh(const TriangleMesh& source) {
  const TriangleMeshData& m = *source.data;
  const int count = int(m.triangles.size());
  const std::vector<int> same = weld(m.vertices);
  MeshData mesh;
  mesh.data = source.data;
  std::vector<Aabb> boxes;
  std::unordered_map<std::uint64_t, int> left;  // triangle on the left of a directed edge; −1: several
  for (int t = 0; t < count; ++t) {
    const auto& v = m.triangles[std::size_t(t)];
    const Vec3<>&a = m.vertices[std::size_t(v[0])], &b = m.vertices[std::size_t(v[1])],
          &c = m.vertices[std::size_t(v[2])];
    mesh.normals.push_back(unit_normal(a, b, c));
    boxes.push_back({{std::min({a.x, b.x, c.x}), std::min({a.y, b.y, c.y}), std::min({a.z, b.z, c.z})},
                     {std::max({a.x, b.x, c.x}), std::max({a.y, b.y, c.y}), std::max({a.z, b.z, c.z})}});
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint64_t key = edge_key(same[std::size_t(v[k])], same[std::size_t(v[(k + 1) % 3])]);
      const auto [place, is_new] = left.try_emplace(key, t);
      if (!is_new) place->second = -1;
    }
  }
  const auto neighbour = [&](int t, std::size_t k) {
    const auto& v = m.triangles[std::size_t(t)];
    const auto found = left.find(edge_key(same[std::size_t(v[(k + 1) % 3])], same[std::size_t(v[k])]));
    return found == left.end() ? -1 : found->second;
  };
  mesh.edges.resize(std::size_t(count));
  for (int t = 0; t < count; ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int other = neighbour(t, k);
      TriangleEdge& edge = mesh.edges[std::size_t(t)][k];
      if (other < 0) {
        edge = {true, 0};
        continue;
      }
      const auto& v = m.triangles[std::size_t(t)];
      Vec3<> beyond = m.vertices[std::size_t(v[k])];
      for (int w : m.triangles[std::size_t(other)]) {
        const int s = same[std::size_t(w)];
        if (s != same[std::size_t(v[k])] && s != same[std::size_t(v[(k + 1) % 3])]) beyond = m.vertices[std::size_t(w)];
      }
      edge = edge_between(m.vertices[std::size_t(v[k])], mesh.normals[std::size_t(t)], mesh.normals[std::size_t(other)],
                          beyond);
    }
  }
  mesh.region = number_regions(
      count, [&](int t) { return mesh.normals[std::size_t(t)]; },
      [&](int t, auto&& visit) {
        for (std::size_t k = 0; k < 3; ++k) {
          if (const int other = neighbour(t, k); other >= 0) visit(other);
        }
      });
  list_neighbours(m, same, mesh);
  mesh.order.resize(std::size_t(count));
  std::iota(mesh.order.begin(), mesh.order.end(), 0);
  build_tree(mesh, boxes, 0, count);
  return mesh;
}

TerrainTriangle mesh_triangle(const MeshData& data, int index) {
  const auto i = std::size_t(index);
  const auto& v = data.data->triangles[i];
  TerrainTriangle t;
  for (std::size_t k = 0; k < 3; ++k) t.corner[k] = data.data->vertices[std::size_t(v[k])];
  t.normal = data.normals[i];
  t.edges = data.edges[i];
  t.region = data.region[i];
  for (std::size_t k = 0; k < 3; ++k) {
    const MeshData::Range range = data.around_range[std::size_t(v[k])];
    t.around[k] = std::span(data.around).subspan(range.first, range.count);
  }
  return t;
}

}  // namespace kansetsu
